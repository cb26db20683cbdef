"""Chatting in the shell, with lines from a pipe."""

import gzip
from collections.abc import Iterator

import psycopg
import pytest
from agent_memory import Memory

from tests.support.fake_model_server import Behaviour, FakeModelServer
from tests.support.servers import Run

NO_MODEL = {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}


@pytest.fixture
def models() -> Iterator[FakeModelServer]:
    with FakeModelServer(Behaviour(answer=lambda body: f"You said: {body['messages'][-1]['content']}")) as server:
        yield server


def test_with_a_model_of_the_environment(run: Run, db: psycopg.Connection, models: FakeModelServer) -> None:
    memory = Memory(db)
    memory.add_memory("ana", "Likes green tea", "preference")
    lines = [
        "Which tea do I like?",
        "/remember Lives in Lund",
        "/memories Lund",
        "/context tea",
        "/history",
        "/search tea",
        "/nonsense",
        "/thread t2",
        "Hi \x1b[2J",
        "/quit",
        "never",
    ]
    result = run(
        "shell",
        "ana",
        "--thread",
        "t1",
        "--model",
        "m",
        stdin="\n".join(lines),
        OPENAI_BASE_URL=models.url,
        OPENAI_API_KEY="k",
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("You said: Which tea do I like?\nRemembered.\n")
    assert "Error: there is no command /nonsense" in result.stderr
    for shown in ("Lives in Lund", "system · memories · ", "total ", "/quit", "Thread t2.", "You said: Hi ␛[2J"):
        assert shown in result.stdout
    assert "never" not in result.stdout
    assert [(each.role, each.content) for each in memory.get_messages("ana", "t1")] == [
        ("user", "Which tea do I like?"),
        ("assistant", "You said: Which tea do I like?"),
    ]
    request = models.requests[0]
    assert (request.body["model"], request.authorization) == ("m", "Bearer k")
    assert "Likes green tea" in request.body["messages"][1]["content"]


def test_with_a_registered_model(run: Run, db: psycopg.Connection, models: FakeModelServer) -> None:
    memory = Memory(db)
    memory.admin.register_model(
        "mine", "chat", "openai", "m-1", {"base_url": models.url, "api_key_env": "AGENT_MEMORY_KEY_MINE"}
    )
    memory.admin.activate_model("mine")
    models.next_behaviours = [Behaviour(status=400)]
    result = run("shell", "ana", stdin="One\n\nTwo\n", AGENT_MEMORY_KEY_MINE="key", **NO_MODEL)
    assert result.returncode == 0
    assert result.stdout == "You said: Two\n"
    assert "Error: mine does not answer: " in result.stderr
    assert "What you said is stored" in result.stderr
    assert models.requests[1].authorization == "Bearer key"
    models.requests.clear()
    # The key of OpenAI goes to no other server of a registered model, and a missing key is named.
    missing = run("shell", "ana", stdin="One\n", **NO_MODEL)
    assert "AGENT_MEMORY_KEY_MINE is not set" in missing.stderr
    memory.admin.register_model("mine", "chat", "openai", "m-1", {"base_url": models.url})
    assert run("shell", "ana", "--thread", "t", stdin="One\n", OPENAI_API_KEY="secret").stdout == "You said: One\n"
    assert [request.authorization for request in models.requests] == ["Bearer none"]
    thread = memory.list_threads("ana")[-1]
    assert thread.thread_id.startswith("shell-20")
    assert thread.message_count == 3


def test_a_reply_that_is_compressed_twice_is_not_unpacked(
    run: Run, db: psycopg.Connection, models: FakeModelServer
) -> None:
    models.behaviour = Behaviour(answer="Hi", packed=("gzip, gzip", lambda body: gzip.compress(gzip.compress(body))))
    result = run("shell", "ana", "--model", "m", stdin="Hi\n", OPENAI_BASE_URL=models.url, OPENAI_API_KEY="k")
    assert "the reply is compressed in a way that was not asked for" in result.stderr
    [thread] = Memory(db).list_threads("ana")
    assert [message.content for message in Memory(db).get_messages("ana", thread.thread_id)] == ["Hi"]


def test_without_a_model(run: Run, db: psycopg.Connection) -> None:
    memory = Memory(db)
    db.execute("update memory.models set is_active = false where kind = 'chat'")
    first = run("shell", "ana", "--thread", "t", stdin="Hi\n", **NO_MODEL)
    assert (first.returncode, first.stdout) == (0, "Stored. Nothing is recalled.\n"), first.stderr
    assert first.stderr.startswith("No chat model: each line shows its context.")
    memory.add_memory("ana", "Likes green tea")
    second = run("shell", "ana", "--thread", "t", stdin="Which tea?\n", **NO_MODEL)
    assert "Likes green tea" in second.stdout
    assert len(memory.get_messages("ana", "t")) == 2
    unknown = run("shell", "ana", "--model", "x", stdin="Hi\n", **NO_MODEL)
    assert unknown.returncode == 1
    assert 'no chat model "x" is registered' in unknown.stderr
