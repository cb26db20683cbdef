"""Search among memories alone: the same results with fewer steps, and by an approximate index for very many."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import errors

from tests.support.protocol import activate, claim, complete
from tests.support.search_plans import fill, plan_of_ranking, plans_of_search, reads, with_model
from tests.support.search_reference import DIMENSIONS, USERS, WORDS, World, embed, expect, register, single
from tests.support.sqlapi import Api, refused, rolled_back

ALONE: dict[str, Any] = {"sources": ["memory"]}
MODES = ["hybrid", "vector", "keyword"]


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    """With two embedding models of three dimensions, of which "three" is active."""
    with rolled_back(shared_api) as api:
        for name in ("three", "other"):
            register(api, name, dimensions=3)
        api.activate_model(name="three")
        yield api


@pytest.fixture
def fresh(db: psycopg.Connection) -> Api:
    """A database of the test's own, whose tables have no statistics."""
    return with_model(Api(db))


def remember(api: Api, content: str, vector: list[int], **arguments: Any) -> UUID:
    memory_id: UUID = api.add_memory(**{"user_id": "ana", "content": content, **arguments}).memory_id
    embed(api, memory_id, vector)
    return memory_id


def search(api: Api, query: str | None, vector: Any, **arguments: Any) -> list[Any]:
    target = None if vector is None else str(vector)
    found: list[Any] = api.search(**{"user_id": "ana", "query": query, "query_embedding": target, **ALONE, **arguments})
    return found


def found(api: Api, query: str | None, vector: Any, **arguments: Any) -> list[str]:
    return [result.content for result in search(api, query, vector, **arguments)]


# The same results -----------------------------------------------------------------------------------------------------


@pytest.mark.feature("E4", "E3", "F1")
@pytest.mark.parametrize("seed", range(4))
def test_finds_what_comparing_everything_finds(shared_api: Api, seed: int) -> None:
    with rolled_back(shared_api) as api:
        world = World(api, seed + 100)
        chance = world.chance
        found_by_mode = dict.fromkeys(MODES, 0)
        for case in range(60):
            user_id, agent_id = chance.choice(USERS), chance.choice([None, None, "cook", "tutor", "nobody"])
            mode = chance.choice(MODES)
            words = chance.sample([*WORDS, "zither"], chance.randrange(1, 4)) if mode != "vector" else []
            target = [chance.randrange(-3, 4) for _ in range(DIMENSIONS - 1)] + [1] if mode != "keyword" else None
            top_k, min_score = chance.choice([1, 3, 10, 1000]), chance.choice([None, None, 0.2, 0.55])
            visible = world.visible(user_id, {**ALONE, **({"agent_id": agent_id} if agent_id else {})})
            fusion = "score" if mode == "hybrid" else mode
            expected = expect(visible, words, target, fusion, min_score, top_k)
            ask = functools.partial(
                search, api, " ".join(words) or None, target,
                user_id=user_id, agent_id=agent_id, mode=mode, top_k=top_k, min_score=min_score,
            )  # fmt: skip
            context = (case, user_id, agent_id, mode, words, target, top_k, min_score)
            results, explained = ask(), ask(explain=True)
            assert [(r.id, r.content) for r in results] == [(row.key, row.content) for _, row in expected], context
            tolerance = 0 if mode == "vector" else 1e-6
            assert [single(r.score) for r in results] == pytest.approx(
                [single(score) for score, _ in expected], abs=tolerance, rel=tolerance
            ), context
            assert [r[:7] for r in results] == [r[:7] for r in explained], context
            found_by_mode[mode] += len(results)
        assert min(found_by_mode.values()) > 0


def _supersede(api: Api, memory_id: UUID) -> None:
    other = api.add_memory(user_id="ana", content="Drinks coffee").memory_id
    api.supersede_memory(user_id="ana", old_memory_id=memory_id, new_memory_id=other, reason="contradict")


def _update(assignment: str) -> Callable[[Api, UUID], None]:
    """By hand, as an administrator may."""

    def update(api: Api, memory_id: UUID) -> None:
        statement = f"update memory.memories set {assignment} where memory_id = %s"
        assert api.connection.execute(statement, [memory_id]).rowcount == 1

    return update


