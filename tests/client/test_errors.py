"""Errors of the client: an exception for each SQLSTATE, and what is refused before it is sent."""

import traceback
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from enum import Enum
from types import MappingProxyType
from typing import Any

import numpy
import psycopg
import pytest
from agent_memory import (
    AgentMemoryError,
    ConflictError,
    DegradedWarning,
    InvalidValueError,
    LeaseLostError,
    LimitExceededError,
    Memory,
    NotFoundError,
)
from agent_memory.calls import WorkerProtocol

from tests.support.sqlapi import Api

USER = {"role": "user", "content": "Hello"}
Call = Callable[[Memory], Any]


@pytest.fixture
def memory(api: Api) -> Memory:
    return Memory(api.connection)


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("error", "sqlstate", "call"),
    [
        (InvalidValueError, "22023", lambda memory: memory.add_message("", "t", "user", "x")),
        (NotFoundError, "P0002", lambda memory: memory.get_memory("ana", uuid.uuid4())),
        (ConflictError, "23505", lambda memory: memory.add_memory("ana", "Likes tea", on_conflict="error")),
        (LimitExceededError, "54000", lambda memory: memory.add_message("ana", "t", "user", "x" * 10485761)),
        (
            LeaseLostError,
            "AM001",
            lambda memory: WorkerProtocol(memory.caller).complete_job("ana", 1, uuid.uuid4(), {}),
        ),
    ],
)
def test_each_sqlstate_has_its_exception(
    memory: Memory, error: type[AgentMemoryError], sqlstate: str, call: Call
) -> None:
    memory.add_memory("ana", "Likes tea")
    with pytest.raises(error) as raised:
        call(memory)
    assert raised.value.sqlstate == sqlstate
    assert raised.value.message
    assert f"HINT:  {raised.value.hint}" in str(raised.value)
    assert isinstance(raised.value.__cause__, psycopg.Error)


@pytest.mark.parametrize(
    ("problem", "call"),
    [
        ("user_id must be text, not int", lambda memory: memory.list_threads(42)),
        ("user_id contains a NUL character", lambda memory: memory.list_threads("a\0")),
        ("row_limit must be a whole number, not str", lambda memory: memory.list_threads("ana", "1")),
        ("row_limit is out of range", lambda memory: memory.list_threads("ana", 10**5000)),
        ('value "1099511627776" is out of range', lambda memory: memory.list_threads("ana", 2**40)),
        ("confidence must be a number, not str", lambda memory: memory.add_memory("ana", "x", confidence="1")),
        ("explain must be True or False, not int", lambda memory: memory.search("ana", "x", explain=1)),
        ("as_of must be a datetime, not str", lambda memory: memory.search("ana", "x", as_of="now")),
        ("as_of has no time zone", lambda memory: memory.search("ana", "x", as_of=datetime(2025, 1, 1))),
        (
            "messages[0].created_at has no time zone",
            lambda memory: memory.add_messages("ana", "t", [{**USER, "created_at": datetime(2025, 1, 1)}]),
        ),
        (
            "lease must be a timedelta",
            lambda memory: WorkerProtocol(memory.caller).claim_jobs("me", lease=30),  # type: ignore[arg-type]
        ),
        ("memory_id is not a UUID", lambda memory: memory.get_memory("ana", "nonsense")),
        ("tags must be a list of texts, not str", lambda memory: memory.add_memory("ana", "x", tags="tea")),
        ("metadata must be a dict, not str", lambda memory: memory.add_memory("ana", "x", metadata="{}")),
        ("a key of metadata must be text", lambda memory: memory.add_memory("ana", "x", metadata={1: 2})),
        (
            "metadata.a[1].b contains a NUL",
            lambda memory: memory.add_memory("ana", "x", metadata={"a": [0, {"b": "\0"}]}),
        ),
        ("metadata.a cannot be a object", lambda memory: memory.add_memory("ana", "x", metadata={"a": object()})),
        ("metadata.a is nan", lambda memory: memory.add_memory("ana", "x", metadata={"a": float("nan")})),
        ("metadata is nested too deeply", lambda memory: memory.add_memory("ana", "x", metadata={"a": nested(5000)})),
        ("messages[0] must be a dict, not str", lambda memory: memory.add_messages("ana", "t", ["Hi"])),
        ("content contains half a surrogate", lambda memory: memory.add_message("ana", "t", "user", "\ud83d")),
        ("query_embedding must be", lambda memory: memory.render_memories("ana", query_embedding="[1]")),
    ],
)
def test_a_wrong_argument_is_refused_by_name(memory: Memory, problem: str, call: Call) -> None:
    with pytest.raises(InvalidValueError) as raised:
        call(memory)
    assert raised.value.message.startswith(problem)
    assert raised.value.hint


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("content", lambda memory, text: memory.add_message("ana", "t", "user", text)),
        (
            "messages[1].content",
            lambda memory, text: memory.add_messages("ana", "t", [USER, {**USER, "content": text}]),
        ),
    ],
)
def test_a_text_beyond_all_limits_is_not_sent(
    memory: Memory, argument: str, call: Callable[[Memory, str], Any]
) -> None:
    with pytest.raises(LimitExceededError) as raised:
        call(memory, "x" * (1 << 25))
    assert raised.value.message.startswith(f"{argument}: has 33554432 characters")
    assert raised.value.__cause__ is None


def test_a_traceback_shows_no_statements_of_ours(db: psycopg.Connection) -> None:
    memory = Memory(db)
    with pytest.raises(InvalidValueError) as refused:
        memory.add_memory("ana", "")
    db.execute("set statement_timeout = 1")
    with pytest.raises(psycopg.errors.QueryCanceled) as cancelled:  # which the API does not define
        memory.add_memory("ana", "tea " * 60_000)
    for raised in (refused, cancelled):
        said = [line for line in traceback.format_exception_only(raised.value) if line.strip()]
        cause = raised.value.__cause__
        if cause is not None:
            said += traceback.format_exception_only(cause)
        assert len("".join(said).splitlines()) <= 4
    assert isinstance(refused.value.__cause__, psycopg.Error)
    assert len(str(refused.value.__cause__.diag.context).splitlines()) > 5


def test_values_that_come_close_to_a_type_are_taken(memory: Memory) -> None:
    class Kind(str, Enum):
        PREFERENCE = "preference"

    memory_id = memory.add_memory(
        "ana",
        "Likes tea",
        Kind.PREFERENCE,
        metadata=MappingProxyType({"a": (1, 2), "levels": nested(700)}),
        tags=("drinks",),
        confidence=1,
        importance=numpy.float64(0.5),
        expires_at=datetime(2100, 1, 1, tzinfo=timezone(timedelta(hours=2))),
    ).memory_id
    record = memory.get_memory("ana", f"{{{str(memory_id).upper()}}}")
    assert (record.memory_type, record.tags) == ("preference", ["drinks"])
    assert record.metadata == {"a": [1, 2], "levels": nested(700)}
    assert (record.confidence, record.importance) == (1, 0.5)
    assert record.expires_at == datetime(2099, 12, 31, 22, tzinfo=timezone.utc)
    with pytest.warns(DegradedWarning):
        assert memory.render_memories("ana", query_embedding=numpy.array([1, 2], "float32")) != ""


def test_an_error_leaves_the_pool_usable(dsn: str) -> None:
    with Memory(dsn, pool_size=1) as memory:
        for _ in range(3):
            with pytest.raises(InvalidValueError):
                memory.list_threads("")
        assert memory.list_threads("ana") == []
