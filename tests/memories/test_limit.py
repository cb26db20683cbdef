"""The limit of memories of an agent: which memory goes when one is added over the limit."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.memories.steps import add, contents, expire, supersede
from tests.support.sqlapi import Api, refused


def limit(api: Api, max_per_agent: int, **level: str) -> None:
    api.set_policy(settings={"memories": {"max_per_agent": max_per_agent}}, **level)


@pytest.mark.feature("B8")
def test_the_limit_is_1000_unless_configured_and_bulk_inserts_keep_it(api: Api) -> None:
    api.connection.execute(
        "insert into memory.memories (user_id, content) select 'ana', 'no. ' || n from generate_series(1, 1005) n"
    )
    current = """
        select count(*), min(substr(content, 5)::int) filter (where content like 'no.%%')
        from memory.memories where deleted_at is null
    """
    assert api.query(current) == [(1000, 6)]
    assert add(api, "one more") is not None
    assert api.query(current) == [(1000, 7)]


@pytest.mark.usefixtures("db")
@pytest.mark.feature("B8")
def test_an_eviction_does_not_read_all_memories(api: Api) -> None:
    """While the table has no statistics, which a new installation has not."""
    api.connection.execute(
        "insert into memory.memories (user_id, content) select 'ana', 'no. ' || n from generate_series(1, 1000) n"
    )
    add(api, "no. 1001")
    read = api.entries_read(lambda: add(api, "no. 1002"))
    assert read < 200, read


@pytest.mark.feature("B8", "B12")
def test_the_memory_that_matters_least_goes_first(api: Api) -> None:
    """Extracted before stated, then the less important, then the older."""
    order = [
        ("extracted of little weight", "extraction", 0.1),
        ("extracted and older", "extraction", 0.9),
        ("extracted and newer", "thread_summary", 0.9),
        ("stated of little weight", "user", 0.1),
        ("stated and older", "crm", 0.5),
        ("stated and newer", "user", 0.5),
    ]
    for position in (5, 1, 3, 4, 2, 0):
        content, source, importance = order[position]
        add(api, content, source=source, importance=importance)
    for place in ("older", "newer"):  # what is stored first is older
        api.connection.execute(
            "update memory.memories set created_at = created_at + %s where content like %s",
            (timedelta(minutes=place == "newer"), f"%{place}"),
        )
    limit(api, len(order))
    for gone in range(1, len(order) + 1):
        add(api, f"new {gone}", importance=1)
        left = [row[0] for row in order[gone:]]
        assert sorted(contents(api)) == sorted([*left, *(f"new {number}" for number in range(1, gone + 1))])


@pytest.mark.feature("B8", "F3")
def test_a_memory_put_away_at_the_limit_stays_in_the_history_for_a_week(api: Api) -> None:
    limit(api, 1)
    memory_id = add(api, "first")
    add(api, "second")
    [stored, evicted] = api.get_memory_history(user_id="ana", memory_id=memory_id)
    assert (stored.operation, evicted.operation, evicted.content) == ("insert", "evict", "first")
    assert api.sweep()["memories"] == 0
    a_week_passes(api)
    assert api.sweep()["memories"] == 1
    with refused("memory_id", "P0002"):
        api.restore_memory(user_id="ana", memory_id=memory_id)


@pytest.mark.feature("B8")
def test_a_new_memory_that_matters_least_is_put_away_and_says_so(api: Api) -> None:
    limit(api, 1)
    add(api, "of weight", importance=0.9)
    stored = api.add_memory(user_id="ana", content="of no weight", importance=0.1)
    assert not stored.inserted
    assert any(str(stored.memory_id) in notice for notice in api.notices)
    assert contents(api) == ["of weight"]
    api.restore_memory(user_id="ana", memory_id=stored.memory_id)
    assert contents(api) == ["of no weight"]


def a_week_passes(api: Api) -> None:
    """For what the limit took."""
    with api.connection.transaction():
        api.connection.execute("set local session_replication_role = replica")
        api.connection.execute("update memory.memories set deleted_at = deleted_at - interval '8 days'")


@pytest.mark.feature("B8", "E11")
def test_a_hidden_memory_that_matters_more_comes_back_at_the_limit(api: Api) -> None:
    limit(api, 2)
    old = add(api, "Allergic to penicillin", importance=0.1)
    new = add(api, "Not allergic to anything", source="extraction", importance=0.1)
    supersede(api, old, new)
    add(api, "of weight", source="extraction")
    add(api, "of weight too", source="extraction")
    assert "Allergic to penicillin" in contents(api)
    assert "Not allergic to anything" not in contents(api)


@pytest.mark.feature("B8")
def test_each_agent_of_each_user_has_a_limit_of_its_own(api: Api) -> None:
    limit(api, 4)
    limit(api, 3, agent_id="b")
    limit(api, 2, user_id="bob")
    limit(api, 1, agent_id="b", user_id="bob")
    scopes = [(user_id, agent_id) for user_id in ("ana", "bob") for agent_id in ("a", "b")]
    for number in range(6):
        for user_id, agent_id in scopes:
            add(api, f"no. {number}", user_id=user_id, agent_id=agent_id)
    kept = {scope: contents(api, user_id=scope[0], agent_id=scope[1]) for scope in scopes}
    expected = dict(zip(scopes, (4, 3, 2, 1), strict=True))
    assert kept == {scope: [f"no. {n}" for n in range(5, 5 - count, -1)] for scope, count in expected.items()}


@pytest.mark.feature("B8", "B7")
def test_the_oldest_memory_goes_when_one_is_added_over_the_limit_and_before_it_an_expired_one(api: Api) -> None:
    limit(api, 3)
    for number in range(5):
        add(api, f"no. {number}")
    assert contents(api) == ["no. 4", "no. 3", "no. 2"]
    [newest, *_] = api.list_memories(user_id="ana")
    expire(api, newest.memory_id)
    add(api, "no. 5")
    assert contents(api) == ["no. 5", "no. 3", "no. 2"]
