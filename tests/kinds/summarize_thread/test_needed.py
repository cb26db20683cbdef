"""Rolling summaries that are made when the messages of a thread no longer fit into a context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.support.protocol import ANA, claim, complete, open_jobs, say
from tests.support.sqlapi import Api
from tests.support.summaries import COMPRESSION, compress, only, seqs, summaries, write

CALLS = [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]


def needed(api: Api, **sections: dict[str, Any]) -> None:
    """Have contexts of 100 tokens, and nothing happen but the rolling summaries that they need."""
    summary: dict[str, Any] = {"enabled": True, "when": "needed", "start_seq": 0}
    only(api, **{"summary": summary, "context": {"max_tokens": 100}, **sections})


def made_after(api: Api, *sizes: int, **arguments: Any) -> list[int]:
    """Append messages of these sizes; the number of messages after each of which a summary was made."""
    made = []
    for number, size in enumerate(sizes, 1):
        role = ("user", "assistant")[number % 2 == 0]
        api.add_message(**{**ANA, "role": role, "content": "x" * 4 * size, **arguments})
        if api.finish_jobs():
            made.append(number)
    return made


@pytest.mark.feature("D2", "D13", "A4")
def test_a_summary_is_made_when_the_messages_outgrow_a_context_and_then_before_those_since_do(api: Api) -> None:
    needed(api)
    assert made_after(api, *[10] * 30) == [11, 18, 26]


@pytest.mark.feature("D2", "D13", "A4")
def test_no_summary_is_made_by_default_while_the_messages_fit(api: Api) -> None:
    """4,000 tokens: the built-in context."""
    assert api.get_policy()["summary"]["when"] == "needed"
    only(api, summary={"enabled": True})
    write(api, *[400] * 10)
    assert open_jobs(api) == []
    write(api, 1, 1)
    assert open_jobs(api) == ["summarize_thread"]


@pytest.mark.feature("D2", "A15")
@pytest.mark.parametrize(
    ("summary", "jobs"), [({}, 1), ({"enabled": False}, 0), ({"start_seq": 12}, 0), ({"when": "each_round"}, 1)]
)
def test_the_policy_says_when_summaries_are_made(api: Api, summary: dict[str, Any], jobs: int) -> None:
    needed(api)
    api.set_policy(settings={"summary": {"start_seq": 0, **summary}}, agent_id="cook")
    write(api, *[10] * 12, agent_id="cook")
    write(api, *[1] * 2, agent_id="tutor", thread_id="t2")
    assert api.query("select scope from memory.jobs") == [("t1",)] * jobs


@pytest.mark.feature("D3", "D4")
def test_a_summary_covers_everything_and_reads_what_is_new(api: Api) -> None:
    needed(api, compression={"enabled": False})
    previous = None
    for last_seq in (11, 19, 27):
        write(api, *[10] * (12 if previous is None else 8))
        payload = claim_and_complete(api, f"Up to {last_seq}")
        assert (payload["kind"], payload["start_seq"], payload["end_seq"]) == ("rolling", 0, last_seq)
        assert payload["messages"][0]["seq"] == (0 if previous is None else previous.end_seq + 1)
        assert payload["previous_summary"] == (previous and previous.summary)
        [stored] = api.get_thread_summary(**ANA, kind="rolling")
        assert stored.base_summary_id == (previous and previous.summary_id)
        previous = stored


def claim_and_complete(api: Api, summary: str = "They talked.") -> Any:
    job = claim(api, "summarize_thread")
    complete(api, job, summary=summary)
    return job.payload


@pytest.mark.feature("D6", "A4")
def test_no_message_falls_between_the_summaries_and_the_messages_of_a_context(api: Api) -> None:
    needed(api, compression={**COMPRESSION, "threshold_tokens": 3000})
    api.set_policy(settings={"context": {"max_tokens": 1000}})
    for number in range(100):
        write(api, 25, 25)
        api.connection.execute("update memory.messages set is_counted = true where not is_counted")
        api.finish_jobs(summary=f"{number}")
        shown = [part for part in api.get_context(**ANA) if part.source == "message"]
        covered = api.value("select coalesce(max(end_seq), -1) from memory.summaries")
        [thread] = api.list_threads(user_id="ana")
        assert thread.active_tokens <= 1000 or 2 * number + 2 - len(shown) <= covered + 1
    kinds = {kind for kind, *_ in summaries(api)}
    assert kinds == {"rolling", "thread"}


@pytest.mark.feature("D3", "A7")
def test_after_a_compression_a_summary_covers_what_the_one_of_the_whole_thread_does_not(api: Api) -> None:
    needed(api)
    write(api, *[10] * 40)
    claim_and_complete(api, "Window.")
    api.set_policy(settings={"compression": {"recent_messages_to_keep": 4}, "summary": {"window_size": 2}})
    compress(api, "Whole.")
    write(api, *[10] * 8)
    payload = claim_and_complete(api)
    assert (payload["start_seq"], payload["end_seq"]) == (36, 47)
    # The summary of the messages 0 to 39 reaches into them.
    assert (payload["previous_summary"], seqs(payload["messages"])) == ("Window.", list(range(40, 48)))
    assert sorted(summaries(api)) == [
        ("rolling", 0, 39, "completed"),
        ("rolling", 36, 47, "completed"),
        ("thread", 0, 35, "completed"),
    ]


@pytest.mark.feature("D2")
def test_a_round_is_not_summarised_until_it_ends_unless_it_fills_a_context_by_itself(api: Api) -> None:
    needed(api)
    write(api, *[10] * 10)
    say(api, "x" * 80)
    say(api, "x" * 80, role="assistant", metadata={"tool_calls": CALLS})
    assert open_jobs(api) == ["summarize_thread"]  # 140 tokens without an end
    assert claim_and_complete(api)["end_seq"] == 9
    say(api, "x" * 80, role="tool")
    assert open_jobs(api) == []
    say(api, "x" * 180, role="tool")
    assert open_jobs(api) == ["summarize_thread"]
    payload = claim_and_complete(api)
    assert (seqs(payload["messages"]), payload["end_seq"]) == ([10, 11, 12, 13], 13)


def since(api: Api) -> int:
    tokens: int = api.value("select tokens_since_summary from memory.threads")
    return tokens


@pytest.mark.feature("D9")
def test_a_writer_that_holds_the_thread_makes_the_next_summary_come_early(
    db: psycopg.Connection, connect: Callable[..., psycopg.Connection]
) -> None:
    api = Api(db)
    needed(api)
    write(api, *[10] * 12)
    job = claim(api)
    other = connect()
    with other.transaction():
        other.execute("select from memory.threads for update")
        complete(api, job, summary="They talked.")
    assert since(api) == 120
    assert made_after(api, 10, 10, 10, 10, 10) == [4]  # and not with the first message
    assert since(api) == 10


@pytest.mark.feature("A16")
def test_a_cleared_thread_starts_anew(api: Api) -> None:
    needed(api)
    write(api, *[10] * 12)
    api.clear_thread(**ANA)
    assert made_after(api, *[10] * 18) == [11, 18]
    assert summaries(api) == [("rolling", 12, 21, "completed"), ("rolling", 12, 29, "completed")]