PAST = "'2020-01-01'"
HIDE: dict[str, Callable[[Api, UUID], Any]] = {
    "deleted": lambda api, memory_id: api.delete_memory(user_id="ana", memory_id=memory_id),
    "superseded": _supersede,
    "expired": lambda api, memory_id: api.update_memory(user_id="ana", memory_id=memory_id, expires_at="2020-01-01"),
    "expired by hand": _update(f"expires_at = {PAST}"),
    "no longer valid": _update(f"valid_to = {PAST}"),
    "deleted by hand": _update("deleted_at = now()"),
    "removed": lambda api, _: api.connection.execute("delete from memory.memories"),
}
BRING_BACK: dict[str, Callable[[Api, UUID], Any]] = {
    "deleted": lambda api, memory_id: api.restore_memory(user_id="ana", memory_id=memory_id),
    "superseded": lambda api, memory_id: api.restore_memory(user_id="ana", memory_id=memory_id),
    "expired by hand": _update("expires_at = 'infinity'"),
    "no longer valid": _update("valid_to = null"),
    "deleted by hand": lambda api, memory_id: api.restore_memory(user_id="ana", memory_id=memory_id),
}


@pytest.mark.feature("E4", "A3")
@pytest.mark.parametrize("model", ["three", "other"])
@pytest.mark.parametrize("how", HIDE)
def test_what_is_hidden_is_not_found_until_it_is_brought_back(api: Api, how: str, model: str) -> None:
    """By any of the models that have embedded it."""
    memory_id = remember(api, "Likes tea", [1, 0, 0])
    embed(api, memory_id, [1, 0, 0], model="other")
    api.activate_model(name=model)
    tea = functools.partial(found, api, "tea", [1, 0, 0])
    assert tea() == tea(mode="vector") == tea(mode="keyword") == ["Likes tea"]
    HIDE[how](api, memory_id)
    assert [text for mode in MODES for text in tea(mode=mode) if text == "Likes tea"] == []
    # What takes no place among the best, either.
    assert api.query("select from memory.embeddings where valid_until > now() and source = 'memory'") == []
    if how in BRING_BACK:
        BRING_BACK[how](api, memory_id)
        assert tea() == tea(mode="vector") == tea(mode="keyword") == ["Likes tea"]


def test_what_ends_later_is_found_and_its_embedding_knows_the_end(api: Api) -> None:
    remember(api, "Likes tea", [1, 0, 0], expires_at="2090-01-01")
    remember(api, "Owns a boat", [1, 0, 1], valid_to="2090-01-01")
    assert found(api, None, [1, 0, 0]) == ["Likes tea", "Owns a boat"]
    ends = api.query("select valid_until from memory.embeddings")
    assert {end.valid_until.year for end in ends} == {2090}


def test_what_changes_its_words_is_found_by_its_words_until_it_is_embedded(api: Api) -> None:
    memory_id = remember(api, "Likes tea", [1, 0, 0])
    api.update_memory(user_id="ana", memory_id=memory_id, content="Likes cocoa")
    assert found(api, "cocoa", [1, 0, 0]) == ["Likes cocoa"]
    assert found(api, None, [1, 0, 0]) == []
    embed(api, memory_id, [0, 1, 0])
    assert found(api, None, [1, 0, 0]) == ["Likes cocoa"]


def test_a_later_time_of_storing_moves_a_memory_before_its_equals(api: Api) -> None:
    for content in ("first", "second"):
        remember(api, content, [1, 0, 0])
    assert found(api, None, [1, 0, 0]) == ["second", "first"]
    api.connection.execute("update memory.memories set created_at = '2090-01-01' where content = 'first'")
    assert found(api, None, [1, 0, 0]) == ["first", "second"]


def test_an_embedding_of_a_memory_that_is_not_there_finds_nothing(api: Api) -> None:
    """Such as another user's."""
    memory_id = remember(api, "Likes tea", [1, 0, 0], user_id="bob")  # embedded for ana
    assert found(api, "tea", [1, 0, 0]) == found(api, None, [1, 0, 0], user_id="bob") == []
    embed(api, memory_id, [1, 0, 0], user_id="bob")
    assert found(api, None, [1, 0, 0], user_id="bob") == ["Likes tea"]


