"""Compression: which messages are compressed, which are kept, and exact token counts in place of estimates."""

from __future__ import annotations

import pytest

from tests.support.protocol import ANA, claim, complete, nothing_to_do, open_jobs, say
from tests.support.sqlapi import Api
from tests.support.summaries import (
    LISTS,
    active,
    asked,
    compress,
    compressing,
    only,
    seqs,
    summaries,
    write,
    write_at_once,
)


@pytest.mark.feature("A7")
def test_a_claim_brings_all_that_a_compression_needs(api: Api) -> None:
    compressing(api)
    write(api, *[10] * 10)
    payload = claim(api).payload
    assert seqs(payload.pop("messages")) == [0, 1, 2, 3, 4, 5]
    assert seqs(payload.pop("recent_messages")) == [6, 7, 8, 9]
    assert payload == {
        "model": {"name": "local", "provider": "local", "model": "patterns", "settings": {}},
        "prompt": None,
        "thread_id": "t1",
        "start_seq": 0,
        "end_seq": 5,
        "previous_summary": None,
        "previous_metadata": None,
        "threshold_tokens": 100,
        "remaining_tokens": 0,
        "is_forced": False,
    }


@pytest.mark.feature("A7", "A9", "E5")
def test_the_next_compression_goes_on_from_the_one_before(api: Api) -> None:
    compressing(api)
    write(api, *[10] * 8)
    compress(api, "First.", metadata=LISTS)
    write(api, *[10] * 3)
    payload = asked(api, "compress_thread").payload
    assert seqs(payload["messages"]) == [4, 5, 6]
    assert seqs(payload["recent_messages"]) == [7, 8, 9, 10]
    assert (payload["start_seq"], payload["end_seq"], payload["remaining_tokens"]) == (0, 6, 0)
    assert (payload["previous_summary"], payload["previous_metadata"]) == ("First.", LISTS)


@pytest.mark.feature("A6", "A7", "A16")
@pytest.mark.parametrize("keep", [1, 11])
def test_exactly_the_newest_messages_are_kept(api: Api, keep: int) -> None:
    compressing(api, recent_messages_to_keep=keep)
    write(api, *[10] * 12)
    before = api.get_messages(**ANA)
    outcome = complete(api, claim(api), summary="They talked.", metadata=LISTS, generation_time_ms=7)
    [summary] = api.get_thread_summary(**ANA)
    gone = 12 - keep
    assert (summary.summary, summary.start_seq, summary.end_seq) == ("They talked.", 0, gone - 1)
    assert (summary.metadata, summary.generation_time_ms) == (LISTS, 7)
    assert outcome == {"summary_id": str(summary.summary_id), "start_seq": 0, "end_seq": gone - 1, "compressed": gone}
    assert api.get_messages(**ANA) == before[gone:]
    assert active(api) == list(range(gone, 12))
    old = api.query("select seq, is_active, summary_id from memory.messages where not is_active order by seq")
    assert old == [(seq, False, summary.summary_id) for seq in range(gone)]
    assert seqs(api.get_messages(**ANA, include_inactive=True)) == list(range(12))


@pytest.mark.feature("A7")
@pytest.mark.parametrize("keep", [1, 2, 3, 4, 5, 6])
def test_tool_results_are_kept_with_their_call(api: Api, keep: int) -> None:
    compressing(api, recent_messages_to_keep=keep)
    calls = [{"id": tool, "function": {"name": tool, "arguments": "{}"}} for tool in "abc"]
    for _ in range(2):
        say(api, "question")
        say(api, "call", role="assistant", metadata={"tool_calls": calls})
        say(api, *"abc", role="tool")
        say(api, "answer", role="assistant")
    compress(api)
    wanted = 12 - keep
    while wanted % 6 in (2, 3, 4):  # a tool's result
        wanted -= 1
    assert active(api) == list(range(wanted, 12))


