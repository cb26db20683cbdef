"""The worker in the background of a process that has a client."""

import socket
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from agent_memory import Memory, NotSupportedError
from agent_memory.calls import heard
from agent_memory.embedded import background, open_store

from tests.embedded.steps import PATIENCE, Processes, server_runs
from tests.support.runners import wait_until

pytestmark = [pytest.mark.own_server, pytest.mark.usefixtures("made")]

SAY = """
        for number in range(10):
            memory.add_message("ana", "t", "user", f"I prefer train number {number} over planes.")
"""
WAIT = """
        import psycopg
        from agent_memory.embedded import open_store
        with open_store(folder) as store, psycopg.connect(store.conninfo, autocommit=True) as connection:
            while not connection.execute("select from memory.jobs where {condition}").fetchall():
                time.sleep(0.05)
"""


@pytest.fixture
def silent_model(made: Path) -> Iterator[socket.socket]:
    """The store's chat model is a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        with open_store(made) as store, psycopg.connect(store.conninfo, autocommit=True) as connection:
            memory = Memory(connection)
            url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
            memory.admin.register_model("silent", "chat", "openai", "some-model", {"base_url": url})
            memory.admin.activate_model("silent")
        server.settimeout(60)
        yield server


def say(memory: Memory) -> None:
    """Say enough for a job that extracts memories."""
    for number in range(10):
        memory.add_message("ana", "t", "user", f"I prefer train number {number} over planes.")


def jobs(folder: Path) -> dict[str, int]:
    """Return how many jobs have which status."""
    with open_store(folder) as store, psycopg.connect(store.conninfo) as connection:
        return dict(connection.execute("select status, count(*)::int from memory.jobs group by status").fetchall())


@pytest.mark.feature("E17")
def test_jobs_are_run_in_the_background(folder: Path) -> None:
    with Memory(path=folder) as memory:
        say(memory)
        wait_until(lambda: memory.list_memories("ana"))
        assert {record.memory_type for record in memory.list_memories("ana")} == {"preference"}


def test_sweeping_goes_on_after_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    attempts: list[int] = []

    def fail(_: psycopg.Connection) -> dict[str, int]:
        attempts.append(1)
        raise OSError("a library of the model has failed")

    monkeypatch.setattr(background, "_swept", fail)
    monkeypatch.setattr(background, "_SWEEP_INTERVAL", 0.01)
    with Memory(path=folder):
        wait_until(lambda: len(attempts) > 1)
    assert "sweeping the store failed" in caplog.text


def test_who_runs_jobs_himself_is_told_of_the_worker(folder: Path) -> None:
    with Memory(path=folder) as memory, pytest.raises(NotSupportedError, match="embedded store") as raised:
        memory.run_jobs()
    assert "own worker does this work: leave the call out" in (raised.value.hint or "")


@pytest.mark.parametrize("end", ["memory.close()", ""])
def test_a_running_job_is_released_at_the_end(
    folder: Path, processes: Processes, silent_model: socket.socket, end: str
) -> None:
    # So that a busy machine releases the job before the process ends; the call under way would last a minute.
    code = f"""
        from agent_memory.embedded import share
        share.WORKER_TIMEOUT = 40
        memory = Memory(path=folder)
        {SAY}
        sys.stdin.readline()
        {end}
    """
    process = processes.start(code, OPENAI_API_KEY="k")
    with silent_model.accept()[0]:
        began = time.monotonic()
        output, errors = process.communicate("\n", timeout=PATIENCE)
        took = time.monotonic() - began
    assert (process.returncode, output, errors) == (0, "", "")
    assert took < 30  # 1.2 s where the tests have the machine for themselves
    wait_until(lambda: not server_runs(folder))
    assert jobs(folder).get("running", 0) == 0
    assert jobs(folder)["pending"] >= 1
    with open_store(folder) as store, psycopg.connect(store.conninfo) as connection:
        assert connection.execute("select max(attempts) from memory.jobs").fetchone() == (0,)


@pytest.mark.usefixtures("silent_model")
def test_the_job_of_a_killed_process_is_run_at_the_next_opening(folder: Path, processes: Processes) -> None:
    code = f"""
        memory = Memory(path=folder)
        {SAY}
        {WAIT.format(condition="status = 'running'")}
        print("running", flush=True)
        time.sleep(60)
    """
    killed = processes.start(code, OPENAI_API_KEY="k")
    assert killed.stdout is not None
    assert killed.stdout.readline() == "running\n"
    killed.kill()
    killed.wait()
    with open_store(folder) as store, psycopg.connect(store.conninfo, autocommit=True) as connection:
        Memory(connection).admin.activate_model("local")
    with Memory(path=folder) as memory:
        wait_until(lambda: memory.list_memories("ana"))  # and not after the lease of five minutes


def test_it_logs_and_does_not_print(processes: Processes) -> None:
    code = f"""
        memory = Memory(path=folder)
        memory.admin.register_model("nobody", "chat", "openai", "some-model", {{"base_url": "http://127.0.0.1:1/v1"}})
        memory.admin.activate_model("nobody")
        {SAY}
        {WAIT.format(condition="run_after > created_at")}
    """
    assert processes.run(code, OPENAI_API_KEY="k") == ""
    logged = processes.start(
        f"        import logging; logging.basicConfig(level=logging.INFO)\n{code}", OPENAI_API_KEY="k"
    )
    output, errors = logged.communicate(timeout=PATIENCE)
    assert output == ""
    assert "INFO:agent_memory.worker:worker " in errors
    assert "stopped: " in errors


def test_the_servers_log_keeps_nothing_that_was_said(folder: Path) -> None:
    with Memory(path=folder) as memory:
        memory.add_message("ana", "t", "user", "a sesame word")
        with pytest.raises(Exception, match="role"):
            memory.add_message("ana", "t", "another sesame word", "a third sesame word")
        with (
            open_store(folder) as store,
            psycopg.connect(store.conninfo) as connection,
            pytest.raises(psycopg.Error),
        ):
            connection.execute("select 'a fourth sesame word'::int")
    assert [line for line in (folder / "server.log").read_text().splitlines() if "sesame" in line] == []


def test_who_searches_before_the_worker_has_embedded_is_not_told_to_run_one(
    made: Path, silent_model: socket.socket
) -> None:
    url = f"http://127.0.0.1:{silent_model.getsockname()[1]}/v1"
    with Memory(path=made, embed_queries=False) as memory, warnings.catch_warnings():
        memory.admin.register_model("slow", "embedding", "openai", "some-model", {"base_url": url})
        memory.admin.activate_model("slow")
        memory.add_memory("ana", "Likes trains")
        warnings.simplefilter("error")
        with heard() as causes:
            assert [found.content for found in memory.search("ana", "trains")] == ["Likes trains"]
    assert [(cause.cause, cause.hint) for cause in causes] == [
        ("texts not embedded yet", "The worker of this store does that within seconds.")
    ]