@pytest.mark.parametrize("source", ["summary", "document"])
def test_what_a_user_has_besides_memories_is_found_with_them(api: Api, source: str) -> None:
    """Looking for more takes other steps than memories alone, and finds the same among them."""
    remember(api, "Likes tea", [1, 0, 0])
    everything = functools.partial(search, api, "tea", [1, 0, 0], sources=["memory", "summary", "document"])
    alone = everything()
    assert [result.content for result in alone] == ["Likes tea"]
    if source == "document":
        api.add_document(user_id="ana", content="All about tea")
    else:
        api.connection.execute(
            """
            insert into memory.summaries (user_id, thread_id, kind, summary_id, start_seq, end_seq, status, summary, search_vector)
            values ('ana', 't1', 'rolling', gen_random_uuid(), 0, 9, 'completed', 'All about tea', 'tea:1')
            """  # noqa: E501
        )
    assert {(result.source, result.content) for result in everything()} == {
        ("memory", "Likes tea"),
        (source, "All about tea"),
    }
    assert [result.id for result in everything(sources=["memory"])] == [alone[0].id]


# Races ----------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("E6", "A3")
def test_a_change_by_hand_is_not_missed_by_the_embedding_that_is_being_stored(
    connect: Callable[..., psycopg.Connection],
) -> None:
    worker, client = Api(connect()), Api(connect())
    activate(worker, "ada", "embedding")
    memory_id = worker.add_memory(user_id="ana", content="Likes tea").memory_id
    job = claim(worker, "embed")
    with client.connection.transaction():
        HIDE["expired by hand"](client, memory_id)
        with pytest.raises(errors.LockNotAvailable):  # the runners hand it in again
            complete(worker, job, embeddings=[[1, 0, 0]])
    complete(worker, job, embeddings=[[1, 0, 0]])
    assert search(worker, None, [1, 0, 0]) == []


@pytest.mark.feature("E6", "A3")
def test_an_embedding_being_stored_is_waited_for_by_a_change_by_hand(
    connect: Callable[..., psycopg.Connection],
) -> None:
    worker, client = Api(connect()), Api(connect())
    activate(worker, "ada", "embedding")
    memory_id = worker.add_memory(user_id="ana", content="Likes tea").memory_id
    job = claim(worker, "embed")
    with ThreadPoolExecutor(1) as pool:
        with worker.connection.transaction():
            complete(worker, job, embeddings=[[1, 0, 0]])
            hiding = pool.submit(HIDE["expired by hand"], client, memory_id)
            with pytest.raises(FutureTimeoutError):
                hiding.result(0.2)
        hiding.result(10)
    assert worker.value("select count(*) from memory.embeddings") == 1
    assert search(worker, None, [1, 0, 0]) == []


@contextlib.contextmanager
def before_it_was_embedded(worker: Api, client: Api) -> Iterator[UUID]:
    """A transaction of the client that cannot see the embedding of the memory."""
    activate(worker, "ada", "embedding")
    memory_id: UUID = worker.add_memory(user_id="ana", content="Likes tea").memory_id
    job = claim(worker, "embed")
    with client.connection.transaction():
        client.connection.execute("set transaction isolation level repeatable read")
        client.value("select count(*) from memory.memories")  # takes the snapshot
        complete(worker, job, embeddings=[[1, 0, 0]])
        yield memory_id


@pytest.mark.feature("A3")
@pytest.mark.parametrize("mode", ["hybrid", "vector"])
@pytest.mark.parametrize("how", ["expired by hand", "no longer valid"])
def test_what_a_transaction_hid_that_could_not_see_the_embedding_is_not_found(
    connect: Callable[..., psycopg.Connection], mode: str, how: str
) -> None:
    """The embedding then says that the memory may be found; the memory has the last word."""
    worker, client = Api(connect()), Api(connect())
    with before_it_was_embedded(worker, client) as memory_id:
        HIDE[how](client, memory_id)
    assert worker.value("select count(*) from memory.embeddings where valid_until > now()") == 1
    assert search(worker, "coffee", [1, 0, 0], mode=mode) == []


@pytest.mark.feature("E6")
@pytest.mark.parametrize("how", ["deleted", "superseded", "expired", "deleted by hand"])
def test_a_change_that_could_not_see_the_embedding_has_to_be_called_again(
    connect: Callable[..., psycopg.Connection], how: str
) -> None:
    worker, client = Api(connect()), Api(connect())
    with pytest.raises(errors.SerializationFailure), before_it_was_embedded(worker, client) as memory_id:
        HIDE[how](client, memory_id)
    HIDE[how](client, memory_id)
    assert worker.query("select from memory.embeddings where valid_until > now()") == []


