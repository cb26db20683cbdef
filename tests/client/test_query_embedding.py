"""The client embeds queries where the server cannot, and first does the jobs that embed what was stored just now."""

from __future__ import annotations

import asyncio
import logging
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory import AsyncMemory, DegradedWarning, InvalidValueError, Memory
from agent_memory.client import servers
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool

from tests.support.fake_model_server import HANGING, SERVER_ERROR, FakeModelServer
from tests.support.local_models import tiny_embedder
from tests.support.servers import Server

QUESTION = "How does she like to travel?"
ANSWER = "I prefer trains over planes."
OTHERS = (
    "The soup needs more salt.",
    "My sister Anna plays the violin.",
    "Remind me to water the plants.",
    "The printer is out of toner.",
    "I finished the third chapter of the book.",
    "Football practice is on Tuesday.",
    "My favourite colour is green.",
    "The meeting was moved to noon.",
    "I bought a new laptop.",
    "The cat sleeps all day.",
    "We painted the kitchen yellow.",
    "Coffee keeps me awake at night.",
)
WORDS = ("tea", "green", "black", "coffee")
KEY_VARIABLE = "AGENT_MEMORY_KEY_TEST"
LONG = 30.0
"""Seconds to catch up in tests of what is found, on a machine that has other work."""


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "_servers", {})


@pytest.fixture
def fake() -> Iterator[FakeModelServer]:
    with FakeModelServer(dimensions=64) as server:
        yield server


@pytest.fixture
def client(dsn: str) -> Iterator[Memory]:
    with Memory(dsn, catch_up_seconds=LONG) as memory:
        yield memory


def use(memory: Memory, name: str, folder: Path) -> None:
    memory.register_model(name, "embedding", "local", name, {"model_dir": str(folder)})
    memory.activate_model(name)


def use_remote(memory: Memory, fake: FakeModelServer, **settings: Any) -> None:
    settings = {"base_url": fake.url, "api_key_env": KEY_VARIABLE, **settings}
    memory.register_model("remote", "embedding", "openai", "ada", settings)
    memory.activate_model("remote")


def found(memory: Memory, query: str, **arguments: Any) -> list[str]:
    return [result.content for result in memory.search("ana", query, **arguments)]


