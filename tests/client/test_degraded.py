"""Notes of the client about searches and contexts that had to do without something."""

import asyncio
import linecache
import logging
import re
import warnings
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

import psycopg
import pytest
from agent_memory import AsyncMemory, DegradedWarning, Memory
from agent_memory.errors import DEGRADED
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool

from tests.support import rooms


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
                assert len(caught) == 1
            with Memory(dsn) as other:
                other.search("bo", "coffee")
            warning, of_the_other_client = caught
            assert str(of_the_other_client.message) == str(warning.message)
            assert str(warning.message).startswith(f"{self.NO_MODEL}. Run: agent-memory models local")
            assert warning.category is DegradedWarning
            assert (record_levels(caplog), caplog.messages) == (["INFO"] * 4, [f"degraded: {self.NO_MODEL}"] * 4)

            memory.search("ana", "tea", rerank=True)
            assert [str(warning.message).partition(".")[0] for warning in caught[2:]] == [
                "results are not reranked, no rerank model is active"
            ]

    def test_a_cause_is_the_same_for_other_names_and_numbers(self, db: psycopg.Connection, memory: Memory) -> None:
        notice = """raise notice 'degraded: model "%" took % ms (request %)', user_id, row_limit, 'r' || row_limit
            using errcode = '01AMZ';"""
        db.execute(
            "drop function memory.list_threads;"
            " create function memory.list_threads(user_id text, row_limit int default 50,"
            " row_offset int default 0) returns setof memory.thread language plpgsql"
            f" as $$ begin {notice} end $$"
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for number in range(5):
                memory.list_threads(f"model {number}", row_limit=number + 1)
        assert [str(warning.message) for warning in caught] == ['model "model 0" took 1 ms (request r1)']
        [warning] = caught
        assert isinstance(warning.message, DegradedWarning)
        assert (warning.message.sqlstate, warning.message.cause) == ("01AMZ", "other")

    @pytest.mark.feature("E17")
    def test_each_cause_has_its_name_and_its_help(
        self, db: psycopg.Connection, memory: Memory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)

        def heard(call: Callable[[Memory], object]) -> list[DegradedWarning]:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                call(Memory(db, embed_queries=False))  # what the server says
            said = [warning.message for warning in caught if isinstance(warning.message, DegradedWarning)]
            assert all(warning.hint for warning in said)
            return said

        def causes(call: Callable[[Memory], object]) -> set[str]:
            return {warning.cause for warning in heard(call)}

        def search(client: Memory) -> object:
            return client.search("ana", "tea")

        assert causes(search) == {"no embedding model"}
        assert causes(lambda client: client.search("ana", "tea", mode="keyword", rerank=True)) == {"not reranked"}
        memory.add_message("ana", "t1", "user", "tea?")
        assert causes(lambda client: client.get_context("ana", "t1", max_tokens=1)) == {"does not fit"}
        recall = {"knowledge_base": {"enable_cross_session_context": True, "search_triggers": ["last time"]}}
        memory.admin.set_policy(recall)
        asked = causes(lambda client: client.get_context("ana", "t1", query="last time?"))
        assert "earlier conversations not compared by meaning" in asked
        db.execute(
            "insert into memory.messages (user_id, thread_id, role, content)"
            " select 'bo', 't1', 'user', repeat('green ', 100) from generate_series(1, 2000)"
        )
        searched = causes(lambda client: client.search("bo", "green", mode="keyword", sources=["message"]))
        assert searched == {"messages not parsed yet"}
        memory.admin.set_policy({"resources": []}, agent_id="dumb")
        stored = causes(lambda client: client.add_memory("ana", "Likes coffee", agent_id="dumb"))
        assert stored == {"missing resource"}

        past = datetime(2020, 1, 1, tzinfo=timezone.utc)
        added = causes(lambda client: client.add_message("ana", "t2", "user", "Hello", expires_at=past))
        assert added == {"expired already"}
        old = past - timedelta(days=7)
        imported = causes(
            lambda client: client.add_message("ana", "t2", "user", "Hello", created_at=old, expires_at=past)
        )
        assert imported == set()
        assert causes(lambda client: client.add_memory("ana", "Was here", expires_at=past)) == {"expired already"}
        assert causes(lambda client: client.store_artifact("ana", "a log", expires_at=past)) == {"expired already"}
        later = datetime(2099, 1, 1, tzinfo=timezone.utc)
        assert causes(lambda client: client.add_memory("ana", "Is here", expires_at=later)) == set()
        assert causes(lambda client: client.store_artifact("ana", "a log", expires_at=datetime.max)) == set()

        memory.admin.register_model(
            "paid", "embedding", "openai", "m", {"base_url": "http://127.0.0.1:9", "dimensions": 3}
        )
        memory.admin.activate_model("paid")
        assert causes(search) == {"texts not embedded yet"}
        db.execute("delete from memory.jobs")
        [failed] = heard(search)
        assert failed.cause == "query not embedded"
        assert 'model "paid"' in (failed.hint or "")

    def test_every_degraded_notice_names_its_cause(self) -> None:
        statements = [
            statement
            for file in rooms.files("*.sql")
            for statement in re.findall(r"raise notice\s+'degraded: [^;]*;[^;]*;", file.read_text())
        ]
        named = {code for statement in statements for code in re.findall(r"'(01AM\d)'", statement)}
        assert len(statements) >= 10
        assert all("errcode" in statement for statement in statements)
        assert named == set(DEGRADED)

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
        ] * 2
        memory.add_message("ana", "t1", "user", "tea?")
        with pytest.warns(DegradedWarning, match="max_tokens") as caught:
            memory.get_context("ana", "t1", max_tokens=1)
        assert {warning.filename for warning in caught} == {__file__}

    def test_as_an_error_it_comes_after_the_work(self, dsn: str) -> None:
        with ConnectionPool(dsn, min_size=1, max_size=1, open=True) as pool:
            for _ in range(2):
                with pytest.raises(DegradedWarning):
                    Memory(pool).search("ana", "tea")
            assert pool.get_stats()["pool_available"] == 1
            with pool.connection() as connection:
                assert connection.info.transaction_status == TransactionStatus.IDLE