def test_an_embedding_that_is_stored_by_hand_waits_for_who_changes_its_memory(
    connect: Callable[..., psycopg.Connection],
) -> None:
    administrator, client = with_model(Api(connect())), Api(connect())
    memory_id = client.add_memory(user_id="ana", content="Likes tea").memory_id
    with ThreadPoolExecutor(1) as pool:
        with client.connection.transaction():
            HIDE["deleted"](client, memory_id)
            storing = pool.submit(embed, administrator, memory_id, [1, 0, 0])
            with pytest.raises(FutureTimeoutError):
                storing.result(0.2)
        storing.result(10)
    assert administrator.query("select from memory.embeddings where valid_until > now()") == []


def test_a_copy_may_bring_embeddings_before_memories(api: Api) -> None:
    memory_id = "00000000-0000-7000-8000-000000000001"
    embed(api, memory_id, [1, 0, 0], agent_id="default", created_at="2026-01-01", valid_until="infinity")
    api.connection.execute(
        "insert into memory.memories (user_id, memory_id, content) values ('ana', %s, 'Likes tea')", [memory_id]
    )
    assert found(api, None, [1, 0, 0]) == ["Likes tea"]


# What it costs --------------------------------------------------------------------------------------------------------


@pytest.mark.feature("E4")
@pytest.mark.parametrize("rows", [1, 2000])
@pytest.mark.parametrize("analyzed", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_the_work_grows_with_the_memories_of_the_user_alone(fresh: Api, rows: int, analyzed: bool, mode: str) -> None:
    """Whatever the planner knows or believes; and no embedding is compared twice."""
    fill(fresh, "ana", rows)
    fill(fresh, "bob", 3000)
    if analyzed:
        fresh.connection.execute("analyze")
    plans = plans_of_search(fresh, mode=mode)  # without documents and summaries
    assert max(step["seen"] for steps in plans for step in steps) <= 2 * rows + 100
    assert not [step for steps in plans for step in steps if step["Node Type"] == "Merge Join"]
    embeddings = [step for steps in plans for step in reads(steps, "embeddings")]
    assert sum(step["seen"] for step in embeddings) == (0 if mode == "keyword" else rows)


@pytest.mark.parametrize("explain", [False, True])
def test_words_are_read_from_an_index_alone(fresh: Api, explain: bool) -> None:
    fill(fresh, "ana", 1000)
    fresh.connection.execute("checkpoint")  # a commit that is not on disk yet is not known to be one
    fresh.connection.execute("vacuum analyze memory.memories")
    plans = plans_of_search(fresh, **ALONE, agent_id="default", explain=explain)
    # The results are read from the table afterwards.
    [memories] = [step for steps in plans for step in reads(steps, "memories") if step["seen"] > 10]
    assert (memories["Node Type"], memories["Index Name"]) == ("Index Only Scan", "memories_recent_idx")
    assert (memories["seen"], memories["Heap Fetches"]) == (1000, 0)


# Very many memories ---------------------------------------------------------------------------------------------------


def index(api: Api, model: str) -> list[str]:
    """Make the index as an administrator does; what was executed."""
    statements = [row.vector_index for row in api.vector_index(model=model)]
    for statement in statements:
        api.connection.execute(statement)
    return statements


@pytest.fixture
def many(fresh: Api) -> Api:
    """Ana has 5,000 memories, Bob 1,000; from 2,000 on a search may be approximate, and there is an index for it."""
    fill(fresh, "ana", 5000)
    fill(fresh, "bob", 1000)
    fresh.set_policy(settings={"search": {"approximate_above": 2000}})
    index(fresh, "three")
    fresh.connection.execute("vacuum analyze memory.memories, memory.embeddings")
    return fresh


def index_of(api: Api, **arguments: Any) -> str:
    """Which index answers a search by meaning."""
    [step] = reads(plan_of_ranking(api, **{"mode": "vector", **ALONE, **arguments}), "embeddings")
    return str(step["Index Name"])


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
    assert index_of(many, user_id="bob") == "embeddings_pkey"
    for filters in ({"tags_all": ["a"]}, {"mode": "hybrid"}, {"created_after": "2020-01-01"}, {"thread_id": "t1"}):
        assert index_of(many, **filters) == "embeddings_pkey", filters
    many.set_policy(settings={"search": {"approximate_above": 5000}})
    assert index_of(many) == "embeddings_pkey"


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
def test_an_index_finds_nothing_that_is_hidden_or_of_others(many: Api) -> None:
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


def test_what_an_index_does_not_reach_is_compared(many: Api) -> None:
    """Its scan ends after so many rows, which here are all those of another agent."""
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


def test_min_score_and_explain_mean_the_same_with_an_index(many: Api) -> None:
    ask = functools.partial(search, many, None, [1, 0, 0], mode="vector")
    everything = ask(explain=True)
    assert [r.details["vector"] for r in everything] == [
        {"rank": rank, "score": r.score, "model": "three", "approximate": True} for rank, r in enumerate(everything, 1)
    ]
    assert all(r.details["fused"] == {"by": "vector", "score": r.score} for r in everything)
    assert [r.id for r in ask(min_score=everything[4].score)] == [
        r.id for r in everything if r.score >= everything[4].score
    ]
    assert ask(min_score=1) == []
    assert ask(user_id="nobody") == []


@pytest.mark.feature("E4")
def test_what_there_is_besides_very_many_memories_is_found_with_them(many: Api) -> None:
    document_id = many.add_document(user_id="ana", content="Owns a theorbo")
    embed(many, f"{document_id}/0", [1, 0, 0], source="document")
    everything = {"mode": "vector", "sources": ["memory", "document"], "explain": True, "top_k": 100}
    results = search(many, None, [1, 0, 0], **everything)
    assert (results[0].source, results[0].content, results[0].score) == ("document", "Owns a theorbo", 1)
    assert len(results) == 100
    assert [r.details["vector"]["rank"] for r in results] == [
        1 + sum(other.score > r.score for other in results) for r in results
    ]
    assert [r.score for r in results] == sorted((r.score for r in results), reverse=True)
    plans = plans_of_search(many, mode="vector", sources=["memory", "document"])
    read = [step for steps in plans for step in reads(steps, "embeddings")]
    assert any(str(step["Index Name"]).endswith("_hnsw_idx") for step in read)
    assert sum(step["seen"] for step in read) < 1000


@pytest.mark.parametrize("function", ["search", "render_memories", "get_context"])
def test_an_index_is_used_where_the_planner_would_read_memories_in_parallel(many: Api, function: str) -> None:
    """Settings cannot be changed in the middle of that."""
    for setting in ("parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size"):
        many.connection.execute(f"set {setting} = 0")
    more = {"search": {"mode": "vector"}, "render_memories": {}, "get_context": {"thread_id": "new"}}[function]
    with many.connection.transaction():
        before = scans_of_index(many)
        assert getattr(many, function)(user_id="ana", query_embedding="[1,0,0]", **more)
        assert scans_of_index(many) > before


def test_a_search_by_index_leaves_settings_as_they_were(many: Api) -> None:
    many.connection.execute("set hnsw.ef_search = 17")
    with many.connection.transaction():
        search(many, None, [1, 0, 0], mode="vector")
        assert many.value("select current_setting('hnsw.ef_search')") == "17"
        assert many.value("select current_setting('hnsw.iterative_scan')") == "off"


def test_without_an_index_very_many_memories_are_compared_exactly(fresh: Api) -> None:
    fill(fresh, "ana", 3000)
    exact = search(fresh, None, [1, 0, 0], mode="vector", top_k=100)
    fresh.set_policy(settings={"search": {"approximate_above": 10}})
    assert search(fresh, None, [1, 0, 0], mode="vector", top_k=100) == exact


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
    assert index_of(many) == "embeddings_pkey"
    [(ok, detail)] = many.query(check)
    assert (ok, "memory.vector_index()" in detail) == (False, True)
    assert index(many, "three")[0] == f"drop index concurrently memory.{name}"
    assert index_of(many).endswith("_hnsw_idx")
    assert many.query(check)[0].ok


def test_an_index_needs_a_model_that_has_embedded(api: Api) -> None:
    register(api, "new")
    with refused("model") as refusal:
        api.vector_index(model="new")
    assert "has not embedded anything yet" in str(refusal.value)
    for unknown in ("none", "local"):
        with refused("model", "P0002"):
            api.vector_index(model=unknown)
    with refused("model"):
        api.vector_index(model=None)
