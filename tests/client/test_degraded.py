"""Notes of the client about searches and contexts that had to do without something."""

import asyncio
import linecache
import logging
import warnings

import psycopg
import pytest
from agent_memory import AsyncMemory, DegradedWarning, Memory
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool


def record_levels(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.levelname for record in caplog.records]


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

    def test_an_agent_without_memory(self, memory: Memory) -> None:
        memory.set_policy({"agent_id": "dumb", "resources": []})
        with pytest.warns(DegradedWarning, match='nothing is stored, agent "dumb" has no resource "memory"'):
            stored = memory.add_message("ana", "t1", "user", "Hello", agent_id="dumb")
        assert (stored.seq, stored.content) == (None, "Hello")
        added = memory.add_memory("ana", "Likes coffee", agent_id="dumb")
        assert not added.inserted
        assert added.memory_id is None
        assert memory.store_artifact("ana", "long", agent_id="dumb").memory_ref is None
        with pytest.warns(DegradedWarning, match="the context is empty"):
            assert memory.get_context("ana", "t1", agent_id="dumb") == []
