"""What is said about summaries at INFO and DEBUG: to whoever makes them, and in the server's log."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.jobs import ANA, claim, summary_only
from tests.support.protocol import complete
from tests.support.servers import Server
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("D12")
Line = tuple[str, str]


@pytest.fixture
def api(api: Api) -> Api:
    summary_only(api)
    return api


@pytest.fixture
def said(api: Api) -> list[Line]:
    """Level and text of what the server says to this connection."""
    lines: list[Line] = []
    api.connection.add_notice_handler(
        lambda notice: lines.append((notice.severity_nonlocalized or "", notice.message_primary or ""))
    )
    api.connection.execute("set client_min_messages = debug1")
    return lines


def logged_by(server: Server, since: int) -> list[str]:
    """Lines of the server's own log at level LOG."""
    return re.findall(r"LOG:  (.*)", Path(server.log_file).read_bytes()[since:].decode())


def size(server: Server) -> int:
    return Path(server.log_file).stat().st_size


def test_a_window_that_slides_says_what_it_drops(api: Api, said: list[Line]) -> None:
    api.talk(**ANA, rounds=8)
    complete(api, claim(api), summary="They talked.", generation_time_ms=5)
    lines = [text for level, text in said if level == "INFO"]
    assert lines == ["Sliding window: dropping seq 0-1 for t1", "Summarized messages 2-15 for t1 in 5ms"]


def test_an_id_cannot_begin_a_line_of_its_own(api: Api, said: list[Line]) -> None:
    api.talk("ana", "t\nINFO: all is well", rounds=3)
    complete(api, claim(api), summary="They talked.", generation_time_ms=5)
    assert ("INFO", "Summarized messages 0-5 for t?INFO: all is well in 5ms") in said


def test_what_debug_says(api: Api, said: list[Line]) -> None:
    api.talk(**ANA, rounds=3)
    api.talk(**ANA, rounds=1)
    assert ("DEBUG", "Summarization already in progress for t1") in said
    complete(api, claim(api), summary="They talked.")
    [summary] = api.get_thread_summary(**ANA)
    assert ("DEBUG", f"Memory {summary.summary_id} status updated to completed") in said
    api.summarize_thread(**ANA)
    assert api.claim_jobs(worker="w") == []
    assert ("DEBUG", "No new messages to summarize for t1") in said


@pytest.mark.parametrize(("level", "logged"), [("warning", 1), ("info", 0)])
def test_the_log_of_the_server_has_the_line_once(
    api: Api, said: list[Line], server: Server, level: str, logged: int
) -> None:
    """At info the server writes the INFO line itself."""
    api.connection.execute("set client_min_messages = notice")
    api.connection.execute(f"set log_min_messages = '{level}'")
    api.talk(**ANA, rounds=3)
    before = size(server)
    complete(api, claim(api), summary="They talked.", generation_time_ms=5)
    line = "Summarized messages 0-5 for t1 in 5ms"
    assert logged_by(server, before).count(line) == logged
    assert said.count(("INFO", line)) == 1
    assert [text for level, text in said if level == "LOG"] == []


@pytest.mark.usefixtures("db")
def test_the_runner_in_the_server_says_the_lines(api: Api, said: list[Line], server: Server) -> None:
    if not server.has_plpython:
        pytest.skip("this server has no PL/Python")
    api.talk(**ANA, rounds=8)
    before = size(server)
    api.connection.execute("call memory.run_jobs()")
    [summary] = api.get_thread_summary(**ANA)
    lines = [text for level, text in said if level == "INFO"]
    assert lines[0] == "Sliding window: dropping seq 0-1 for t1"
    assert re.fullmatch(r"Summarized messages 2-15 for t1 in \d+ms", lines[1])
    assert ("DEBUG", f"Memory {summary.summary_id} status updated to completed") in said
    assert logged_by(server, before)[:2] == lines