def degraded(memory: Memory, *queries: str) -> list[str]:
    """What warnings say of searches that find the one message of the test by keyword."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for query in queries:
            assert found(memory, query) == ["Green tea"]
    assert all(isinstance(warning.message, DegradedWarning) for warning in caught)
    return [str(warning.message) for warning in caught]


def jobs(db: psycopg.Connection) -> list[tuple[str, int]]:
    """Status and attempts of each embed job."""
    return db.execute("select status, attempts from memory.jobs where kind = 'embed' order by job_id").fetchall()


class TestSemanticHit:
    @pytest.mark.feature("F18", "E17")
    def test_what_was_stored_a_moment_ago_is_found_by_meaning(self, client: Memory, minilm: Path) -> None:
        use(client, "minilm", minilm)
        for content in (*OTHERS[:6], ANSWER, *OTHERS[6:]):
            client.add_message("ana", "monday", "user", content)
        assert found(client, QUESTION)[0] == ANSWER
        assert found(client, QUESTION, mode="vector")[0] == ANSWER
        assert found(client, "Which colour does she like?")[0] == "My favourite colour is green."

    @pytest.mark.feature("F18", "E17")
    def test_the_asynchronous_client_finds_the_same_and_holds_up_nobody(self, dsn: str, minilm: Path) -> None:
        async def scenario() -> tuple[str, float]:
            async with AsyncMemory(dsn, catch_up_seconds=LONG) as memory:
                await memory.register_model("minilm", "embedding", "local", "minilm", {"model_dir": str(minilm)})
                await memory.activate_model("minilm")
                for content in (*OTHERS, ANSWER, *["tea " * 100] * 30):
                    await memory.add_message("ana", "monday", "user", content)
                longest, searching = 0.0, asyncio.create_task(memory.search("ana", QUESTION, mode="vector"))
                while not searching.done():
                    began = time.monotonic()
                    await asyncio.sleep(0)
                    longest = max(longest, time.monotonic() - began)
                return (await searching)[0].content, longest

        content, longest = asyncio.run(scenario())
        assert content == ANSWER
        assert longest < 0.3

    @pytest.mark.feature("F18")
    def test_contexts_compare_by_meaning_too(self, client: Memory, minilm: Path) -> None:
        use(client, "minilm", minilm)
        for content in (*OTHERS, ANSWER):
            client.add_message("ana", "monday", "user", content)
        client.add_memory("ana", "Prefers trains over planes")
        client.add_message("ana", "tuesday", "user", QUESTION)  # the query, unless another is given
        for part in (client.get_context("ana", "tuesday"), client.get_context("ana", "tuesday", QUESTION)):
            [recalled] = [each.content for each in part if each.source == "recalled"]
            assert ANSWER in recalled
        assert "Prefers trains" in client.render_memories("ana", query=QUESTION, max_memories=1)

    def test_a_search_by_keyword_asks_no_model(self, client: Memory, tmp_path: Path) -> None:
        use(client, "nowhere", tmp_path)
        client.add_message("ana", "monday", "user", "Green tea")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert found(client, "tea", mode="keyword") == ["Green tea"]

    def test_bad_arguments_are_named_as_before(self, client: Memory, tmp_path: Path) -> None:
        use(client, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
        for user_id, query in (("", "tea"), (5, "tea"), ("ana", 5), ("ana", "")):
            with pytest.raises(InvalidValueError, match="user_id" if user_id != "ana" else "query"):
                client.search(user_id, query)  # type: ignore[arg-type]


class TestModels:
    def test_the_embedding_is_kept_for_every_client(
        self, dsn: str, client: Memory, db: psycopg.Connection, tmp_path: Path
    ) -> None:
        use(client, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
        client.add_message("ana", "monday", "user", "Green tea")
        assert found(client, "black tea", mode="vector") == ["Green tea"]
        assert db.execute("select user_id, model from memory.query_embeddings").fetchall() == [("ana", "tiny")]
        with Memory(dsn, embed_queries=False) as other:
            assert found(other, "black tea", mode="vector") == ["Green tea"]

    @pytest.mark.feature("F18")
    def test_another_model_of_the_same_length_takes_over_at_once(self, client: Memory, tmp_path: Path) -> None:
        # The words stand in another order, so an embedding of the other model would find the other message.
        use(client, "forwards", tiny_embedder(tmp_path / "forwards", WORDS))
        client.add_message("ana", "monday", "user", "tea")
        client.add_message("ana", "monday", "user", "coffee")
        assert found(client, "tea", mode="vector")[0] == "tea"
        use(client, "backwards", tiny_embedder(tmp_path / "backwards", WORDS[::-1]))
        for _ in range(2):
            assert found(client, "tea", mode="vector")[0] == "tea"
            assert found(client, "coffee", mode="vector")[0] == "coffee"
        use(client, "short", tiny_embedder(tmp_path / "short", WORDS[:1]))
        assert found(client, "tea", mode="vector")[0] == "tea"

    def test_a_model_that_is_replaced_meanwhile_breaks_no_search(
        self, client: Memory, db: psycopg.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use(client, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
        client.add_message("ana", "monday", "user", "Green tea")
        found(client, "tea")
        ask = client._ask

        def ask_and_replace(*arguments: Any) -> list[list[float]]:
            vectors = ask(*arguments)
            db.execute("delete from memory.models where name = 'tiny'")
            return vectors

        monkeypatch.setattr(client, "_ask", ask_and_replace)
        with pytest.warns(DegradedWarning, match="no embedding model is active"):
            assert found(client, "green") == ["Green tea"]

    def test_a_read_only_transaction_gets_the_vector_along(
        self, client: Memory, db: psycopg.Connection, tmp_path: Path
    ) -> None:
        use(client, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
        client.add_message("ana", "monday", "user", "Green tea")
        assert found(client, "tea") == ["Green tea"]
        with db.transaction():
            db.execute("set transaction read only")
            assert found(Memory(db), "black tea", mode="vector") == ["Green tea"]

    def test_the_policy_may_keep_contexts_from_asking(self, client: Memory, tmp_path: Path) -> None:
        use(client, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
        client.set_policy({"context": {"embed_query": False}})
        wanted = client.query_to_embed("ana", "tea", is_context=True)
        assert wanted is not None
        assert wanted.text is None
        wanted = client.query_to_embed("ana", "tea")
        assert wanted is not None
        assert wanted.text == "tea"

    def test_it_can_be_switched_off(self, dsn: str, client: Memory, server: Server, tmp_path: Path) -> None:
        if server.has_plpython:
            pytest.skip("the server embeds by itself")
        use(client, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
        client.add_message("ana", "monday", "user", "Green tea")
        with Memory(dsn, embed_queries=False) as plain, pytest.warns(DegradedWarning):
            assert found(plain, "tea") == ["Green tea"]
        with Memory(dsn, catch_up_seconds=0) as hasty, pytest.warns(DegradedWarning, match="not embedded anything"):
            assert found(hasty, "tea") == ["Green tea"]


class TestFailures:
    def test_a_missing_model_degrades_and_loses_no_job(
        self, client: Memory, db: psycopg.Connection, tmp_path: Path
    ) -> None:
        use(client, "nowhere", tmp_path / "nothing")
        client.add_message("ana", "monday", "user", "Green tea")
        said = degraded(client, "tea")
        assert "not embedded by this client: the model folder" in said[0]
        assert "AGENT_MEMORY_MODEL_DIR" in said[0]
        assert jobs(db) == [("pending", 0)]
        assert degraded(client, "green") == []  # each cause is named once

    def test_a_role_without_the_rights_searches_as_before(
        self, client: Memory, db: psycopg.Connection, dsn: str, tmp_path: Path
    ) -> None:
        use(client, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
        client.add_message("ana", "monday", "user", "Green tea")
        db.execute("create role app_of_old login; grant usage on schema memory to app_of_old")
        try:
            db.execute("grant execute on function memory.search to app_of_old")
            with Memory(make_conninfo(dsn, user="app_of_old")) as memory, warnings.catch_warnings():
                warnings.simplefilter("ignore", DegradedWarning)
                assert found(memory, "tea") == ["Green tea"]
            # Without the rights of a worker, queries are embedded all the same.
            servers._servers.clear()
            db.execute("grant execute on function memory.query_to_embed, memory.keep_query_embedding to app_of_old")
            found(client, "coffee")
            with Memory(make_conninfo(dsn, user="app_of_old")) as memory:
                assert found(memory, "black tea", mode="vector") == ["Green tea"]
        finally:
            db.execute("drop owned by app_of_old; drop role app_of_old")


class TestProviders:
    """Where the server has no PL/Python: the client asks the provider with its own key."""

    @pytest.fixture(autouse=True)
    def _a_server_that_calls_nobody(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        if server.has_plpython:
            pytest.skip("the server embeds by itself")
        monkeypatch.setenv(KEY_VARIABLE, "key-of-the-client")

    @pytest.mark.feature("F18", "F7")
    def test_the_clients_key_is_used_and_the_call_is_in_the_ledger(
        self, client: Memory, db: psycopg.Connection, fake: FakeModelServer
    ) -> None:
        use_remote(client, fake)
        client.add_message("ana", "monday", "user", "Green tea")
        assert found(client, "tea", mode="vector") == ["Green tea"]
        assert {request.authorization for request in fake.requests} == {"Bearer key-of-the-client"}
        calls = "select kind, model, tokens_in > 0, error from memory.model_calls order by kind"
        assert db.execute(calls).fetchall() == [("embed", "remote", True, None), ("search", "remote", True, None)]
        asked = len(fake.requests)
        assert found(client, "tea", mode="vector") == ["Green tea"]
        client.add_message("bo", "monday", "user", "Black tea")
        client.search("bo", "tea")  # the embedding is that of the client's cache
        assert len(fake.requests) == asked + 1

    def test_no_key_degrades_and_no_job_counts_an_attempt(
        self, client: Memory, db: psycopg.Connection, fake: FakeModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv(KEY_VARIABLE)
        use_remote(client, fake)
        client.add_message("ana", "monday", "user", "Green tea")
        said = degraded(client, "tea")
        assert f"no API key: the environment variable {KEY_VARIABLE} is not set" in said[0]
        assert jobs(db) == [("pending", 0)]

    def test_a_provider_that_fails_is_left_alone_for_a_while(self, client: Memory, fake: FakeModelServer) -> None:
        use_remote(client, fake)
        client.add_message("ana", "monday", "user", "Green tea")
        fake.behaviour = SERVER_ERROR
        assert "the server answered 500" in degraded(client, "tea", "green", "Green tea")[0]
        assert len(fake.requests) == 1

    def test_a_provider_that_hangs_holds_a_search_up_only_once(self, client: Memory, fake: FakeModelServer) -> None:
        use_remote(client, fake, timeout_seconds=0.3)
        client.add_message("ana", "monday", "user", "Green tea")
        fake.behaviour = HANGING
        began = time.monotonic()
        assert "within 0.3 s" in degraded(client, "tea", "green", "Green tea", "tea, green")[0]
        assert time.monotonic() - began < 1.4

    def test_a_spent_budget_asks_nobody(self, client: Memory, fake: FakeModelServer) -> None:
        use_remote(client, fake)
        client.add_message("ana", "monday", "user", "Green tea")
        found(client, "tea")
        asked = len(fake.requests)
        client.set_policy({"budget": {"tokens_per_user_per_day": 1}})
        with pytest.warns(DegradedWarning, match="tokens are used"):
            assert found(client, "green") == ["Green tea"]
        assert len(fake.requests) == asked


class TestServersWithModels:
    @pytest.fixture(autouse=True)
    def _a_server_that_calls(self, server: Server) -> None:
        if not server.has_plpython:
            pytest.skip("this server has no PL/Python")

    def test_a_server_that_embeds_by_itself_does(
        self, client: Memory, db: psycopg.Connection, fake: FakeModelServer, caplog: pytest.LogCaptureFixture
    ) -> None:
        use_remote(client, fake, api_key_env="OPENAI_API_KEY")
        client.add_message("ana", "monday", "user", "Green tea")
        db.execute("call memory.run_jobs()")
        fake.requests.clear()
        with caplog.at_level(logging.DEBUG, logger="agent_memory"):
            for query in ("tea", "green", "black"):
                assert found(client, query, mode="vector") == ["Green tea"]
        assert [request.authorization for request in fake.requests] == ["Bearer key-of-the-test-server"] * 3

    def test_a_server_that_could_run_a_local_model_leaves_it_to_the_client(
        self, client: Memory, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # Each session of the server would load the model for itself.
        use(client, "tiny", tiny_embedder(Path(server.host, "left-to-the-client"), WORDS))
        wanted = client.query_to_embed("ana", "tea", probe=True)
        assert wanted is not None
        assert wanted.server_embeds
        kept: list[str] = []
        keep = client.keep_query_embedding

        def counted(user_id: str, query: str, *rest: Any) -> bool:
            kept.append(query)
            return keep(user_id, query, *rest)

        monkeypatch.setattr(client, "keep_query_embedding", counted)
        client.add_message("ana", "monday", "user", "Green tea")
        for query in ("tea", "green tea", "black tea"):
            assert found(client, query, mode="vector") == ["Green tea"]
        assert kept == ["tea", "green tea", "black tea"]

    def test_a_server_without_the_key_is_helped(
        self, client: Memory, fake: FakeModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(KEY_VARIABLE, "key-of-the-client")
        use_remote(client, fake)
        client.add_message("ana", "monday", "user", "Green tea")
        assert found(client, "tea", mode="vector") == ["Green tea"]
        assert {request.authorization for request in fake.requests} == {"Bearer key-of-the-client"}


class TestDueJobs:
    def test_jobs_of_others_are_left_alone(self, client: Memory, db: psycopg.Connection, tmp_path: Path) -> None:
        use(client, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
        for user_id in ("ana", "bo"):
            client.add_message(user_id, "monday", "user", "Green tea")
            client.add_message(user_id, "tuesday", "user", "Black tea")
        assert len(found(client, "tea")) == 2
        status = "select user_id, status, attempts from memory.jobs where kind = 'embed' order by job_id"
        assert db.execute(status).fetchall() == [
            ("ana", "completed", 1),
            ("ana", "completed", 1),
            ("bo", "pending", 0),
            ("bo", "pending", 0),
        ]

    def test_a_search_waits_no_longer_than_it_may_and_the_work_goes_on(
        self, dsn: str, db: psycopg.Connection, minilm: Path
    ) -> None:
        with Memory(dsn) as memory:
            use(memory, "minilm", minilm)
            assert memory.query_to_embed("ana", "tea") is not None
            memory.search("ana", "warm up")
            memory.add_messages(
                "ana", "monday", [{"role": "user", "content": f"{number} {'tea ' * 250}"} for number in range(64)]
            )
            began = time.monotonic()
            with pytest.warns(DegradedWarning, match="not embedded anything of this user yet"):
                memory.search("ana", "something else")
            assert time.monotonic() - began < 1.5
            [due] = memory._due.values()
            assert due.end.result(60) is None
            assert jobs(db) == [("completed", 1)]

    def test_closing_gives_back_what_is_under_way(self, dsn: str, db: psycopg.Connection, minilm: Path) -> None:
        with Memory(dsn, catch_up_seconds=0.01) as memory:
            use(memory, "minilm", minilm)
            memory.add_messages(
                "ana", "monday", [{"role": "user", "content": f"{number} {'tea ' * 250}"} for number in range(200)]
            )
            with pytest.warns(DegradedWarning, match="not embedded anything of this user yet"):
                memory.search("ana", "something else")
            assert jobs(db) == [("running", 1)]
        assert jobs(db) == [("pending", 0)]

    def test_a_killed_client_loses_nothing(self, dsn: str, db: psycopg.Connection, tmp_path: Path) -> None:
        with Memory(dsn, catch_up_seconds=LONG) as memory:
            use(memory, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
            memory.add_message("ana", "monday", "user", "Green tea")
            # Killed right after the claim.
            assert len(memory.claim_jobs("client", ["embed"], 4, user_id="ana")) == 1
            db.execute("update memory.jobs set lease_expires_at = now() where status = 'running'")
            assert found(memory, "black tea", mode="vector") == ["Green tea"]
        assert jobs(db) == [("completed", 2)]

    @pytest.mark.parametrize("autocommit", [True, False])
    def test_jobs_are_done_in_no_transaction_of_the_caller(
        self, connect: Any, dsn: str, db: psycopg.Connection, autocommit: bool, tmp_path: Path
    ) -> None:
        with Memory(dsn) as memory:
            use(memory, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
            memory.add_message("ana", "monday", "user", "Green tea")
        connection = connect()
        connection.autocommit = autocommit
        own = Memory(connection, catch_up_seconds=LONG)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegradedWarning)
            with connection.transaction():
                own.search("ana", "tea")
            assert jobs(db) == [("pending", 0)]
            own.search("ana", "coffee")
        connection.rollback()
        assert jobs(db) == [("completed", 1) if autocommit else ("pending", 0)]

    def test_a_connection_of_the_caller_is_left_alone_behind_a_search(
        self, dsn: str, db: psycopg.Connection, minilm: Path
    ) -> None:
        with Memory(dsn) as memory:
            use(memory, "minilm", minilm)
            memory.add_messages(
                "ana", "monday", [{"role": "user", "content": f"{number} {'tea ' * 250}"} for number in range(200)]
            )
        own = Memory(db, catch_up_seconds=0.01)
        with pytest.warns(DegradedWarning, match="not embedded anything of this user yet"):
            own.search("ana", "tea")
        assert jobs(db) == [("pending", 0)]
        assert all(due.end.done() for due in own._due.values())

    def test_a_job_that_a_worker_does_is_waited_for(self, dsn: str, client: Memory, tmp_path: Path) -> None:
        use(client, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
        client.add_message("ana", "monday", "user", "Green tea")
        [job] = client.claim_jobs("worker", ["embed"], 4, user_id="ana")

        def complete() -> None:
            time.sleep(0.5)
            vector = [1.0 if place == 4 else 0.0 for place in range(8)]
            with Memory(dsn) as worker:
                worker.complete_job(job.user_id, job.job_id, job.lease_token, {"embeddings": [vector]})

        with ThreadPoolExecutor(1) as threads:
            done = threads.submit(complete)
            assert found(client, "black tea", mode="vector") == ["Green tea"]
            done.result()

    def test_threads_may_share_a_client(self, dsn: str, tmp_path: Path) -> None:
        with ConnectionPool(dsn, min_size=1, max_size=4, kwargs={"autocommit": True}) as pool:
            memory = Memory(pool, catch_up_seconds=LONG)
            use(memory, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
            for user_id in ("ana", "bo", "cy"):
                memory.add_message(user_id, "monday", "user", "Green tea")

            def search(user_id: str) -> list[str]:
                return [result.content for result in memory.search(user_id, "black tea", mode="vector")]

            with ThreadPoolExecutor(6) as threads:
                assert list(threads.map(search, ["ana", "bo", "cy"])) == [["Green tea"]] * 3
                assert list(threads.map(search, ["ana", "bo", "cy"] * 4)) == [["Green tea"]] * 12
            memory.close()

    def test_nothing_due_costs_one_statement_more(
        self, client: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use(client, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
        client.add_message("ana", "monday", "user", "Green tea")
        found(client, "tea")
        called: list[str] = []
        select = client._select

        def counted(function: str, *rest: Any, **named: Any) -> list[dict[str, Any]]:
            called.append(function)
            return select(function, *rest, **named)

        monkeypatch.setattr(client, "_select", counted)
        found(client, "tea")
        assert called == ["query_to_embed", "search"]
