"""The client against a real server: typed results, transactions, pools, the asynchronous twin, and errors."""

import asyncio
import linecache
import logging
import re
import time
import traceback
import uuid
import warnings
from collections.abc import Callable
from dataclasses import asdict
from datetime import date, datetime, timedelta, timezone
from enum import Enum
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

import numpy
import psycopg
import pytest
from agent_memory import (
    AddedMemory,
    AgentMemoryError,
    AsyncMemory,
    Backfill,
    ConflictError,
    DegradedWarning,
    InvalidValueError,
    LeaseLostError,
    LimitExceededError,
    Memory,
    NotFoundError,
    NotInstalledError,
    PermissionDeniedError,
    RetryableError,
    StoredArtifact,
    StoredMessage,
)
from agent_memory.install import install
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.rows import namedtuple_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolClosed, PoolTimeout

from tests.support.servers import Server


@pytest.fixture
def memory(db: psycopg.Connection) -> Memory:
    return Memory(db)


def record_levels(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.levelname for record in caplog.records]


class Reply:
    """Like a message of the package openai."""

    def model_dump(self) -> dict[str, Any]:
        raise AssertionError


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


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

    def test_threads(self, memory: Memory) -> None:
        memory.add_message("ana", "t1", "user", "Hello")
        [thread] = memory.list_threads("ana")
        assert (thread.thread_id, thread.message_count, thread.total_count) == ("t1", 1, 1)
        assert memory.get_thread_summary("ana", "t1") is None
        assert memory.clear_thread("ana", "t1") == 1
        assert memory.get_messages("ana", "t1") == []
        assert memory.delete_thread("ana", "t1") == 1

    def test_memories(self, memory: Memory) -> None:
        added = memory.add_memory("ana", "Likes tea", "preference", tags=["drinks"], confidence=0.9, importance=1)
        assert isinstance(added, AddedMemory)
        assert added.inserted
        assert memory.add_memory("ana", "likes  TEA", "preference") == AddedMemory(added.memory_id, inserted=False)
        assert memory.update_memory("ana", added.memory_id, content="Likes green tea", expected_version=1) == 2
        record = memory.get_memory("ana", str(added.memory_id))
        assert (record.content, record.tags, record.version) == ("Likes green tea", ["drinks"], 2)
        assert record.confidence == pytest.approx(0.9)
        assert record.created_at.tzinfo is not None
        assert [version.content for version in memory.get_memory_history("ana", added.memory_id)] == [
            "Likes tea",
            "Likes green tea",
        ]
        newer = memory.add_memory("ana", "Likes coffee", "preference")
        memory.supersede_memory("ana", added.memory_id, newer.memory_id, "changed her mind")
        assert [item.content for item in memory.list_memories("ana")] == ["Likes coffee"]
        assert memory.restore_memory("ana", added.memory_id) == 4
        assert memory.list_memories("ana", search="green", tags_all=["drinks"])[0].total_count == 1
        assert memory.count_memories("ana", search="green", tags_all=["drinks"]) == 1
        assert "1. Likes" in memory.render_memories("ana", max_memories=1)
        assert memory.delete_memory("ana", newer.memory_id) is True
        assert memory.delete_memory("ana", newer.memory_id) is False

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
        # No embedding model is active, so what the vector does is not the point: it arrives as one.
        with pytest.warns(DegradedWarning):
            assert memory.render_memories("ana", query_embedding=[0.5, 1, -2e-9]) != ""

    def test_jobs(self, memory: Memory) -> None:
        memory.add_message("ana", "t1", "user", "My name is Ana.")
        job_id = memory.extract_memories("ana", "t1", recent_k=5)
        assert memory.get_job("ana", job_id).status == "pending"
        [job] = memory.claim_jobs("me", kinds=["extract_memories"], max_jobs=5, lease=timedelta(seconds=30))
        assert (job.job_id, job.user_id, job.attempt) == (job_id, "ana", 1)
        assert job.payload["messages"][0]["content"] == "My name is Ana."
        memory.extend_job("ana", job_id, job.lease_token, timedelta(minutes=1))
        memory.release_job("ana", job_id, job.lease_token)
        [job] = memory.claim_jobs("me")
        assert memory.fail_job("ana", job_id, job.lease_token, "no luck", retry_after=timedelta(hours=1)) == "pending"
        memory.retry_job("ana", job_id)
        [job] = memory.claim_jobs("me")
        found = {"content": "My name is Ana.", "memory_type": "fact", "confidence": 0.9, "importance": 0.9, "seqs": [0]}
        memory.complete_job("ana", job_id, job.lease_token, {"memories": [found]})
        done = memory.get_job("ana", job_id)
        assert (done.status, done.error) == ("completed", None)
        assert done.result is not None
        assert done.finished_at is not None
        assert isinstance(memory.summarize_thread("ana", "t1", recent_k=3), int)

    @pytest.mark.feature("F7")
    def test_calls_of_models_are_entered(self, db: psycopg.Connection, memory: Memory) -> None:
        memory.add_message("ana", "t1", "user", "My name is Ana.")
        job_id = memory.extract_memories("ana", "t1")

        def lease() -> tuple[str, int, uuid.UUID]:
            [job] = memory.claim_jobs("me")
            return job.user_id, job.job_id, job.lease_token

        def call(tokens: int, error: str | None = None) -> list[dict[str, Any]]:
            return [{"model": "local", "tokens_in": tokens, "tokens_out": 1, "duration_ms": 12, "error": error}]

        memory.release_job(*lease(), calls=call(1, "slow down"))
        memory.fail_job(*lease(), "no luck", retry_after=timedelta(0), calls=call(2, "no luck"))
        memory.complete_job(*lease(), {"memories": []}, calls=call(3))
        memory.record_calls("ana", job_id, call(4, "cancelled"))
        ledger = db.execute("select tokens_in, tokens_out, duration_ms, error from memory.model_calls order by 1")
        assert ledger.fetchall() == [
            (1, 1, 12, "slow down"),
            (2, 1, 12, "no luck"),
            (3, 1, 12, None),
            (4, 1, 12, "cancelled"),
        ]

    def test_summaries(self, memory: Memory) -> None:
        memory.add_messages("ana", "t1", [{"role": role, "content": f"{role} 1"} for role in ("user", "assistant")])
        requests = [
            memory.summarize_thread("ana", "t1"),
            memory.summarize_user("ana"),
            memory.compress_thread("ana", "t1"),
        ]
        assert len(set(requests)) == 3
        assert (memory.get_thread_summary("ana", "t1", kind="rolling"), memory.get_user_summary("ana")) == (None, None)
        for kind in ("summarize_thread", "summarize_user"):
            [job] = memory.claim_jobs("me", kinds=[kind])
            result = {"summary": f"by {kind}", "metadata": {"topics": ["x"]}}
            memory.complete_job(job.user_id, job.job_id, job.lease_token, result, calls=[])
        thread, user = memory.get_thread_summary("ana", "t1", kind="rolling"), memory.get_user_summary("ana")
        assert thread is not None
        assert user is not None
        assert (thread.summary, thread.start_seq, thread.end_seq) == ("by summarize_thread", 0, 1)
        assert (user.summary, user.metadata) == ("by summarize_user", {"topics": ["x"]})
        assert memory.get_thread_summary("ana", "t1", kind="thread") is None

    def test_work_over_the_memories_of_a_user(self, memory: Memory) -> None:
        jobs = [memory.reconcile_memories("ana", n=7), memory.consolidate("ana")]
        assert [memory.get_job("ana", job_id).kind for job_id in jobs] == ["reconcile_memories", "consolidate"]

    def test_documents(self, memory: Memory) -> None:
        ids = [
            memory.add_document("ana", "Tea", f"Part {number}", "notes", "article", {"part": number})
            for number in (1, 2, 3)
        ]
        assert {document.document_id for document in memory.list_documents("ana")} == set(ids)
        assert memory.list_documents("ana")[0].metadata == {"part": 3}
        first, second = memory.list_documents("ana", namespace="notes", doc_type="article", row_limit=2)
        assert (first.namespace, first.doc_type, first.content, first.thread_id) == ("notes", "article", "Tea", None)
        assert first.title != second.title
        assert first.total_count == 3
        assert memory.list_documents("ana", doc_type="conversation") == []
        assert memory.list_documents("bob") == []
        assert memory.delete_document("ana", str(first.document_id)) is True
        assert memory.delete_document("ana", first.document_id) is False
        assert first.document_id not in {document.document_id for document in memory.list_documents("ana")}

    def test_artifacts(self, memory: Memory) -> None:
        stored = memory.store_artifact(
            "ana",
            "Green tea ☕",
            "Tea",
            "log",
            "file",
            "cook",
            "t1",
            {"part": 1},
            datetime(2999, 1, 1, tzinfo=timezone.utc),
        )
        assert stored == StoredArtifact("log", "[MemoryRef: log - Tea - 4 tokens]", 4)
        assert memory.retrieve_artifact("ana", "log") == "Green tea ☕"
        assert [memory.retrieve_artifact("ana", "log", start, 2) for start in (0, 2, 4)] == ["Green te", "a ☕", ""]
        plain = memory.store_artifact("ana", "Black tea")
        [artifact] = memory.list_artifacts("ana", artifact_type="file", thread_id="t1")
        assert (artifact.key, artifact.memory_ref, artifact.description) == ("log", stored.memory_ref, "Tea")
        assert (artifact.agent_id, artifact.metadata, artifact.total_count) == ("cook", {"part": 1}, 1)
        assert artifact.expires_at == datetime(2999, 1, 1, tzinfo=timezone.utc)
        newest = memory.list_artifacts("ana", row_limit=1)[0]
        assert (newest.key, newest.artifact_type, newest.expires_at) == (plain.key, "command_output", None)
        hits = memory.search("ana", "tea", mode="keyword", sources=["artifact"])
        assert {hit.content for hit in hits} == {stored.memory_ref, plain.memory_ref}
        with pytest.raises(ConflictError):
            memory.store_artifact("ana", "Coffee", key="log")
        with pytest.raises(NotFoundError):
            memory.retrieve_artifact("bob", "log")
        assert [memory.delete_artifact(user_id, "log") for user_id in ("bob", "ana", "ana")] == [False, True, False]
        assert [artifact.key for artifact in memory.list_artifacts("ana")] == [plain.key]

    def test_documents_are_searched_by_type_and_namespace(self, memory: Memory) -> None:
        plain = memory.add_document("ana", "Green tea")
        guide = memory.add_document("ana", "Black tea", "On tea", namespace="notes", doc_type="guide")
        memory.add_memory("ana", "Likes tea")

        def found(**choice: Any) -> set[str]:
            return {result.id for result in memory.search("ana", "tea", mode="keyword", sources=["document"], **choice)}

        assert found() == {str(plain), str(guide)}
        assert found(doc_types=["guide", "article"]) == found(namespaces=["notes"]) == {str(guide)}
        assert found(doc_types=["document"], namespaces=["notes"]) == set()
        [result] = memory.search("ana", "black", mode="keyword", sources=["document"])
        assert result.details is not None
        assert (result.details["title"], result.details["namespace"], result.details["doc_type"]) == (
            "On tea",
            "notes",
            "guide",
        )

    @pytest.mark.feature("E9")
    def test_prompts(self, db: psycopg.Connection, memory: Memory) -> None:
        edited = memory.set_prompt("consolidate", "Merge what belongs together. {{memories}}")
        assert memory.reset_prompt("consolidate") == edited + 1
        with pytest.raises(InvalidValueError, match="memories"):
            memory.set_prompt("consolidate", "Merge what belongs together.")
        with pytest.raises(NotFoundError) as raised:
            memory.reset_prompt("nonsense")
        assert "consolidate" in (raised.value.hint or "")
        prompt = db.execute("select version, is_default from memory.prompts where name = 'consolidate'").fetchone()
        assert prompt == (edited + 1, True)

    def test_schedule_jobs_needs_pg_cron(self, memory: Memory) -> None:
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="pg_cron"):
            memory.schedule_jobs(every="30 seconds", sweep_at="0 4 * * *")

    def test_administration(self, memory: Memory) -> None:
        memory.set_policy({"messages": {"expires_after": None}, "context": {"max_tokens": 123}}, user_id="ana")
        assert memory.get_policy(user_id="ana")["context"]["max_tokens"] == 123
        assert memory.get_policy()["context"]["max_tokens"] == 4000
        memory.register_model("small", "chat", "openai", "some-model", {"base_url": "http://localhost:1/v1"})
        memory.activate_model("small")
        assert set(memory.sweep(batch_size=10)) >= {"messages"}
        assert memory.version().count(".") == 2
        assert "version" in {check.check_name for check in memory.doctor()}

    def test_embedding_models(self, memory: Memory) -> None:
        assert memory.backfill_status() == []
        memory.add_memory("ana", "Likes tea")
        for name in ("old", "new"):
            memory.register_model(name, "embedding", "openai", "some-model", {"base_url": "http://localhost:1/v1"})
        memory.activate_model("new")
        assert {status.model: status for status in memory.backfill_status()} == {
            "old": Backfill("old", done=0, total=1, is_active=False),
            "new": Backfill("new", done=0, total=1, is_active=True),
        }
        with pytest.raises(ConflictError, match="new"):
            memory.drop_model("new")
        memory.deactivate_model("new")
        assert [status.is_active for status in memory.backfill_status()] == [False, False]
        memory.activate_model("new")
        memory.drop_model("old")
        assert [status.model for status in memory.backfill_status()] == ["new"]
        with pytest.raises(NotFoundError):
            memory.drop_model("old")
        memory.register_model("short", "embedding", "openai", "some-model", {"dimensions": 3})
        [statement] = memory.vector_index("short")
        assert statement.startswith("create index concurrently")
        with pytest.raises(InvalidValueError, match="model"):
            memory.vector_index("new")

    def test_infinite_times(self, memory: Memory) -> None:
        memory.add_message("ana", "t1", "user", "Keep this", expires_at=datetime.max)
        assert memory.get_messages("ana", "t1")[0].expires_at is None
        memory_id = memory.add_memory("ana", "Brief", expires_at=datetime(2100, 1, 1, tzinfo=timezone.utc)).memory_id
        memory.update_memory("ana", memory_id, expires_at=datetime.max.replace(tzinfo=timezone.utc))
        assert memory.get_memory("ana", memory_id).expires_at is None

    @pytest.mark.parametrize("moment", ["infinity", "-infinity", "0044-03-15 BC", "20000-01-01"])
    def test_a_time_that_datetime_cannot_hold_breaks_no_list(
        self, db: psycopg.Connection, memory: Memory, moment: str
    ) -> None:
        memory.add_memory("ana", "Brief")
        db.execute("alter table memory.memories disable trigger user")
        db.execute("update memory.memories set valid_from = %s, created_at = %s", (moment, moment))
        [row] = memory.list_memories("ana")
        assert {row.valid_from, row.created_at} == {None}

    def test_times_and_ids_inside_json_become_text(self, memory: Memory) -> None:
        key, moment = uuid.uuid4(), datetime(2025, 5, 1, tzinfo=timezone.utc)
        memory.add_message("ana", "t1", "user", "x", metadata={"key": key, "moment": moment})
        assert memory.get_messages("ana", "t1")[0].metadata == {"key": str(key), "moment": moment.isoformat()}

    def test_columns_of_a_newer_database_are_ignored(self, db: psycopg.Connection, memory: Memory) -> None:
        memory.add_message("ana", "t1", "user", "x")
        definition = "returns table (thread_id text, message_count bigint, active_tokens bigint, first_at timestamptz,"
        db.execute("drop function memory.list_threads")
        db.execute(
            f"create function memory.list_threads(user_id text) {definition} last_at timestamptz, total_count bigint,"
            " mood text) begin atomic select 't1', 1, 1, now(), now(), 1, 'new'; end"
        )
        assert memory.list_threads("ana")[0].thread_id == "t1"