@pytest.mark.feature("A7")
def test_no_part_of_a_backlog_ends_between_a_call_and_its_results(api: Api) -> None:
    compressing(api)
    calls = [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]
    api.add_messages(
        **ANA,
        messages=[{"role": "user", "content": "question"}] * 998
        + [{"role": "assistant", "content": "call", "tool_calls": calls}]
        + [{"role": "tool", "content": "result", "tool_call_id": "1"}] * 5
        + [{"role": "user", "content": "question"}] * 10,
    )
    compress(api)
    assert active(api) == list(range(998, 1014))
    complete(api, claim(api), summary="They talked.")
    assert active(api) == list(range(1010, 1014))


@pytest.mark.feature("A7")
@pytest.mark.parametrize(("sizes", "on_demand"), [([1] * 2100, False), ([2000] * 30, True)])
def test_a_long_backlog_is_compressed_in_parts_to_its_end(api: Api, sizes: list[int], on_demand: bool) -> None:
    compressing(api, enabled=not on_demand)
    write_at_once(api, *sizes)
    if on_demand:
        api.compress_thread(**ANA)
    previous: str | None = None
    parts: list[list[int]] = []
    while jobs := api.claim_jobs(worker="test"):
        payload = jobs[0].payload
        assert (payload["previous_summary"], payload["is_forced"]) == (previous, on_demand or parts != [])
        assert sum(message["token_count"] for message in payload["messages"]) <= 24_000
        parts.append(seqs(payload["messages"]))
        previous = f"Part {len(parts)}"
        complete(api, jobs[0], summary=previous)
    assert len(parts) >= 3
    assert [seq for part in parts for seq in part] == list(range(len(sizes) - 4))
    assert active(api) == list(range(len(sizes) - 4, len(sizes)))
    chain = summaries(api, "base_end_seq, start_seq, end_seq, status")
    ends = [part[-1] for part in parts]
    assert chain == [(base, 0, end, "completed") for base, end in zip([None, *ends], ends, strict=False)]


@pytest.mark.feature("A7")
def test_messages_that_a_whole_thread_summary_covers_are_put_away_without_a_model(api: Api) -> None:
    only(api, cadence={"thread_summary_every_n": 10})
    write(api, *[10] * 10)
    complete(api, claim(api), summary="All of it.")
    compressing(api)
    job_id = api.compress_thread(**ANA)
    assert nothing_to_do(api)
    assert api.get_job(user_id="ana", job_id=job_id).status == "completed"
    assert active(api) == [6, 7, 8, 9]
    assert summaries(api) == [("thread", 0, 9, "completed")]


@pytest.mark.feature("A5", "E14")
def test_exact_counts_take_the_place_of_the_estimates(api: Api) -> None:
    compressing(api)
    write(api, *[10] * 10)
    job = claim(api)
    write(api, 10)
    counts = {str(seq): 100 + seq for seq in range(11)}  # 10 is not the job's
    outcome = complete(api, job, summary="They talked.", token_counts=counts, token_counter="o200k_base")
    assert outcome["token_counter"] == "o200k_base"
    stored = api.get_messages(**ANA, include_inactive=True)
    assert [message.token_count for message in stored] == [*range(100, 110), 10]
    assert active(api) == [6, 7, 8, 9, 10]
    [exact, *_, estimated] = asked(api, "compress_thread").payload["recent_messages"]
    assert (exact["token_count"], exact["is_counted"]) == (107, True)
    assert (estimated["token_count"], "is_counted" in estimated) == (10, False)


@pytest.mark.feature("A5", "A6")
def test_a_thread_that_is_smaller_than_estimated_is_left_alone(api: Api) -> None:
    compressing(api)
    write_at_once(api, *[10] * 10)
    job = claim(api)
    counts = {str(message["seq"]): 3 for message in job.payload["messages"]}
    outcome = complete(api, job, skipped="too small", token_counts=counts, token_counter="o200k_base")
    assert outcome == {"skipped": "too small", "token_counter": "o200k_base"}
    assert active(api) == list(range(10))
    assert (summaries(api), open_jobs(api)) == ([], [])
