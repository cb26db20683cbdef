"""Errors of the client: an exception for each SQLSTATE, and what is refused before it is sent."""

import traceback
import uuid
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
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


class Reply:
    """Like a message of the package openai."""

    def model_dump(self) -> dict[str, Any]:
        raise AssertionError


USER = {"role": "user", "content": "Hello"}


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


class TestErrors:
    @pytest.mark.parametrize(
        ("error", "sqlstate", "call"),
        [
            (InvalidValueError, "22023", lambda memory: memory.add_message("", "t", "user", "x")),
            (InvalidValueError, "22023", lambda memory: memory.add_messages("ana", "t", [{"role": "user"}])),
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
        self, memory: Memory, error: type[AgentMemoryError], sqlstate: str, call: Callable[[Memory], Any]
    ) -> None:
        memory.add_memory("ana", "Likes tea")
        with pytest.raises(error) as raised:
            call(memory)
        assert raised.value.sqlstate == sqlstate
        assert raised.value.message
        assert raised.value.hint
        assert f"HINT:  {raised.value.hint}" in str(raised.value)
        assert isinstance(raised.value.__cause__, psycopg.Error)

    @pytest.mark.parametrize(
        ("argument", "call"),
        [
            ("content", lambda memory, text: memory.add_message("ana", "t", "user", text)),
            (
                "messages[1].content",
                lambda memory, text: memory.add_messages("ana", "t", [USER, {**USER, "content": text}]),
            ),
            ("memories[0].content", lambda memory, text: memory.add_memories("ana", [{"content": text}])),
            ("query", lambda memory, text: memory.search("ana", text)),
        ],
    )
    def test_a_text_beyond_all_limits_is_not_sent(
        self, memory: Memory, argument: str, call: Callable[[Memory, str], Any]
    ) -> None:
        assert memory.caller.connection is not None
        with memory.caller.connection.transaction(), pytest.raises(LimitExceededError) as raised:
            call(memory, "x" * (1 << 25))
        assert raised.value.message.startswith(f"{argument}: has 33554432 characters")
        assert raised.value.__cause__ is None

    def test_a_traceback_shows_no_statements_of_ours(self, db: psycopg.Connection, memory: Memory) -> None:
        with pytest.raises(InvalidValueError) as refused:
            memory.add_memory("ana", "")
        db.execute("set statement_timeout = 1")
        with pytest.raises(psycopg.errors.QueryCanceled) as cancelled:
            memory.add_memory("ana", "tea " * 60_000)
        for raised in (refused, cancelled):
            said = [line for line in traceback.format_exception_only(raised.value) if line.strip()]
            cause = raised.value.__cause__
            if cause is not None:
                said += traceback.format_exception_only(cause)
            assert len("".join(said).splitlines()) <= 4
        assert isinstance(refused.value.__cause__, psycopg.Error)
        assert len(str(refused.value.__cause__.diag.context).splitlines()) > 5

    def test_an_sqlstate_that_the_api_does_not_define_stays_a_psycopg_error(
        self, db: psycopg.Connection, memory: Memory
    ) -> None:
        db.execute("set statement_timeout = 1")
        with pytest.raises(psycopg.errors.QueryCanceled):
            memory.add_memory("ana", "tea " * 60_000)

    @pytest.mark.parametrize(
        ("argument", "call"),
        [
            ("content", lambda memory: memory.add_message("ana", "t", "user", "a\0b")),
            ("user_id", lambda memory: memory.list_threads("a\0")),
            ("a key of metadata", lambda memory: memory.add_memory("ana", "x", metadata={"a\0": 1})),
            ("metadata.a[1].b", lambda memory: memory.add_memory("ana", "x", metadata={"a": [0, {"b": "\0"}]})),
            (
                "messages[1].content",
                lambda memory: memory.add_messages(
                    "ana", "t", [{"role": "user", "content": "a"}, {"role": "user", "content": "\0"}]
                ),
            ),
            ("tags[0]", lambda memory: memory.add_memory("ana", "x", tags=["\0"])),
        ],
    )
    def test_nul_is_refused_before_sending(self, memory: Memory, argument: str, call: Callable[[Memory], Any]) -> None:
        with pytest.raises(InvalidValueError) as raised:
            call(memory)
        assert raised.value.message == f"{argument} contains a NUL character"
        assert raised.value.hint is not None
        assert memory.list_threads("ana") == []
        assert memory.list_memories("ana") == []

    def test_hundreds_of_levels_are_stored(self, memory: Memory) -> None:
        """PostgreSQL reads some thousand levels; Python stops before."""
        metadata = {"a": nested(700)}
        assert memory.get_memory("ana", memory.add_memory("ana", "x", metadata=metadata).memory_id).metadata == metadata

    @pytest.mark.parametrize(
        ("words", "call"),
        [
            ("metadata.a cannot be a object", lambda memory: memory.add_memory("ana", "x", metadata={"a": object()})),
            ("metadata.a is nan", lambda memory: memory.add_memory("ana", "x", metadata={"a": float("nan")})),
            (
                "metadata is nested too deeply",
                lambda memory: memory.add_memory("ana", "x", metadata={"a": nested(5000)}),
            ),
            ("confidence", lambda memory: memory.add_memory("ana", "x", confidence=1.5)),
            ("confidence", lambda memory: memory.add_memory("ana", "x", confidence=float("nan"))),
            ("query_embedding must be", lambda memory: memory.render_memories("ana", query_embedding="[1]")),
            ("query_embedding must be", lambda memory: memory.render_memories("ana", query_embedding=[None])),
            ("query_embedding must not", lambda memory: memory.render_memories("ana", query_embedding=[float("inf")])),
            ("surrogate", lambda memory: memory.add_message("ana", "t", "user", "\ud83d")),
        ],
    )
    def test_wrong_types_and_values(self, memory: Memory, words: str, call: Callable[[Memory], Any]) -> None:
        with pytest.raises(InvalidValueError) as raised:
            call(memory)
        assert words in raised.value.message
        assert raised.value.hint
        assert memory.list_memories("ana") == []

    @pytest.mark.parametrize(
        ("function", "argument", "problem", "hint"),
        [
            ("list_threads", {"user_id": 42}, "user_id must be text, not int", "Pass str(user_id)."),
            ("list_threads", {"user_id": uuid.uuid4()}, "user_id must be text, not UUID", "Pass str(user_id)."),
            ("list_threads", {"user_id": True}, "user_id must be text, not bool", "signature"),
            ("add_memory", {"memory_type": 0.5}, "memory_type must be text, not float", "signature"),
            ("add_memory", {"importance": "high"}, "importance must be a number, not str", "signature"),
            ("add_memory", {"importance": "nan"}, "importance must be a number, not str", "signature"),
            ("list_threads", {"row_limit": "1.5"}, "row_limit must be a whole number, not str", "signature"),
            ("list_threads", {"row_limit": 1.5}, "row_limit must be a whole number, not float", "signature"),
            ("list_threads", {"user_id": None}, "user_id must be text, not None", "user_id must not be None"),
            ("list_threads", {"user_id": b"ana"}, "user_id must be text, not bytes", "Pass user_id.decode()."),
            ("list_threads", {"user_id": ["ana"]}, "user_id must be text, not list", "signature"),
            ("add_memory", {"agent_id": 7}, "agent_id must be text, not int", "Pass str(agent_id)."),
            ("add_memory", {"tags": "tea"}, "tags must be a list of texts, not str", "Pass [tags]."),
            ("add_memory", {"tags": {"tea"}}, "tags must be a list of texts, not set", "Pass list(tags)."),
            ("add_memory", {"tags": ["tea", 1]}, "tags[1] must be text, not int", "Pass str(tags[1])."),
            ("search", {"sources": "memory"}, "sources must be a list of texts, not str", "Pass [sources]."),
            ("list_threads", {"row_limit": True}, "row_limit must be a whole number, not bool", "int(row_limit)"),
            ("list_threads", {"row_limit": 1.0}, "row_limit must be a whole number, not float", "int(row_limit)"),
            ("list_threads", {"row_limit": "1"}, "row_limit must be a whole number, not str", "int(row_limit)"),
            ("list_threads", {"row_limit": 10**5000}, "row_limit is out of range", "64 bits"),
            ("list_threads", {"row_limit": 2**40}, 'value "1099511627776" is out of range', "Check"),
            ("search", {"explain": 1}, "explain must be True or False, not int", "signature"),
            ("search", {"explain": "no"}, "explain must be True or False, not str", "signature"),
            ("add_memory", {"confidence": True}, "confidence must be a number, not bool", "float(confidence)"),
            ("add_memory", {"confidence": "1"}, "confidence must be a number, not str", "float(confidence)"),
            ("add_memory", {"confidence": 10**400}, "confidence is out of range", "float"),
            ("get_memory", {"memory_id": "nonsense"}, "memory_id is not a UUID", "id"),
            ("get_memory", {"memory_id": 1}, "memory_id must be a UUID, not int", "signature"),
            ("search", {"as_of": "now"}, "as_of must be a datetime, not str", "datetime.fromisoformat(as_of)"),
            ("search", {"as_of": date(2025, 1, 1)}, "as_of must be a datetime, not date", "datetime.combine(as_of"),
            ("search", {"as_of": datetime(2025, 1, 1)}, "as_of has no time zone", "as_of.astimezone()"),
            (
                "add_messages",
                {"messages": [{"role": "user", "content": "x", "created_at": datetime(2025, 1, 1)}]},
                "messages[0].created_at has no time zone",
                "messages[0].created_at.astimezone()",
            ),
            ("claim_jobs", {"lease": 30}, "lease must be a timedelta, not int", "timedelta(seconds=lease)"),
            ("add_memory", {"metadata": [1]}, "metadata must be a dict, not list", "signature"),
            ("add_memory", {"metadata": "{}"}, "metadata must be a dict, not str", "json.loads(metadata)"),
            ("add_memory", {"metadata": {1: 2}}, "a key of metadata must be text, not int", "signature"),
            ("set_policy", {"settings": None}, "settings must be a dict, not None", "Pass a dict"),
            ("add_messages", {"messages": "Hi"}, "messages must be a list of dicts, not str", "signature"),
            ("add_messages", {"messages": {}}, "messages must be a list of dicts, not dict", "Pass [messages]."),
            ("add_messages", {"messages": ["Hi"]}, "messages[0] must be a dict, not str", '{"role": "user", '),
            ("add_messages", {"messages": iter([])}, "messages must be a list of dicts, not", "list(messages)"),
            ("add_messages", {"messages": [Reply()]}, "messages[0] must be a dict, not Reply", "model_dump()"),
            ("search", {"query_embedding": b"12"}, "query_embedding must be a sequence of numbers", "floats"),
            ("search", {"query_embedding": {1: 2}}, "query_embedding must be a sequence of numbers", "floats"),
        ],
    )
    def test_a_wrong_type_is_refused(
        self, memory: Memory, function: str, argument: dict[str, Any], problem: str, hint: str
    ) -> None:
        required: dict[str, dict[str, Any]] = {
            "add_memory": {"user_id": "ana", "content": "x"},
            "add_messages": {"user_id": "ana", "thread_id": "t"},
            "claim_jobs": {"worker": "me"},
            "set_policy": {},
        }
        home = {"claim_jobs": WorkerProtocol(memory.caller), "set_policy": memory.admin}.get(function, memory)
        with pytest.raises(InvalidValueError) as raised:
            getattr(home, function)(**{**required.get(function, {"user_id": "ana"}), **argument})
        assert raised.value.message.startswith(problem)
        assert hint in (raised.value.hint or "")

    def test_values_that_come_close_to_a_type_are_taken(self, memory: Memory) -> None:
        class Kind(str, Enum):
            PREFERENCE = "preference"

        memory_id = memory.add_memory(
            "ana",
            "Likes tea",
            Kind.PREFERENCE,
            metadata=MappingProxyType({"a": (1, 2)}),
            tags=("drinks",),
            confidence=1,
            importance=numpy.float64(0.5),
            expires_at=datetime(2100, 1, 1, tzinfo=timezone(timedelta(hours=2))),
        ).memory_id
        record = memory.get_memory("ana", f"{{{str(memory_id).upper()}}}")
        assert (record.memory_type, record.metadata, record.tags) == ("preference", {"a": [1, 2]}, ["drinks"])
        assert (record.confidence, record.importance) == (1, 0.5)
        assert record.expires_at == datetime(2099, 12, 31, 22, tzinfo=timezone.utc)
        with pytest.warns(DegradedWarning):
            assert memory.render_memories("ana", query_embedding=numpy.array([1, 2], "float32")) != ""

    def test_an_error_leaves_the_pool_usable(self, dsn: str) -> None:
        with Memory(dsn, pool_size=1) as memory:
            for _ in range(3):
                with pytest.raises(InvalidValueError):
                    memory.list_threads("")
            assert memory.list_threads("ana") == []