class TestConnections:
    def test_calls_join_the_callers_transaction(self, dsn: str, memory: Memory) -> None:
        with psycopg.connect(dsn) as connection:
            Memory(connection).add_message("ana", "t1", "user", "never mind")
            assert memory.get_messages("ana", "t1") == []
            connection.rollback()
            assert memory.get_messages("ana", "t1") == []
            Memory(connection).add_message("ana", "t1", "user", "keep")
        assert [message.content for message in memory.get_messages("ana", "t1")] == ["keep"]

    def test_a_passed_connection_stays_open_and_as_it_was(self, db: psycopg.Connection) -> None:
        db.row_factory = namedtuple_row
        db.cursor_factory = psycopg.RawCursor
        with Memory(db) as memory:
            assert memory.add_message("ana", "t1", "user", "x").seq == 0
        assert db.execute("select 1 as one").fetchone() == (1,)

    def test_pool(self, dsn: str) -> None:
        with ConnectionPool(dsn, min_size=1, open=True) as pool:
            memory = Memory(pool)
            memory.add_message("ana", "t1", "user", "committed")
            with pytest.raises(InvalidValueError):
                memory.add_message("ana", "t1", "nobody", "x")
            memory.close()
            assert len(memory.get_messages("ana", "t1")) == 1

    def test_connection_string(self, dsn: str) -> None:
        with Memory(dsn, pool_size=2) as memory:
            assert memory.add_message("ana", "t1", "user", "x").seq == 0
        with pytest.raises(psycopg.OperationalError):
            memory.version()

    def test_an_unreachable_server_is_reported_at_once(self, caplog: pytest.LogCaptureFixture) -> None:
        async def twin() -> None:
            async with AsyncMemory("host=/nonexistent") as memory:
                await memory.version()

        started = time.monotonic()
        with Memory("host=/nonexistent") as memory, pytest.raises(psycopg.OperationalError, match="/nonexistent"):
            memory.version()
        with pytest.raises(psycopg.OperationalError, match="/nonexistent"):
            asyncio.run(twin())
        assert time.monotonic() - started < 5
        assert caplog.records == []

    def test_anything_else_is_refused(self) -> None:
        with pytest.raises(TypeError, match="one of Connection, ConnectionPool, str, not int"):
            Memory(5)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="one of AsyncConnection, AsyncConnectionPool, str, not ConnectionPool"):
            AsyncMemory(ConnectionPool("", open=False))  # type: ignore[arg-type]

    def test_run_jobs_refuses_a_transaction(self, dsn: str) -> None:
        with psycopg.connect(dsn) as connection:
            memory = Memory(connection)
            memory.version()
            with pytest.raises(AgentMemoryError, match="inside a transaction"):
                memory.run_jobs()

    @pytest.mark.parametrize("autocommit", [True, False])
    def test_run_jobs(self, server: Server, dsn: str, autocommit: bool) -> None:
        if not server.has_plpython:
            pytest.skip("this server has no plpython3u")
        with psycopg.connect(dsn, autocommit=autocommit) as connection:
            memory = Memory(connection)
            memory.add_message("ana", "t1", "user", "My name is Ana.")
            job_id = memory.extract_memories("ana", "t1")
            connection.commit()
            memory.run_jobs(max_jobs=10)
            assert connection.autocommit == autocommit
            assert memory.get_job("ana", job_id).status == "completed"


