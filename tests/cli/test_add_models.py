"""The commands that add a provider's models, and ask models one real question each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory.cli.lists import SERVERS

from tests.cli.steps import Commands
from tests.support.fake_model_server import DROPPED, Behaviour, FakeModelServer

pytestmark = pytest.mark.feature("F38")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def model() -> Iterator[FakeModelServer]:
    with FakeModelServer(dimensions=12) as model:
        yield model


def active(db: psycopg.Connection) -> dict[str, tuple[Any, ...]]:
    found = db.execute("select kind, name, provider, settings from memory.models where is_active").fetchall()
    return {row[0]: row[1:] for row in found}


def words(text: str) -> str:
    return " ".join(text.split())


def test_models_of_a_server_are_asked_registered_and_active(
    command: Commands, db: psycopg.Connection, model: FakeModelServer
) -> None:
    model.says["/v1/models"] = {"data": [{"id": "qwen", "max_model_len": 32768}]}
    url = model.url.removesuffix("/v1")  # an address without a path is that of the protocol
    said = words(command("models", "add", "vllm", "--url", url, "--model", "qwen", "--embedding", "bge-m3",
                         "--setting", "price_per_million_input=0.5"))  # fmt: skip
    assert re.search(r'qwen: remembers "I live in Porto, and .*", in \d\.\d s; its window has 32,768 tokens', said)
    assert "bge-m3: embeds with 12 dimensions, in 0." in said
    assert "qwen and bge-m3 are active" in said
    settings = {"base_url": model.url, "price_per_million_input": 0.5}
    assert active(db) == {"chat": ("qwen", "openai", settings), "embedding": ("bge-m3", "openai", settings)}
    assert {request.authorization for request in model.requests if request.body} == {None}

    said = words(command("models", "test"))
    assert "qwen: remembers" in said
    assert "bge-m3: embeds" in said
    assert words(command("models", "test", "local")).startswith("local: remembers")
    assert "no model" in command("models", "test", "nobody", status=1)


def test_nothing_changes_if_a_model_does_not_answer(
    command: Commands, db: psycopg.Connection, model: FakeModelServer
) -> None:
    before = active(db)
    options = ("models", "add", "ollama", "--url", model.url, "--model", "m", "--embedding", "e")
    for behaviour, told in {
        Behaviour(answer='{"memories": []}'): "it answered, and found nothing to remember",
        Behaviour(status=401): "m: the server answered 401",
        DROPPED: "m: ",
    }.items():
        model.behaviour = behaviour
        assert told in words(command(*options, status=1))
    model.behaviour = lambda request: Behaviour(status=404) if request.path.endswith("embeddings") else Behaviour()
    assert "e: the server answered 404" in words(command(*options, status=1))
    assert active(db) == before
    assert db.execute("select count(*) from memory.models").fetchone() == (len(before),)


def test_a_model_that_fails_later_is_named_and_a_reranker_is_asked_too(
    command: Commands, model: FakeModelServer
) -> None:
    command("models", "add", "openai", "--url", model.url, "--embedding", "e")
    options = ("--kind", "rerank", "--model", "r", "--base-url", model.url, "--activate")
    command("models", "register", "judge", *options)
    assert "judge: puts the text that answers the question first" in words(command("models", "test"))
    model.behaviour = Behaviour(status=500)
    result = command.run("models", "test", status=1)
    assert "e: the server answered 500" in words(result.stdout)
    assert "local: remembers" in words(result.stdout)


def test_a_key_is_sent_to_its_provider_and_named_for_the_worker(
    command: Commands, db: psycopg.Connection, model: FakeModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_MEMORY_KEY_MISTRAL", "k")
    said = words(command("models", "add", "mistral", "--url", model.url, "--model", "m"))
    assert "The worker needs the key too, in its environment: AGENT_MEMORY_KEY_MISTRAL" in said
    assert active(db)["chat"][2] == {"base_url": model.url, "api_key_env": "AGENT_MEMORY_KEY_MISTRAL"}
    assert {request.authorization for request in model.requests if request.body} == {"Bearer k"}
    monkeypatch.delenv("AGENT_MEMORY_KEY_MISTRAL")
    assert "AGENT_MEMORY_KEY_MISTRAL" in words(command("models", "test", "m", status=1) + command.run(
        "models", "test", "m", status=1).stdout)  # fmt: skip


def test_azure_is_reached_by_its_endpoint(
    command: Commands, db: psycopg.Connection, model: FakeModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "k")
    assert "--setting api_version" in command("models", "add", "azure", "--model", "d", status=1)
    endpoint = model.url.removesuffix("/v1")
    options = ("--url", endpoint, "--setting", "api_version=2024-10-21", "--api-key-env", "AZURE_OPENAI_API_KEY")
    command("models", "add", "azure", "--model", "deployed", *options)
    assert active(db)["chat"][:2] == ("deployed", "azure")
    assert model.requests[-1].headers["api-key"] == "k"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nobody",), 'unknown provider "nobody"'),
        (("ollama",), "--model NAME --embedding NAME"),
        (("openai", "--url", "http://127.0.0.1:1"), "name a model"),
        (("vllm", "--model", "m", "--setting", "x"), "setting: x has no ="),
    ],
)
def test_what_is_missing_is_named(command: Commands, arguments: tuple[str, ...], told: str) -> None:
    assert told in words(command("models", "add", *arguments, status=1))


def test_openai_has_models_of_its_own_and_every_provider_is_documented() -> None:
    table = (ROOT / "docs" / "models.md").read_text().partition("## Models in one command")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(SERVERS)
    for server in SERVERS.values():
        assert server.get("key", server.get("url")) in table
    assert {"chat", "embedding"} < SERVERS["openai"].keys()
