"""The approximate index that serves users with very many memories."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.conftest import Database
from tests.search.memories_alone.steps import ALONE, HIDE, remember, search
from tests.support.search_plans import fill, plan_of_ranking, reads, with_model
from tests.support.search_world import register
from tests.support.sqlapi import Api


def index(api: Api, model: str) -> list[str]:
    """Make the index as an administrator does; what was executed."""
    statements = [row.vector_index for row in api.vector_index(model=model)]
    for statement in statements:
        api.connection.execute(statement)
    return statements


@pytest.fixture(scope="module")
def _many(_database: Database, _template: str) -> Iterator[str]:
    """Copied for each test: to fill a database takes ten times as long as to copy a full one."""
    name = "many_memories"
    with _database(name, _template) as conninfo:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            api = with_model(Api(connection))
            fill(api, "ana", 5000)
            fill(api, "bob", 1000)
            api.set_policy(settings={"search": {"approximate_above": 2000}})
            index(api, "three")
            connection.execute("vacuum analyze memory.memories, memory.texts")
        yield name


@pytest.fixture
def many(_database: Database, _many: str) -> Iterator[Api]:
    """Ana has 5,000 memories, Bob 1,000; from 2,000 on a search may be approximate, and there is an index for it."""
    with _database("many_copied", _many) as conninfo, psycopg.connect(conninfo, autocommit=True) as connection:
        yield Api(connection)


def index_of(api: Api, **arguments: Any) -> str:
    """Which index answers a search by meaning."""
    steps = reads(plan_of_ranking(api, **{"mode": "vector", **ALONE, **arguments}), "texts")
    names = {step["Index Name"] for step in steps if step["seen"]}
    [name] = names - {"texts_pkey"} or names  # what the approximate index finds is then read by its key
    return str(name)


def scans_of_index(api: Api) -> int:
    """How often this transaction has searched by the approximate index."""
    scans: int = api.value(
        "select pg_stat_get_xact_numscans(indexrelid) from pg_index where indexrelid::regclass::text ~ 'hnsw'"
    )
    return scans


@pytest.mark.feature("E4")
def test_the_planner_takes_the_index_for_very_many_memories_alone(many: Api) -> None:
    assert index_of(many).endswith("_hnsw_idx")
    assert index_of(many, agent_id="default", top_k=50, explain=True).endswith("_hnsw_idx")
    assert index_of(many, user_id="bob") == "texts_pkey"
    for filters in ({"tags_all": ["a"]}, {"mode": "hybrid"}, {"created_after": "2020-01-01"}, {"thread_id": "t1"}):
        assert index_of(many, **filters) == "texts_pkey", filters
    many.set_policy(settings={"search": {"approximate_above": 5000}})
    assert index_of(many) == "texts_pkey"


@pytest.mark.feature("E4")
def test_an_index_finds_nearly_all_and_says_the_same_of_each(many: Api) -> None:
    nearly = exactly = 0
    for target in ([1, 0, 0], [3, 1, 0], [1, 2, 9], [0, 5, 1]):
        many.set_policy(settings={"search": {"approximate_above": 2000}})
        assert index_of(many, query_embedding=str(target), top_k=50).endswith("_hnsw_idx")
        approximate = search(many, None, target, mode="vector", top_k=50)
        many.set_policy(settings={"search": {"approximate_above": 100_000}})
        exact = search(many, None, target, mode="vector", top_k=50)
        assert [r.score for r in approximate] == sorted((r.score for r in approximate), reverse=True)
        same = {r.id: r for r in exact}
        assert all(r == same.get(r.id, r) for r in approximate)
        nearly += sum(r.score >= exact[-1].score for r in approximate)
        exactly += len(exact)
    assert nearly >= 0.8 * exactly  # a hard case: these vectors lie nearly on a circle


@pytest.mark.feature("E4", "A3")
def test_an_index_finds_no_hidden_memory_and_none_of_other_users(many: Api) -> None:
    ask = functools.partial(search, many, None, [1, 0, 0], mode="vector")
    assert index_of(many, top_k=20).endswith("_hnsw_idx")
    ways = [hide for how, hide in HIDE.items() if how != "removed"]
    hidden = [UUID(result.id) for result in ask(top_k=len(ways))]
    for hide, memory_id in zip(ways, hidden, strict=True):
        hide(many, memory_id)
    results = ask(top_k=20)
    assert len(results) == 20
    assert {UUID(result.id) for result in results}.isdisjoint(hidden)
    assert {result.id for result in ask(top_k=1000)}.isdisjoint(result.id for result in ask(user_id="bob", top_k=1000))


def test_memories_that_an_index_does_not_reach_are_compared(many: Api) -> None:
    """The scan of the index ends after hnsw.max_scan_tuples rows, which here are all of another agent."""
    rare = {str(remember(many, f"Owns {n} theorbos", [0, -1, -n], agent_id="luthier")) for n in range(30)}
    many.connection.execute("set enable_sort = off")  # so that the index is taken all the same
    many.connection.execute("set hnsw.max_scan_tuples = 10")
    ask = functools.partial(search, many, None, [1, 0, 0], mode="vector", agent_id="luthier", top_k=20)
    with many.connection.transaction():
        before = scans_of_index(many)
        results = ask(explain=True)
        assert scans_of_index(many) > before
    assert len(results) == 20
    assert {r.id for r in results} < rare
    assert not any("approximate" in r.details["vector"] for r in results)
    assert [r.id for r in ask()] == [r.id for r in results]


def indexes(api: Api) -> list[str]:
    return [row.relname for row in api.query("select relname from pg_class where relname like '%%hnsw%%'")]


def test_an_index_is_made_once_and_goes_with_its_model(many: Api) -> None:
    before = indexes(many)
    [statement] = index(many, "three")
    assert [f"if not exists {name} on" in statement for name in before] == [True]
    assert indexes(many) == before
    quoted = 'o\'brien "quoted"'
    register(many, quoted, 4)
    index(many, quoted)
    assert len(indexes(many)) == 2
    many.drop_model(name=quoted)
    assert indexes(many) == before


def test_an_interrupted_index_is_not_used_but_noticed_and_mended(many: Api) -> None:
    check = "select ok, detail from memory.doctor() where check_name = 'vector indexes'"
    [name] = indexes(many)
    assert many.query(check) == [(True, f"memory.{name} of model three")]
    many.connection.execute(
        "update pg_index set indisvalid = false where indexrelid = %s::regclass", [f"memory.{name}"]
    )
    assert index_of(many) == "texts_pkey"
    [(ok, detail)] = many.query(check)
    assert (ok, "memory.vector_index('three')" in detail) == (False, True)
    assert index(many, "three")[0] == f"drop index concurrently memory.{name}"
    assert index_of(many).endswith("_hnsw_idx")
    assert many.query(check)[0].ok