class TestAsync:
    @pytest.mark.feature("A17", "E17")
    def test_the_twin_does_the_same(self, dsn: str, memory: Memory) -> None:
        async def scenario(twin: AsyncMemory) -> tuple[list[Any], list[Any]]:
            await twin.add_message("ana", "t1", "user", "Hello")
            await twin.add_memory("ana", "Likes tea")
            with pytest.raises(NotFoundError):
                await twin.get_memory("ana", uuid.uuid4())
            return await twin.get_messages("ana", "t1"), await twin.list_memories("ana")

        async def from_connection_string() -> tuple[list[Any], list[Any]]:
            async with AsyncMemory(dsn) as twin:
                return await scenario(twin)

        assert asyncio.run(from_connection_string()) == (memory.get_messages("ana", "t1"), memory.list_memories("ana"))

    def test_connection_and_pool(self, dsn: str, memory: Memory) -> None:
        async def scenario() -> None:
            async with await psycopg.AsyncConnection.connect(dsn) as connection:
                await AsyncMemory(connection).add_message("ana", "t1", "user", "never mind")
                await connection.rollback()
            async with AsyncConnectionPool(dsn, min_size=2, open=False) as pool:
                twin = AsyncMemory(pool)
                await asyncio.gather(*(twin.add_message("ana", "t1", "user", str(number)) for number in range(10)))

        asyncio.run(scenario())
        assert sorted(message.content for message in memory.get_messages("ana", "t1")) == list("0123456789")

    def test_one_connection_serves_concurrent_calls(self, dsn: str, caplog: pytest.LogCaptureFixture) -> None:
        async def scenario() -> None:
            async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
                twin = AsyncMemory(connection)
                await twin.add_memory("ana", "Likes tea")
                await asyncio.gather(*(twin.search("ana", "tea") for _ in range(5)))

        with caplog.at_level(logging.INFO, logger="agent_memory"), pytest.warns(DegradedWarning) as caught:
            asyncio.run(scenario())
        assert (len(caplog.records), len(caught)) == (5, 1)


