"""Storing memories: their types and values."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from psycopg import errors

from tests.memories.steps import LATER, add, contents
from tests.support.sqlapi import Api

TYPES = ["fact", "preference", "context", "procedural", "episodic", "conversation_summary"]


# Types ----------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("B1", "E1")
def test_each_memory_type_can_be_stored_and_listed(api: Api) -> None:
    for memory_type in TYPES:
        add(api, f"A {memory_type}", memory_type=memory_type)
        assert contents(api, memory_type=memory_type) == [f"A {memory_type}"]


@pytest.mark.feature("B1")
@pytest.mark.parametrize(
    "statement",
    [
        "select memory.add_memory(user_id => 'ana', content => 'x', memory_type => 'opinion')",
        "insert into memory.memories (user_id, content, memory_type) values ('ana', 'x', 'opinion')",
    ],
)
def test_an_unknown_type_is_refused_with_the_list_of_known_ones(api: Api, statement: str) -> None:
    with pytest.raises(errors.InvalidParameterValue, match=r"^memory_type: ") as refusal:
        api.connection.execute(statement.encode())
    assert ", ".join(TYPES) in (refusal.value.diag.message_hint or "")


# Storing --------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("B2", "A3")
def test_a_memory_keeps_everything_it_was_given(api: Api) -> None:
    given = {
        "content": "Prefers e-mail — ☕ 日本",
        "memory_type": "preference",
        "agent_id": "support",
        "thread_id": "t1",
        "metadata": {"source": "settings", "nested": {"a": [1, None]}},
        "tags": ["contact", "it's"],
        "confidence": 0.5,
        "importance": 0.25,
        "valid_from": datetime(2024, 1, 1, tzinfo=timezone.utc),
        "valid_to": datetime(2090, 1, 1, tzinfo=timezone.utc),
        "expires_at": LATER,
    }
    stored = api.add_memory(user_id="ana", embedding_text="mail, not phone", source="crm", **given)
    read = api.get_memory(user_id="ana", memory_id=stored.memory_id)
    assert stored.inserted
    assert {name: getattr(read, name) for name in given} == given
    assert (read.version, read.superseded_by, read.total_count) == (1, None, 1)
    assert read.created_at == read.updated_at
    assert api.list_memories(user_id="ana") == [read]
    assert api.query("select embedding_text, source from memory.memories") == [("mail, not phone", "crm")]


def test_shares_may_be_double_precision(api: Api) -> None:
    """Which is what drivers send for a number of their language."""
    shares = "select confidence, importance from memory.memories"
    given = "user_id => 'ana', confidence => %(confidence)s::float8, importance => %(importance)s::float8"
    add_memory = f"select (memory.add_memory(content => 'Likes tea', {given})).memory_id"
    memory_id = api.value(add_memory, confidence=0.7, importance=0.8)
    assert api.query(shares) == [(pytest.approx(0.7), pytest.approx(0.8))]
    update_memory = f"select memory.update_memory(memory_id => %(memory_id)s, {given})"
    api.value(update_memory, memory_id=memory_id, confidence=0.6, importance=0.5)
    assert api.query(shares) == [(pytest.approx(0.6), pytest.approx(0.5))]
    search = "select from memory.search('ana', 'tea', mode => 'keyword', min_confidence => %(least)s::float8)"
    assert [len(api.query(search, least=least)) for least in (0.5, 0.7)] == [1, 0]


@pytest.mark.feature("B2")
def test_a_memory_lives_as_long_as_the_policy_says(api: Api) -> None:
    api.set_policy(settings={"memories": {"expires_after": "30 days"}}, agent_id="short")
    lifetime = "select expires_at - created_at from memory.memories where memory_id = %(memory_id)s"
    assert api.value(lifetime, memory_id=add(api, "by policy", agent_id="short")) == timedelta(days=30)
    assert api.value(lifetime, memory_id=add(api, "by default")) is None
    assert api.value(lifetime, memory_id=add(api, "for ever", agent_id="short", expires_at="infinity")) is None
