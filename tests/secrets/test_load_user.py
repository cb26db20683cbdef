"""What an agent loads of a user when it starts."""

from __future__ import annotations

import pytest

from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("C13")


def test_the_user_layer_comes_in_one_call(api: Api) -> None:
    api.add_memory(user_id="ana", content="Likes tea", memory_type="preference", tags=["drinks"])
    api.add_memory(user_id="ana", content="Lives in Oslo", importance=0.2)
    api.add_memory(user_id="ana", content="Works at a mill", importance=0.9, agent_id="other")
    api.add_memory(user_id="ana", content="Is asking about a bill", memory_type="context")
    api.add_memory(user_id="bob", content="Likes coffee", memory_type="preference")
    api.add_message(user_id="ana", thread_id="older", role="user", content="Hello", created_at="2026-01-01")
    api.add_message(user_id="ana", thread_id="newer", role="user", content="Hello")
    api.query(
        "insert into memory.summaries (user_id, summary_id, kind, thread_id, start_seq, end_seq, agent_ids, summary,"
        " status) values ('ana', gen_random_uuid(), 'user', '', 0, 1, '{default}', 'Ana drinks tea.', 'completed')"
        " returning 1"
    )
    loaded = api.load_user(user_id="ana")
    assert loaded["summary"] == "Ana drinks tea."
    assert [(m["content"], m["tags"]) for m in loaded["preferences"]] == [("Likes tea", ["drinks"])]
    assert [m["content"] for m in loaded["facts"]] == ["Works at a mill", "Lives in Oslo"]
    assert [t["thread_id"] for t in loaded["threads"]] == ["newer", "older"]
    assert loaded["facts"][0].keys() == {
        "memory_id", "content", "tags", "agent_id", "confidence", "importance", "created_at", "valid_from"
    }  # fmt: skip
    assert [m["content"] for m in api.load_user(user_id="ana", agent_id="other")["facts"]] == ["Works at a mill"]


def test_only_memories_that_hold_now_are_loaded(api: Api) -> None:
    old = api.add_memory(user_id="ana", content="Lives in Oslo").memory_id
    new = api.add_memory(user_id="ana", content="Lives in Rome").memory_id
    gone = api.add_memory(user_id="ana", content="Has a cat").memory_id
    api.add_memory(user_id="ana", content="Was ill", valid_to="2026-01-01")
    api.add_memory(user_id="ana", content="Is on holiday", expires_at="2026-01-01")
    api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="moved")
    api.delete_memory(user_id="ana", memory_id=gone)
    assert [m["content"] for m in api.load_user(user_id="ana")["facts"]] == ["Lives in Rome"]


@pytest.mark.usefixtures("db")
def test_a_user_with_very_many_memories_loads_the_foremost_without_reading_them_all(api: Api) -> None:
    api.set_policy(settings={"memories": {"max_per_agent": 100_000}})
    api.query(
        "insert into memory.memories (user_id, agent_id, memory_type, content, importance)"
        " select 'ana', 'agent ' || n %% 5, case when n %% 3 = 0 then 'preference' else 'fact' end, 'Memory ' || n,"
        " n / 10000.0 from generate_series(1, 9000) as n returning 1"
    )
    loaded = api.load_user(user_id="ana")
    assert (len(loaded["preferences"]), len(loaded["facts"])) == (50, 50)
    assert loaded["facts"][0]["content"] == "Memory 8999"
    assert api.entries_read(lambda: api.load_user(user_id="ana")) < 1000
