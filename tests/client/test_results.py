"""Results of the client: what each method returns, as typed rows."""

import pickle
import uuid
from dataclasses import asdict, replace
from datetime import datetime, timedelta, timezone

import pytest
from agent_memory import (
    DegradedWarning,
    Memory,
    StoredMessage,
)

from tests.support.sqlapi import Api, rolled_back
from tests.values.bad_arguments import NEED_PGCRYPTO, VALID
from tests.values.valid_calls import make_calls_work

WRITTEN_FOR_SQL = {"delete_messages", "keep_query_embedding", "put_checkpoint", "put_checkpoint_writes"}
"""The table has their lists as texts, which a client refuses."""
NOT_WITHIN_A_TRANSACTION = {"run_jobs", "schedule_jobs"}


@pytest.fixture
def memory(api: Api) -> Memory:
    return Memory(api.connection)


class TestResults:
    def test_messages(self, memory: Memory) -> None:
        stored = memory.add_message("ana", "t1", "user", "Hello", metadata={"channel": "mail"})
        assert stored == StoredMessage(seq=0, content="Hello", token_count=2, memory_ref=None)
        later = datetime(2030, 1, 1, tzinfo=timezone.utc)
        memory.add_messages(
            "ana",
            "t1",
            [
                {"role": "assistant", "content": "Hi", "created_at": later},
                {"role": "user", "name": "Ana", "content": "Bye"},
            ],
            agent_id="helper",
        )
        first, second, third = memory.get_messages("ana", "t1")
        assert (first.metadata, first.agent_id, first.is_active) == ({"channel": "mail"}, "default", True)
        assert first.expires_at is not None
        assert first.expires_at - first.created_at == timedelta(days=7)
        assert (second.created_at, second.agent_id) == (later, "helper")
        assert third.metadata == {"name": "Ana"}
        assert [message.seq for message in memory.get_messages("ana", "t1", recent_k=1)] == [2]

    def test_search_and_context(self, memory: Memory) -> None:
        memory.add_memory("ana", "Allergic to hazelnuts", metadata={"from": "chat"})
        memory.add_message("ana", "t1", "user", "What am I allergic to?")
        [result] = memory.search("ana", "allergic", mode="keyword", filter={"from": "chat"}, explain=True, top_k=3)
        assert (result.source, result.content, result.metadata) == (
            "memory",
            "Allergic to hazelnuts",
            {"from": "chat"},
        )
        assert 0 < result.score <= 1
        assert [(part.ordinal, part.role, part.source) for part in memory.get_context("ana", "t1", "allergic")] == [
            (1, "system", "memories"),
            (2, "user", "message"),
        ]
        explained = memory.get_context("ana", "t1", "allergic", recall=False, explain=True)
        assert explained[-1].ordinal is None
        assert explained[-1].metadata["reason"] == "the call switches recall off"
        assert [message["role"] for message in explained.to_openai()] == ["system", "user"]
        # No embedding model is active, so what the vector does is not the point: it arrives as one.
        with pytest.warns(DegradedWarning):
            assert memory.render_memories("ana", query_embedding=[0.5, 1, -2e-9]) != ""

    def test_infinite_times(self, memory: Memory) -> None:
        memory.add_message("ana", "t1", "user", "Keep this", expires_at=datetime.max)
        assert memory.get_messages("ana", "t1")[0].expires_at is None
        memory_id = memory.add_memory("ana", "Brief", expires_at=datetime(2100, 1, 1, tzinfo=timezone.utc)).memory_id
        memory.update_memory("ana", memory_id, expires_at=datetime.max.replace(tzinfo=timezone.utc))
        assert memory.get_memory("ana", memory_id).expires_at is None

    @pytest.mark.parametrize("moment", ["infinity", "0044-03-15 BC"])
    def test_a_time_that_datetime_cannot_hold_breaks_no_list(self, api: Api, memory: Memory, moment: str) -> None:
        memory.add_memory("ana", "Brief")
        api.connection.execute("alter table memory.memories disable trigger user")
        api.connection.execute("update memory.memories set valid_from = %s, created_at = %s", (moment, moment))
        [row] = memory.list_memories("ana")
        assert {row.valid_from, row.created_at} == {None}

    def test_columns_of_a_newer_database_are_ignored(self, api: Api, memory: Memory) -> None:
        memory.add_message("ana", "t1", "user", "x")
        definition = "returns table (thread_id text, title text, metadata jsonb, message_count bigint,"
        api.connection.execute("drop function memory.list_threads")
        api.connection.execute(
            f"create function memory.list_threads(user_id text) {definition} active_tokens bigint,"
            " first_at timestamptz, last_at timestamptz, total_count bigint, mood text) begin atomic"
            " select 't1', null::text, jsonb '{}', 1, 1, now(), now(), 1, 'new'; end"
        )
        assert memory.list_threads("ana")[0].thread_id == "t1"


