"""Search with models of provider local that run inside the server, without any client."""

from __future__ import annotations

import shutil
from pathlib import Path

import psycopg
import pytest

from tests.support.local_models import tiny_reranker
from tests.support.servers import Server
from tests.support.sqlapi import Api

ANSWER = "I prefer trains over planes."
OTHERS = ("The soup needs more salt.", "The printer is out of toner.", "Football practice is on Tuesday.")


@pytest.fixture
def api(server: Server, db: psycopg.Connection) -> Api:
    if not server.has_plpython:
        pytest.skip("this server has no PL/Python")
    return Api(db)


@pytest.fixture
def folder(server: Server) -> Path:
    """A folder that the server can read."""
    return Path(server.host, "models")


def activate(api: Api, name: str, kind: str, folder: Path) -> None:
    settings = {"model_dir": str(folder / name)}
    api.register_model(name=name, kind=kind, provider="local", model=name, settings=settings)
    api.activate_model(name=name)


@pytest.mark.feature("F18", "E4")
def test_the_server_embeds_texts_and_queries(api: Api, folder: Path, minilm: Path) -> None:
    shutil.copytree(minilm, folder / "minilm")
    activate(api, "minilm", "embedding", folder)
    for content in (*OTHERS, ANSWER):
        api.add_message(user_id="ana", thread_id="monday", role="user", content=content)
    api.connection.execute("call memory.run_jobs()")
    [first, *_] = api.search(user_id="ana", query="How does she like to travel?", mode="vector")
    assert first.content == ANSWER
    calls = api.query("select kind, tokens_in, error from memory.model_calls order by kind")
    assert [(call.kind, call.tokens_in, call.error) for call in calls] == [("embed", 0, None), ("search", 0, None)]


@pytest.mark.feature("F18")
def test_the_server_reranks_by_a_cross_encoder(api: Api, folder: Path) -> None:
    tiny_reranker(folder / "judge", ("tea", "green", "black"), "green")
    activate(api, "judge", "rerank", folder)
    for content in ("black tea", "green tea", "green green tea with milk"):
        api.add_memory(user_id="ana", content=content)
    results = api.search(user_id="ana", query="tea", mode="keyword", rerank=True, sources=["memory"])
    assert [result.content for result in results] == ["green green tea with milk", "green tea", "black tea"]
    assert [result.score > 0.5 for result in results] == [True, False, False]
