"""Limits of bodies and rates, and that both can be switched off."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from agent_memory.server.rates import Rates

from tests.http.steps import problem, token, with_keys


@pytest.mark.feature("B14")
def test_a_body_has_so_many_bytes_and_a_user_so_many_requests_a_minute(dsn: str) -> None:
    def parts() -> Iterator[bytes]:
        yield b'{"content": "'
        for _ in range(40):
            yield b"x" * 65536
        yield b'"}'

    with with_keys(dsn, "--rate-limit", "20", "--max-body", "1") as serving:
        with serving.client() as admin:
            said = problem(admin.post("/v1/store_artifact", json={"content": "x" * (1 << 20)}), 413)
            assert "more than 1 MiB" in said["detail"]
            assert "--max-body" in said["hint"]
            json = {"Content-Type": "application/json"}
            problem(admin.post("/v1/store_artifact", content=parts(), headers=json), 413)  # without a stated length
            sent = {"user_id": "ana", "content": "x" * 500_000}
            assert admin.post("/v1/store_artifact", json=sent).status_code == 200
        with serving.client(token("ana")) as ana, serving.client(token("eve")) as eve:
            started = time.monotonic()
            answers = [ana.post("/v1/count_memories") for _ in range(20)]
            while answers[-1].status_code == 200:
                answers.append(ana.post("/v1/count_memories"))
                # One more every three seconds: on a busy machine the first twenty take some of these.
                assert len(answers) <= 22 + (time.monotonic() - started) / 3
            assert [answer.status_code for answer in answers[:20]] == [200] * 20
            problem(answers[-1], 429)
            assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
            assert eve.post("/v1/count_memories").status_code == 200
        with serving.client() as admin:  # works for all users, so it is not limited
            assert all(admin.post("/v1/version").status_code == 200 for _ in range(40))
        with serving.client("guess") as guessing:  # those who try keys are
            statuses = [guessing.post("/v1/version").status_code]
            while statuses[-1] == 401 and len(statuses) < 1000:
                statuses.append(guessing.post("/v1/version").status_code)
            assert statuses == [401] * (len(statuses) - 1) + [429]


@pytest.mark.feature("B14")
def test_limits_can_be_switched_off(dsn: str) -> None:
    with with_keys(dsn, "--rate-limit", "0", "--max-body", "0") as serving, serving.client(token("ana")) as ana:
        assert all(ana.post("/v1/count_memories").status_code == 200 for _ in range(50))
        problem(ana.post("/v1/add_memory", json={"content": "x" * (3 << 20)}), 413, "content")  # the database's own


def test_a_rate_recovers_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    rates = Rates(60)
    assert [rates.seconds_to_wait("ana") for _ in range(60)] == [0.0] * 60
    assert rates.seconds_to_wait("ana") == pytest.approx(1.0)
    assert rates.seconds_to_wait("eve") == 0.0
    now += 1.0
    assert rates.seconds_to_wait("ana") == 0.0
    assert rates.seconds_to_wait("ana") == pytest.approx(1.0)
    now += 3600.0
    assert [rates.seconds_to_wait("ana") for _ in range(61)][-1] == pytest.approx(1.0)


def test_forgotten_callers_take_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_memory.server.rates._MOST", 10)
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    rates = Rates(60)
    for number in range(10):
        rates.seconds_to_wait(number)
    now += 120.0
    rates.seconds_to_wait("ana")
    assert len(rates._due) == 1