def test_results_are_plain_data(memory: Memory) -> None:
    memory.add_message("ana", "t1", "user", "x")
    [message] = memory.get_messages("ana", "t1")
    assert asdict(message)["content"] == "x"
    assert pickle.loads(pickle.dumps(message)) == message


def test_metadata_comes_back_as_it_was(memory: Memory) -> None:
    key, moment = uuid.uuid4(), datetime(2025, 5, 1, tzinfo=timezone.utc)
    metadata = {"ä": ["\n\\", 1, -2.5, 10**30, 1.5, None, True, {"": []}]}
    memory.add_message("ana", "t1", "user", "x", metadata={**metadata, "key": key, "moment": moment})
    stored = {**metadata, "key": str(key), "moment": moment.isoformat()}
    assert memory.get_messages("ana", "t1")[0].metadata == stored


def test_results_print_short(memory: Memory) -> None:
    tea = memory.add_memory("ana", f"Prefers green tea, {'really ' * 100}", "preference", metadata={"a": 1}).memory_id
    memory.add_message("ana", "t1", "user", "Which tea\ndo I prefer?")
    [found] = memory.search("ana", "green tea", mode="keyword", sources=["memory"])
    assert str(found).startswith(f"{found.score:.2f} memory {found.created_at:%Y-%m-%d}: Prefers green tea, really")
    assert repr(found).startswith(f"SearchResult(source='memory', id='{tea}', content='Prefers green tea, really")
    assert "metadata={'a': 1}" in repr(found)
    assert "thread_id" not in repr(found)
    record = memory.get_memory("ana", tea)
    assert f"memory_id={tea}, memory_type='preference'" in repr(record)
    for printed in (str(found), repr(found), str(record), repr(record)):
        assert "…" in printed
        assert len(printed) < 500
    [message] = memory.get_messages("ana", "t1")
    assert str(message) == "user: Which tea do I prefer?"
    assert str(replace(message, content="a\x1b[2Jb")) == "user: a␛[2Jb"
    assert str(memory.get_context("ana", "t1")[-1]) == "user (message, 14 tokens): Which tea do I prefer?"


@pytest.mark.filterwarnings("ignore::agent_memory.DegradedWarning")
def test_each_method_answers_as_its_function_does(api: Api) -> None:
    """With the call of the table that works in SQL: something where there is something, and nothing where not."""
    make_calls_work(api)
    memory = Memory(api.connection)
    called = 0
    for name, arguments in VALID.items():
        method = getattr(memory, name, None) or getattr(memory.admin, name, None)
        if method is None or name in {*NEED_PGCRYPTO, *WRITTEN_FOR_SQL, *NOT_WITHIN_A_TRANSACTION}:
            continue
        with rolled_back(api):
            by_function = getattr(api, name)(**arguments)
        with rolled_back(api):
            by_method = method(**arguments)
        called += 1
        assert bool(by_method) == bool(by_function), name
    assert called > 70