class TestDegraded:
    NO_MODEL = "searching by keyword only, no embedding model is active"

    @pytest.fixture(autouse=True)
    def _tea(self, memory: Memory) -> None:
        memory.add_memory("ana", "Likes tea")

    def test_a_cause_is_warned_of_once_and_logged_each_time(
        self, dsn: str, memory: Memory, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.INFO, logger="agent_memory"), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(3):
                assert len(memory.search("ana", "tea")) == 1
            with Memory(dsn) as other:
                other.search("bo", "coffee")
            [warning] = caught
            assert str(warning.message).startswith(f"{self.NO_MODEL}. Register and activate an embedding model")
            assert warning.category is DegradedWarning
            assert (record_levels(caplog), caplog.messages) == (["INFO"] * 4, [f"degraded: {self.NO_MODEL}"] * 4)

            memory.search("ana", "tea", rerank=True)
            assert [str(warning.message).partition(".")[0] for warning in caught[1:]] == [
                "results are not reranked, no rerank model is active"
            ]

    def test_a_cause_is_the_same_for_other_names_and_numbers(self, db: psycopg.Connection, memory: Memory) -> None:
        notice = """raise notice 'degraded: model "%" took % ms (request %)', user_id, row_limit, 'r' || row_limit;"""
        db.execute(
            "create or replace function memory.list_threads(user_id text, row_limit int default 50,"
            " row_offset int default 0) returns setof memory.thread language plpgsql"
            f" as $$ begin {notice} end $$"
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for number in range(5):
                memory.list_threads(f"model {number}", row_limit=number + 1)
        assert [str(warning.message) for warning in caught] == ['model "model 0" took 1 ms (request r1)']

    def test_the_warning_points_at_the_line_that_called(self, dsn: str, memory: Memory) -> None:
        async def scenario() -> None:
            async with AsyncMemory(dsn) as twin:
                await twin.search("ana", "tea", rerank=True, query_embedding=[1.0])

        with pytest.warns(DegradedWarning) as caught:
            memory.search("ana", "tea")
        [warning] = caught
        assert (warning.filename, linecache.getline(warning.filename, warning.lineno).strip()) == (
            __file__,
            'memory.search("ana", "tea")',
        )
        with pytest.warns(DegradedWarning) as caught:
            asyncio.run(scenario())
        assert [linecache.getline(warning.filename, warning.lineno).strip() for warning in caught] == [
            'await twin.search("ana", "tea", rerank=True, query_embedding=[1.0])'
        ]
        memory.add_message("ana", "t1", "user", "tea?")
        with pytest.warns(DegradedWarning, match="max_tokens") as caught:
            memory.get_context("ana", "t1", max_tokens=1)
        assert {warning.filename for warning in caught} == {__file__}

    def test_a_model_dropped_too_early(self, db: psycopg.Connection, memory: Memory) -> None:
        for name in ("old", "new"):
            memory.register_model(name, "embedding", "openai", "some-model", {"dimensions": 3})
            memory.activate_model(name)
        db.execute("update memory.models set dimensions = 3 where name = 'old'")
        with pytest.warns(DegradedWarning, match="until the backfill of the other embedding models is finished"):
            memory.drop_model("old")

    def test_as_an_error_it_comes_after_the_work(self, dsn: str) -> None:
        with ConnectionPool(dsn, min_size=1, max_size=1, open=True) as pool:
            for _ in range(2):
                with pytest.raises(DegradedWarning):
                    Memory(pool).search("ana", "tea")
            assert pool.get_stats()["pool_available"] == 1
            with pool.connection() as connection:
                assert connection.info.transaction_status == TransactionStatus.IDLE


class TestErrors:
    @pytest.mark.parametrize(
        ("error", "sqlstate", "call"),
        [
            (InvalidValueError, "22023", lambda memory: memory.add_message("", "t", "user", "x")),
            (InvalidValueError, "22023", lambda memory: memory.add_messages("ana", "t", [{"role": "user"}])),
            (NotFoundError, "P0002", lambda memory: memory.get_memory("ana", uuid.uuid4())),
            (ConflictError, "23505", lambda memory: memory.add_memory("ana", "Likes tea", on_conflict="error")),
            (LimitExceededError, "54000", lambda memory: memory.add_message("ana", "t", "user", "x" * 10485761)),
            (LeaseLostError, "AM001", lambda memory: memory.complete_job("ana", 1, uuid.uuid4(), {})),
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

    def test_version_conflict_is_retryable(self, memory: Memory) -> None:
        memory_id = memory.add_memory("ana", "Likes tea").memory_id
        with pytest.raises(RetryableError, match="expected_version"):
            memory.update_memory("ana", memory_id, content="Likes coffee", expected_version=7)

    def test_what_the_api_does_not_define_stays_a_psycopg_error(self, db: psycopg.Connection, memory: Memory) -> None:
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
            ("list_threads", {"user_id": 1.5}, "user_id must be text, not float", "Pass str(user_id)."),
            ("list_threads", {"user_id": True}, "user_id must be text, not bool", "Pass str(user_id)."),
            ("list_threads", {"user_id": None}, "user_id must be text, not None", "signature"),
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
            ("set_policy", {"settings": None}, "settings must be a dict, not None", "signature"),
            ("add_messages", {"messages": "Hi"}, "messages must be a list of dicts, not str", "signature"),
            ("add_messages", {"messages": {}}, "messages must be a list of dicts, not dict", "Pass [messages]."),
            ("add_messages", {"messages": ["Hi"]}, "messages[0] must be a dict, not str", "signature"),
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
        with pytest.raises(InvalidValueError) as raised:
            getattr(memory, function)(**{**required.get(function, {"user_id": "ana"}), **argument})
        assert raised.value.message.startswith(problem)
        assert hint in (raised.value.hint or "")

    def test_what_comes_close_is_taken(self, memory: Memory) -> None:
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
            assert memory.render_memories("ana", query_embedding=numpy.array([1, 2], "float32")) != ""  # type: ignore[arg-type]

    def test_an_error_leaves_the_pool_usable(self, dsn: str) -> None:
        with Memory(dsn, pool_size=1) as memory:
            for _ in range(3):
                with pytest.raises(InvalidValueError):
                    memory.list_threads("")
            assert memory.list_threads("ana") == []


class TestSetup:
    """What somebody meets whose database, role or connection is not what the client needs."""

    def test_no_agent_memory(self, server: Server, empty_dsn: str) -> None:
        async def twin() -> None:
            async with AsyncMemory(empty_dsn) as memory:
                await memory.version()

        dbname = conninfo_to_dict(empty_dsn)["dbname"]
        with psycopg.connect(empty_dsn) as in_transaction, Memory(empty_dsn) as pooled:
            for call in (Memory(in_transaction).version, pooled.version, lambda: asyncio.run(twin())):
                with pytest.raises(NotInstalledError) as raised:
                    call()
                assert raised.value.sqlstate == "3F000"
                where = f'database "{dbname}" on {server.host}:{server.port}'
                assert raised.value.message == f"there is no agent_memory in {where}"
                named = f"host={server.host} port={server.port} dbname={dbname}"
                assert raised.value.hint == f"Run, as the owner of the database: agent-memory install --dsn '{named}'"
                assert isinstance(raised.value.__cause__, psycopg.Error)

    def test_a_password_is_not_shown(self, empty_dsn: str) -> None:
        with (
            Memory(make_conninfo(empty_dsn, password="secret-word")) as memory,
            pytest.raises(NotInstalledError) as raised,
        ):
            memory.version()
        assert "secret-word" not in "".join(traceback.format_exception(raised.value))

    def test_a_schema_of_that_name_is_not_agent_memory(self, empty_dsn: str) -> None:
        with psycopg.connect(empty_dsn, autocommit=True) as connection:
            connection.execute("create schema memory")
            with pytest.raises(NotInstalledError, match="there is no agent_memory in database"):
                Memory(connection).list_threads("ana")

    @pytest.mark.parametrize(
        ("installed", "instead"), [("0.0.9", "agent-memory install --dsn"), ("99.0.0", "pip install --upgrade")]
    )
    def test_an_other_version(self, dsn: str, db: psycopg.Connection, installed: str, instead: str) -> None:
        db.execute(f"create or replace function memory.version() returns text language sql return '{installed}'")
        db.execute("drop function memory.consolidate")
        with pytest.raises(NotInstalledError) as raised:
            Memory(db).consolidate("ana")
        assert f"has agent_memory {installed}; this client is {version('pg-agent-memory')}: " in raised.value.message
        assert "function memory.consolidate(" in raised.value.message
        assert instead in (raised.value.hint or "")
        # Nobody can be asked in a transaction that has failed.
        with psycopg.connect(dsn) as connection, pytest.raises(NotInstalledError, match="or an older one"):
            Memory(connection).consolidate("ana")

    def test_an_argument_of_a_newer_version(self, db: psycopg.Connection, memory: Memory) -> None:
        db.execute("drop function memory.reconcile_memories")
        db.execute("create function memory.reconcile_memories(user_id text) returns bigint language sql return 1")
        with pytest.raises(NotInstalledError, match=r"this client is .*reconcile_memories"):
            memory.reconcile_memories("ana", n=5)

    def test_a_column_of_a_newer_version(self, db: psycopg.Connection, memory: Memory) -> None:
        db.execute("drop function memory.doctor")
        db.execute("create function memory.doctor() returns table (check_name text) language sql return 'x'")
        with pytest.raises(NotInstalledError, match="a Check lacks ok, detail") as raised:
            memory.doctor()
        assert raised.value.hint == "Run: agent-memory install"

    def test_a_function_that_a_trigger_misses_is_none_of_ours(self, db: psycopg.Connection, memory: Memory) -> None:
        db.execute(
            "create function mine() returns trigger language plpgsql as 'begin perform nonsense(); return new; end'"
        )
        db.execute("create trigger mine before insert on memory.messages for each row execute function mine()")
        with pytest.raises(psycopg.errors.UndefinedFunction, match="nonsense"):
            memory.add_message("ana", "t1", "user", "Hi")

    def test_missing_grants_are_named(self, db: psycopg.Connection, memory: Memory) -> None:
        grants = ["grant usage on schema memory to", "grant execute on function memory.list_threads to"]
        db.execute('create role "Stranger"; set role "Stranger"')
        try:
            for grant, problem in zip(grants, ("schema memory", "function list_threads"), strict=True):
                with pytest.raises(PermissionDeniedError, match=f"permission denied for {problem}") as raised:
                    memory.list_threads("ana")
                assert 'role "Stranger" in database "test_' in raised.value.message
                assert all(f'{named} "Stranger";' in (raised.value.hint or "") for named in grants)
                db.execute(f'reset role; {grant} "Stranger"; set role "Stranger"')
            assert memory.list_threads("ana") == []
        finally:
            db.execute('reset role; drop owned by "Stranger"; drop role "Stranger"')

    def test_a_failed_transaction(self, dsn: str) -> None:
        with psycopg.connect(dsn) as connection:
            memory = Memory(connection)
            with pytest.raises(InvalidValueError):
                memory.list_threads("")
            with pytest.raises(AgentMemoryError, match="an earlier statement of this transaction failed") as raised:
                memory.list_threads("ana")
            assert (raised.value.sqlstate, (raised.value.hint or "")[:9]) == ("25P02", "Roll back")
            connection.rollback()
            assert memory.list_threads("ana") == []

    def test_closed_and_exhausted(self, dsn: str) -> None:
        memory = Memory(dsn)
        memory.close()
        with pytest.raises(PoolClosed, match="this Memory was closed"):
            memory.version()
        with (
            ConnectionPool(dsn, min_size=1, max_size=1, timeout=0.1, open=True) as pool,
            pool.connection(),
            pytest.raises(PoolTimeout, match="all 1 connections are in use"),
        ):
            Memory(pool).version()

    def test_install_without_the_right_to(self, empty_dsn: str) -> None:
        with psycopg.connect(empty_dsn, autocommit=True) as owner:
            owner.execute("create extension vector; create role guest login")
            with (
                psycopg.connect(make_conninfo(empty_dsn, user="guest"), autocommit=True) as connection,
                pytest.raises(PermissionDeniedError, match="permission denied for database") as raised,
            ):
                install(connection)
            assert re.search(r'grant create on database "test_\d+" to "guest"', raised.value.hint or "")
            owner.execute("drop role guest")


def test_results_are_plain_data(memory: Memory) -> None:
    memory.add_message("ana", "t1", "user", "x")
    assert asdict(memory.list_threads("ana")[0])["thread_id"] == "t1"
