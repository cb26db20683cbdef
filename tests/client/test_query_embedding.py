"""The client embeds queries where the server cannot, and first does the jobs that embed what was stored just now."""

from __future__ import annotations

import asyncio
import logging
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory import AsyncMemory, DegradedWarning, Memory
from agent_memory.calls import WorkerProtocol
from agent_memory.client import servers
from agent_memory.client._sync import embedding
from psycopg.conninfo import make_conninfo

from tests.client.steps import LONG, WORDS, found, jobs, use
from tests.support.fake_model_server import HANGING, SERVER_ERROR, FakeModelServer
from tests.support.local_models import tiny_embedder
from tests.support.runners import PATIENCE
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
KEY_VARIABLE = "AGENT_MEMORY_KEY_TEST"


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "_servers", {})
    # The first call imports the packages of the provider, which takes long on a busy machine.
    monkeypatch.setattr(embedding, "_LONGEST_CALL", PATIENCE)


@pytest.fixture
def fake() -> Iterator[FakeModelServer]:
    with FakeModelServer(dimensions=64) as server:
        yield server


@pytest.fixture
def client(dsn: str) -> Iterator[Memory]:
    with Memory(dsn, catch_up_seconds=LONG) as memory:
        yield memory


def use_remote(memory: Memory, fake: FakeModelServer, **settings: Any) -> None:
    settings = {"base_url": fake.url, "api_key_env": KEY_VARIABLE, **settings}
    memory.admin.register_model("remote", "embedding", "openai", "ada", settings)
    memory.admin.activate_model("remote")


def degraded(memory: Memory, *queries: str) -> list[str]:
    """What warnings say of searches that find the one message of the test by keyword."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for query in queries:
            assert found(memory, query) == ["Green tea"]
    assert all(isinstance(warning.message, DegradedWarning) for warning in caught)
    return [str(warning.message) for warning in caught]


class TestSemanticHit:
    @pytest.mark.feature("F18", "E17")
    def test_what_was_stored_a_moment_ago_is_found_by_meaning(self, client: Memory, minilm: Path) -> None:
        use(client, "minilm", minilm)
        for content in (*OTHERS[:6], ANSWER, *OTHERS[6:]):
            client.add_message("ana", "monday", "user", content)
        assert found(client, QUESTION)[0] == ANSWER
        assert found(client, QUESTION, mode="vector")[0] == ANSWER
        client.add_memory("ana", "Prefers trains over planes")
        client.add_message("ana", "tuesday", "user", QUESTION)  # the query, unless another is given
        for parts in (client.get_context("ana", "tuesday"), client.get_context("ana", "tuesday", QUESTION)):
            [recalled] = [each.content for each in parts if each.source == "recalled"]
            assert ANSWER in recalled
        assert "Prefers trains" in client.render_memories("ana", query=QUESTION, max_memories=1)

    @pytest.mark.feature("F18", "E17")
    def test_the_asynchronous_client_finds_the_same_and_holds_up_nobody(self, dsn: str, minilm: Path) -> None:
        async def scenario() -> tuple[str, float]:
            async with AsyncMemory(dsn, catch_up_seconds=LONG) as memory:
                await memory.admin.register_model("minilm", "embedding", "local", "minilm", {"model_dir": str(minilm)})
                await memory.admin.activate_model("minilm")
                for content in (*OTHERS, ANSWER, *["tea " * 100] * 12):
                    await memory.add_message("ana", "monday", "user", content)
                longest, searching = 0.0, asyncio.create_task(memory.search("ana", QUESTION, mode="vector"))
                started = turn = time.perf_counter()
                while not searching.done():
                    await asyncio.sleep(0)
                    longest, turn = max(longest, time.perf_counter() - turn), time.perf_counter()
                return (await searching)[0].content, longest / (turn - started)

        content, longest = asyncio.run(scenario())
        assert content == ANSWER
        assert longest < 0.5  # of the time of the search, nearly all of which is the model's

    def test_a_search_by_keyword_asks_no_model(self, client: Memory, tmp_path: Path) -> None:
        use(client, "nowhere", tmp_path)
        client.add_message("ana", "monday", "user", "Green tea")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert found(client, "tea", mode="keyword") == ["Green tea"]


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
        ask = client._embedder._ask

        def ask_and_replace(*arguments: Any) -> list[list[float]]:
            vectors = ask(*arguments)
            db.execute("delete from memory.models where name = 'tiny'")
            return vectors

        monkeypatch.setattr(client._embedder, "_ask", ask_and_replace)
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

    def test_a_provider_that_fails_is_left_alone_for_a_while(self, client: Memory, fake: FakeModelServer) -> None:
        use_remote(client, fake)
        client.add_message("ana", "monday", "user", "Green tea")
        fake.behaviour = SERVER_ERROR
        assert "the server answered 500" in degraded(client, "tea", "green", "Green tea")[0]
        assert len(fake.requests) == 1

    def test_without_a_key_and_beyond_the_budget_nobody_is_asked_and_no_job_counts_an_attempt(
        self, dsn: str, client: Memory, db: psycopg.Connection, fake: FakeModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use_remote(client, fake)
        client.add_message("ana", "monday", "user", "Green tea")
        with monkeypatch.context() as without:
            without.delenv(KEY_VARIABLE)
            said = degraded(client, "tea")
        assert f"no API key: the environment variable {KEY_VARIABLE} is not set" in said[0]
        client.admin.set_policy({"budget": {"tokens_per_user_per_day": 0}})
        with Memory(dsn, catch_up_seconds=LONG) as other, pytest.warns(DegradedWarning):
            assert found(other, "green") == ["Green tea"]
        assert (fake.requests, jobs(db)) == ([], [("pending", 0)])

    def test_a_provider_that_hangs_holds_a_search_up_only_once(self, client: Memory, fake: FakeModelServer) -> None:
        use_remote(client, fake, timeout_seconds=0.3)
        client.add_message("ana", "monday", "user", "Green tea")
        fake.behaviour = HANGING
        assert "within 0.3 s" in degraded(client, "tea", "green", "Green tea", "tea, green")[0]
        assert len(fake.requests) <= 1  # none if the machine is so busy that the request was not even sent


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
        wanted = WorkerProtocol(client.caller).query_to_embed("ana", "tea", probe=True)
        assert wanted is not None
        assert wanted.server_embeds
        kept: list[str] = []
        keep = WorkerProtocol.keep_query_embedding

        def counted(protocol: WorkerProtocol, user_id: str, query: str, *rest: Any) -> bool:
            kept.append(query)
            return keep(protocol, user_id, query, *rest)

        monkeypatch.setattr(WorkerProtocol, "keep_query_embedding", counted)
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
