"""The server itself: its figures, its health, how it starts and how it ends."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import httpx
import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families
from psycopg.conninfo import conninfo_to_dict

from tests.http.steps import KEY, Serving, problem, token, with_keys
from tests.support.runners import PATIENCE, wait_until


def figures(client: httpx.Client) -> dict[tuple[str, ...], float]:
    """The figures by name and labels."""
    families = text_string_to_metric_families(client.get("/metrics").text)
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


@pytest.mark.feature("B14")
def test_metrics_have_latency_queue_and_ledger(dsn: str, db: psycopg.Connection) -> None:
    db.execute("select memory.add_message('ana', 't', 'user', 'I am Ana.')")
    db.execute("select memory.extract_memories('ana', 't')")
    with with_keys(dsn) as serving, serving.client() as admin:
        for _ in range(3):
            admin.post("/v1/version")
        admin.get("/no/such/path/4711")
        admin.get("/api/v1/agents/secret-agent/memories")
        shown = figures(admin)
        assert shown["agent_memory_http_request_seconds_count", "/v1/version", "POST", "200"] == 3
        assert shown["agent_memory_http_request_seconds_count", "other", "other", "404"] == 1
        assert shown["agent_memory_jobs", "extract_memories", "pending"] == 1
        assert shown["agent_memory_database_up",] == 1
        assert shown["agent_memory_http_requests_in_flight",] == 1
        text = admin.get("/metrics").text
        assert "agent_memory_model_tokens_in_total" in text
        assert "4711" not in text
        assert "secret-agent" not in text
        with serving.client(token("ana")) as ana:
            problem(ana.get("/metrics"), 403)


@pytest.mark.feature("B14")
def test_a_database_that_goes_away_is_told_and_found_again(dsn: str) -> None:
    name = conninfo_to_dict(dsn)["dbname"]
    with (
        with_keys(dsn) as serving,
        serving.client() as admin,
        psycopg.connect(dsn, dbname="postgres", autocommit=True) as other,
    ):
        assert admin.get("/healthz").json()["status"] == "ok"
        other.execute(f'alter database "{name}" allow_connections false')
        try:
            other.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name])
            answer = admin.post("/v1/version")
            problem(answer, 503)
            assert int(answer.headers["retry-after"]) > 0
        finally:
            other.execute(f'alter database "{name}" allow_connections true')
        wait_until(lambda: admin.post("/v1/version").status_code == 200)
        assert admin.get("/healthz").status_code == 200


@pytest.mark.feature("B14")
def test_requests_under_way_end_before_the_server_does(dsn: str, db: psycopg.Connection) -> None:
    db.execute("select memory.add_memory('ana', 'Likes tea')")
    with with_keys(dsn) as serving:
        answers: list[httpx.Response] = []

        def call() -> None:
            with serving.client(token("ana")) as ana:
                answers.append(ana.post("/v1/add_message", json={"thread_id": "t", "role": "user", "content": "Hi"}))

        with psycopg.connect(dsn) as blocker:
            blocker.execute("lock table memory.messages in access exclusive mode")
            caller = threading.Thread(target=call)
            caller.start()
            waits = (
                "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
            )
            while db.execute(waits).fetchone() == (0,):
                time.sleep(0.05)
            serving.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            assert serving.process.poll() is None
            with pytest.raises(httpx.ConnectError):
                httpx.get(serving.url + "/healthz")
        caller.join(PATIENCE)
        assert [answer.status_code for answer in answers] == [200]
        assert serving.stop() == 0
    assert db.execute("select count(*) from memory.messages").fetchone() == (1,)


@pytest.mark.feature("B14")
def test_what_hangs_does_not_keep_the_server_for_ever(dsn: str, db: psycopg.Connection) -> None:
    with with_keys(dsn, "--grace", "1") as serving, psycopg.connect(dsn) as blocker:
        blocker.execute("lock table memory.messages in access exclusive mode")

        def call() -> None:
            with serving.client(token("ana")) as ana, pytest.raises(httpx.HTTPError):
                ana.post("/v1/get_messages", json={"thread_id": "t"}).raise_for_status()

        caller = threading.Thread(target=call)
        caller.start()
        waits = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
        while db.execute(waits).fetchone() == (0,):
            time.sleep(0.05)
        started = time.monotonic()
        serving.stop()
        assert time.monotonic() - started < 20
        caller.join(PATIENCE)


@pytest.mark.feature("B14")
def test_the_embedded_store_serves_and_works_by_itself(tmp_path: Path) -> None:
    with Serving(None, XDG_DATA_HOME=str(tmp_path)) as serving, serving.client(serving.token) as client:
        messages = [{"role": "user", "content": "My name is Alice."}]
        answer = client.post("/api/v1/agents/a/memories/summarize", json={"messages": messages})
        assert answer.json()["extracted"] == 1
        thread = {"user_id": "ana", "thread_id": "t"}
        client.post("/v1/add_message", json={**thread, "role": "user", "content": "I live in Porto."})
        job_id = client.post("/v1/extract_memories", json=thread).json()
        job = {"user_id": "ana", "job_id": job_id}
        wait_until(lambda: client.post("/v1/get_job", json=job).json()["status"] == "completed")


def test_an_address_in_use_is_named_before_a_store_is_started_and_keys_are_in_no_output(
    dsn: str, tmp_path: Path
) -> None:
    with with_keys(dsn) as serving:
        port = serving.url.rpartition(":")[2]
        taken = Serving(None, command="ui", XDG_DATA_HOME=str(tmp_path))
        taken._command += ["--port", port]
        with pytest.raises(AssertionError, match=rf"in use: 127.0.0.1:{port}\nHint: .*--port"):
            taken.__enter__()
        assert [line for line in taken.errors if "WARNING" in line] == []
        assert list(tmp_path.iterdir()) == []
        with serving.client() as admin:
            admin.post("/v1/version")
            admin.post("/v1/search", json={"user_id": "ana", "query": "private words"})
        serving.stop()
        written = serving.announced + "".join(serving.errors)
        for secret in (KEY, "private words", "ana"):
            assert secret not in written
