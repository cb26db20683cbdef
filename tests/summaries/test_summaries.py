"""Summaries of whole threads and of users: compression, archives, cadences, and what readers get of them.

The rolling summary and the protocol that all of them share are in tests/queue/test_jobs.py.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from agent_memory_models import Models

from tests.support.model_payloads import ENCODINGS
from tests.support.protocol import ANA, SAID_AT, age, claim, complete, lease, make_due, nothing_to_do, open_jobs, say
from tests.support.sqlapi import Api, fenced, refused, rolled_back, wide_text

QUIET: dict[str, dict[str, Any]] = {
    "summary": {"enabled": False},
    "compression": {"enabled": False},
    "cadence": {"fact_extraction_every_n": 0},
}
COMPRESSION = {"enabled": True, "threshold_tokens": 100, "recent_messages_to_keep": 4}
LISTS = {"topics": ["tea"], "entities": ["Ana", "Porto"], "decisions": ["take the train"], "questions": ["when?"]}


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    with rolled_back(shared_api) as api:
        yield api


def only(api: Api, **sections: dict[str, Any]) -> None:
    """Have nothing happen by itself but what these sections of the policy say."""
    settings = {name: {**QUIET.get(name, {}), **sections.get(name, {})} for name in {**QUIET, **sections}}
    api.set_policy(settings=settings)


def compressing(api: Api, **changes: Any) -> None:
    """Compress at 100 tokens all but the newest four messages, unless changed."""
    only(api, compression={**COMPRESSION, **changes})


def write(api: Api, *sizes: int, **arguments: Any) -> None:
    """Append messages of so many tokens each, one by one, question and answer in turns."""
    for number, size in enumerate(sizes):
        role = ("user", "assistant")[number % 2]
        api.add_message(**{**ANA, "role": role, "content": "x" * 4 * size, **arguments})


def write_at_once(api: Api, *sizes: int) -> None:
    api.add_messages(**ANA, messages=[{"role": "user", "content": "x" * 4 * size} for size in sizes])


def seqs(messages: Any) -> list[int]:
    return [message["seq"] if isinstance(message, dict) else message.seq for message in messages]


def active(api: Api) -> list[int]:
    """Messages that readers get, after a look at the counters of the only thread."""
    messages = api.get_messages(**ANA)
    [thread] = api.list_threads(user_id="ana")
    counted = sum(message.token_count for message in messages)
    assert (thread.message_count, thread.active_tokens) == (len(messages), counted)
    return seqs(messages)


def compress(api: Api, summary: str = "They talked.", **result: Any) -> dict[str, Any]:
    return complete(api, asked(api, "compress_thread"), summary=summary, **result)


def asked(api: Api, kind: str) -> Any:
    """A job of this kind that someone asked for."""
    getattr(api, kind)(**({"user_id": "ana"} if kind == "summarize_user" else ANA))
    return claim(api, kind)


def summaries(api: Api, columns: str = "kind, start_seq, end_seq, status") -> list[Any]:
    return api.query(f"select {columns} from memory.summary_chain")


def sources(api: Api, **arguments: Any) -> list[str]:
    return [part.source for part in api.get_context(**{**ANA, **arguments})]


# Compression: when ----------------------------------------------------------------------------------------------------


@pytest.mark.feature("A6")
@pytest.mark.parametrize("append", [write, write_at_once])
@pytest.mark.parametrize(("sizes", "jobs"), [([9] * 11, 0), ([10] * 9, 0), ([10] * 10, 1), ([96, 1, 1, 1, 1], 1)])
def test_a_thread_is_compressed_once_it_has_the_threshold(
    api: Api, append: Callable[..., None], sizes: list[int], jobs: int
) -> None:
    compressing(api)
    append(api, *sizes)
    assert open_jobs(api) == ["compress_thread"] * jobs


@pytest.mark.feature("A6")
@pytest.mark.parametrize("append", [write, write_at_once])
@pytest.mark.parametrize("sizes", [[200] * 4, [1, 1, 1, 200, 200, 200, 200], [9, 200, 1, 1, 1]])
def test_the_newest_messages_alone_start_no_compression(
    api: Api, append: Callable[..., None], sizes: list[int]
) -> None:
    """A tenth of the threshold is worth a call; here there is less, or nothing, to put away."""
    compressing(api)
    append(api, *sizes)
    assert append is write_at_once or open_jobs(api) == []
    assert nothing_to_do(api)
    assert summaries(api) == []


@pytest.mark.feature("A6", "A15")
@pytest.mark.parametrize(
    ("section", "jobs"),
    [
        ({}, 0),  # 10,000 tokens
        ({"threshold_tokens": 50}, 1),
        ({"threshold_tokens": 50, "enabled": False}, 0),
        ({"threshold_tokens": 50, "recent_messages_to_keep": 12}, 0),
    ],
)
def test_each_agent_can_have_a_configuration_of_its_own(api: Api, section: dict[str, Any], jobs: int) -> None:
    api.set_policy(settings={"compression": section}, agent_id="research_agent")
    only(api, compression={"enabled": True})
    write(api, *[10] * 12, agent_id="research_agent")
    write(api, *[10] * 12, agent_id="other", thread_id="t2")
    assert api.query("select kind, scope from memory.jobs") == [("compress_thread", "t1")] * jobs


@pytest.mark.feature("A6")
def test_what_was_compressed_does_not_start_the_next_compression(api: Api) -> None:
    compressing(api)
    write(api, *[10] * 10)
    complete(api, claim(api), summary="They talked.")
    write(api, *[10] * 5)
    assert open_jobs(api) == []
    write(api, 10)
    assert open_jobs(api) == ["compress_thread"]


@pytest.mark.feature("A6", "E15")
def test_a_thread_below_the_threshold_is_compressed_on_demand(api: Api) -> None:
    compressing(api)
    write(api, *[1] * 6)
    assert asked(api, "compress_thread").payload["is_forced"] is True


@pytest.mark.feature("A6", "E15")
@pytest.mark.parametrize("sizes", [[], [1], [1] * 4])
def test_a_thread_with_nothing_but_new_messages_is_done_without_a_model(api: Api, sizes: list[int]) -> None:
    compressing(api)
    write(api, *(sizes or [1]))
    if not sizes:
        api.clear_thread(**ANA)
    job_id = api.compress_thread(**ANA)
    assert nothing_to_do(api)
    assert api.get_job(user_id="ana", job_id=job_id).result == {"skipped": "nothing new"}
    assert summaries(api) == []


@pytest.mark.feature("A6", "E15")
def test_asking_for_what_is_queued_already_makes_it_certain(api: Api) -> None:
    compressing(api)
    write(api, *[10] * 10)
    api.compress_thread(**ANA)
    assert claim(api).payload["is_forced"] is True


# Compression: what ----------------------------------------------------------------------------------------------------


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
@pytest.mark.parametrize("keep", [1, 4, 11])
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
@pytest.mark.parametrize("keep", range(1, 12))
def test_tool_results_are_kept_with_their_call(api: Api, keep: int) -> None:
    compressing(api, recent_messages_to_keep=keep)
    calls = [{"id": tool, "function": {"name": tool, "arguments": "{}"}} for tool in "abc"]
    for _ in range(4):
        say(api, "question")
        say(api, "call", role="assistant", metadata={"tool_calls": calls})
        say(api, *"abc", role="tool")
        say(api, "answer", role="assistant")
    compress(api)
    kept = active(api)
    wanted = 24 - keep
    while wanted % 6 in (2, 3, 4):  # a tool's result
        wanted -= 1
    assert kept == list(range(wanted, 24))


@pytest.mark.feature("A7", "E16")
def test_a_summary_stands_for_what_was_compressed(api: Api) -> None:
    compressing(api)
    api.talk(**ANA, rounds=4)
    compress(api, "They said hello.")
    assert [(part.source, part.content) for part in api.get_context(**ANA)] == [
        ("thread_summary", fenced("Summary of the conversation so far:\nThey said hello.")),
        ("message", "question 2"),
        ("message", "answer 2"),
        ("message", "question 3"),
        ("message", "answer 3"),
    ]


@pytest.mark.feature("A7")
@pytest.mark.parametrize("sizes", [[1] * 2500, [2000] * 60])
@pytest.mark.parametrize("on_demand", [True, False])
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
    assert [part.content for part in api.get_context(**ANA)][1] == "call"
    complete(api, claim(api), summary="They talked.")
    assert active(api) == list(range(1010, 1014))


@pytest.mark.feature("A7")
def test_what_a_whole_thread_summary_covers_is_put_away_without_a_model(api: Api) -> None:
    only(api, cadence={"thread_summary_every_n": 10})
    write(api, *[10] * 10)
    complete(api, claim(api), summary="All of it.")
    compressing(api)
    job_id = api.compress_thread(**ANA)
    assert nothing_to_do(api)
    assert api.get_job(user_id="ana", job_id=job_id).status == "completed"
    assert active(api) == [6, 7, 8, 9]
    assert summaries(api) == [("thread", 0, 9, "completed")]


@pytest.mark.feature("A7")
@pytest.mark.parametrize("size", [1, 10])
def test_a_covered_thread_is_put_away_by_itself_when_it_has_the_threshold(api: Api, size: int) -> None:
    only(api, cadence={"thread_summary_every_n": 10})
    write(api, *[size] * 10)
    complete(api, claim(api), summary="All of it.")
    compressing(api)
    api.connection.execute("insert into memory.jobs (user_id, kind, scope) values ('ana', 'compress_thread', 't1')")
    assert nothing_to_do(api)
    assert active(api) == ([6, 7, 8, 9] if size == 10 else list(range(10)))


# Compression: failures ------------------------------------------------------------------------------------------------


@pytest.mark.feature("A7")
@pytest.mark.parametrize(
    "result",
    [
        {},
        {"summary": " "},
        {"summary": 5},
        {"summary": "x" * 10_000_000},
        {"summary": "They talked.", "metadata": []},
        {"summary": "They talked.", "generation_time_ms": -1},
        {"summary": "They talked.", "token_counts": {"0": 1}},
        {"summary": "They talked.", "token_counts": [1], "token_counter": "o200k_base"},
        {"summary": "They talked.", "token_counts": {"0": "1"}, "token_counter": "o200k_base"},
        {"summary": "They talked.", "token_counts": {"0": 1.5}, "token_counter": "o200k_base"},
        {"summary": "They talked.", "token_counts": {"0": -1}, "token_counter": "o200k_base"},
        {"summary": "They talked.", "token_counts": {"0": 10**400}, "token_counter": "o200k_base"},
        {"summary": "They talked.", "token_counts": {"-1": 1}, "token_counter": "o200k_base"},
        {"summary": "They talked.", "token_counts": {"9" * 30: 1}, "token_counter": "o200k_base"},
        {"summary": "They talked.", "token_counts": {"1; drop": 1}, "token_counter": "o200k_base"},
        {"skipped": "below", "token_counts": {"0": None}, "token_counter": "o200k_base"},
    ],
    ids=lambda result: str(result)[-60:],
)
def test_a_bad_result_changes_nothing(api: Api, result: dict[str, Any]) -> None:
    compressing(api, archive_conversations=True)
    write(api, *[10] * 10)
    job = claim(api)
    before = api.state()
    with refused("result"):
        api.complete_job(**lease(job), result=result)
    assert api.state() == before


@pytest.mark.feature("A7", "A14")
def test_a_compression_that_never_succeeds_leaves_the_thread_as_it_was(api: Api) -> None:
    compressing(api)
    write(api, *[10] * 10)
    before = api.get_messages(**ANA)
    for status in ["pending"] * 4 + ["dead"]:
        assert api.fail_job(**lease(claim(api)), error="no model") == status
        assert (api.get_messages(**ANA), api.get_thread_summary(**ANA)) == (before, [])
        assert sources(api) == ["message"] * 10
        make_due(api)
    assert summaries(api) == [("thread", 0, 5, "failed")]


@pytest.mark.feature("A7")
def test_a_result_that_is_rolled_back_has_changed_nothing_and_can_be_handed_in_again(api: Api) -> None:
    compressing(api, archive_conversations=True)
    write(api, *[10] * 10)
    job = claim(api)
    before = api.state()
    with api.connection.transaction(force_rollback=True):
        complete(api, job, summary="They talked.")
    assert api.state() == before
    complete(api, job, summary="They talked.")
    assert active(api) == [6, 7, 8, 9]


@pytest.mark.feature("A7", "D9")
@pytest.mark.parametrize("end", ["released", "died"])
def test_the_next_attempt_compresses_the_thread_as_it_is_by_then(api: Api, end: str) -> None:
    compressing(api)
    write(api, *[10] * 10)
    job = claim(api, lease="1 microsecond" if end == "died" else "1 minute")
    if end == "released":
        api.release_job(**lease(job))
    write(api, 10)
    complete(api, claim(api), summary="They talked.")
    assert active(api) == [7, 8, 9, 10]
    assert summaries(api) == [("thread", 0, 6, "completed")]


@pytest.mark.feature("A7", "D11")
@pytest.mark.parametrize("function", ["clear_thread", "delete_thread"])
def test_a_thread_that_goes_while_it_is_compressed_stays_gone(api: Api, function: str) -> None:
    compressing(api, archive_conversations=True)
    write(api, *[10] * 10)
    job = claim(api)
    getattr(api, function)(**ANA)
    write(api, *[1] * 3)
    with refused("lease_token", "AM001"):
        complete(api, job, summary="They talked.")
    assert len(active(api)) == 3
    assert (summaries(api), api.list_documents(user_id="ana"), open_jobs(api)) == ([], [], [])


@pytest.mark.feature("A7", "D5")
@pytest.mark.parametrize("kinds", [("summarize_thread", "compress_thread"), ("compress_thread", "summarize_thread")])
def test_two_kinds_of_jobs_never_continue_one_summary_at_once(api: Api, kinds: tuple[str, str]) -> None:
    only(api, cadence={"thread_summary_every_n": 100}, compression=COMPRESSION)
    api.talk(**ANA, rounds=5)
    api.compress_thread(**ANA)
    api.summarize_thread(**ANA)
    first = claim(api, kinds[0])
    assert nothing_to_do(api)
    assert api.query("select attempts, error from memory.jobs where status = 'pending'") == [
        (0, "another job is summarising this thread")
    ]
    complete(api, first, summary="First.")
    make_due(api)
    for job in api.claim_jobs(worker="test"):
        assert (job.kind, job.payload["previous_summary"]) == (kinds[1], "First.")
        complete(api, job, summary="Second.")
    assert active(api) == [6, 7, 8, 9]
    assert summaries(api)[-1] == ("thread", 0, 9, "completed")


@pytest.mark.feature("D5")
def test_a_summary_whose_job_does_something_else_by_now_is_not_left_in_process(api: Api) -> None:
    only(api, cadence={"thread_summary_every_n": 2})
    write(api, 1, 1)
    api.release_job(**lease(claim(api)))
    only(api, cadence={"thread_summary_every_n": 0})
    job = claim(api)
    assert job.payload["kind"] == "rolling"
    assert summaries(api) == [("rolling", 0, 1, "processing")]


# Compression: exact counts --------------------------------------------------------------------------------------------


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


@pytest.mark.feature("A5")
def test_what_was_counted_once_is_not_counted_again_until_it_changes(api: Api) -> None:
    compressing(api)
    write(api, *[10] * 6)
    for count in (3, 7):
        counts = {str(seq): count for seq in range(6)}
        complete(api, asked(api, "compress_thread"), skipped="below", token_counts=counts, token_counter="o200k_base")
        assert api.list_threads(user_id="ana")[0].active_tokens == 18
    api.connection.execute("update memory.messages set content = 'short' where seq = 2")
    assert api.query("select seq, token_count from memory.messages where not is_counted") == [(2, 2)]
    assert len(active(api)) == 6


@pytest.mark.feature("A5", "A6")
@pytest.mark.parametrize("messages", [10, 300])
def test_a_thread_that_is_smaller_than_estimated_is_left_alone(api: Api, messages: int) -> None:
    compressing(api, threshold_tokens=messages * 10)
    write_at_once(api, *[10] * messages)
    job = claim(api)
    counts = {str(message["seq"]): 3 for message in job.payload["messages"]}
    outcome = complete(api, job, skipped="too small", token_counts=counts, token_counter="o200k_base")
    assert outcome == {"skipped": "too small", "token_counter": "o200k_base"}
    assert active(api) == list(range(messages))
    assert (summaries(api), open_jobs(api)) == ([], [])


@pytest.mark.feature("A5", "A6")
@pytest.mark.parametrize("is_forced", [False, True])
def test_tiktoken_decides(api: Api, is_forced: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimated at 3,660 tokens, counted at 1,920."""
    if not ENCODINGS.exists():
        pytest.skip("the encodings of tiktoken are not on this machine")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(ENCODINGS))
    compressing(api, threshold_tokens=3000)
    say(api, *["Здравствуйте, прекрасная погода. " * 24] * 10)
    if is_forced:
        api.compress_thread(**ANA)
    job = claim(api)

    async def run() -> Any:
        async with Models(may_download=False) as models:
            return await models.run(job.kind, job.payload, [])

    outcome = complete(api, job, **asyncio.run(run()))
    assert ("skipped" in outcome) is not is_forced
    assert active(api) == list(range(6 * is_forced, 10))
    assert len({message.token_count for message in api.get_messages(**ANA)}) == 1
    assert api.list_threads(user_id="ana")[0].active_tokens < 2000


# Compression: with others ---------------------------------------------------------------------------------------------


@pytest.mark.feature("A7", "D10")
def test_a_result_is_not_lost_when_a_writer_holds_the_thread(
    db: psycopg.Connection, connect: Callable[..., psycopg.Connection]
) -> None:
    api, writer = Api(db), Api(connect())
    compressing(api)
    write(api, *[10] * 10)
    job = claim(api)
    with writer.connection.transaction():
        write(writer, 10)
        started = time.monotonic()
        with pytest.raises(psycopg.errors.LockNotAvailable):
            complete(api, job, summary="They talked.")
        assert 1.9 < time.monotonic() - started < 8
    complete(api, job, summary="They talked.")
    assert active(api) == [6, 7, 8, 9, 10]


@pytest.mark.feature("D10")
def test_a_claim_does_not_wait_for_a_writer(db: psycopg.Connection, connect: Callable[..., psycopg.Connection]) -> None:
    api, writer = Api(db), Api(connect())
    only(api, cadence={"thread_summary_every_n": 10})
    write(api, *[10] * 10)
    complete(api, claim(api), summary="All of it.")
    api.compress_thread(**ANA)
    db.execute("set lock_timeout = '5s'")
    with writer.connection.transaction():
        write(writer, 10)
        assert nothing_to_do(api)
    assert active(api) == list(range(11))
    make_due(api)
    api.set_policy(settings={"compression": {"recent_messages_to_keep": 4}})
    assert nothing_to_do(api)
    assert active(api) == [7, 8, 9, 10]


@pytest.mark.feature("A5", "D10")
def test_counting_does_not_wait_for_a_writer(
    db: psycopg.Connection, connect: Callable[..., psycopg.Connection]
) -> None:
    api, writer = Api(db), Api(connect())
    counts: dict[str, Any] = {"token_counts": {"0": 3}, "token_counter": "o200k_base"}
    only(api)
    write(api, 10)
    db.execute("set lock_timeout = '1s'")
    job = asked(api, "summarize_thread")
    with writer.connection.transaction():
        write(writer, 10)
        complete(api, job, summary="They talked.", **counts)
    assert [message.token_count for message in api.get_messages(**ANA)] == [10, 10]
    complete(api, asked(api, "extract_memories"), memories=[], **counts)
    assert [message.token_count for message in api.get_messages(**ANA)] == [3, 10]
    assert active(api) == [0, 1]


@pytest.mark.feature("D10", "E14")
def test_writers_and_compressions_of_one_thread_do_not_hinder_each_other(
    db: psycopg.Connection, connect: Callable[..., psycopg.Connection]
) -> None:
    api = Api(db)
    compressing(api, archive_conversations=True)
    writers = [Api(connect()) for _ in range(3)]
    with ThreadPoolExecutor() as pool:
        writing = [pool.submit(write, writer, *[5] * 80) for writer in writers]
        while not all(work.done() for work in writing) or open_jobs(api):
            for job in api.claim_jobs(worker="test"):
                complete(api, job, summary=f"Up to {job.payload['end_seq']}")
    for work in writing:
        work.result()
    kept = active(api)
    [document] = api.list_documents(user_id="ana")
    assert kept == list(range(240 - len(kept), 240))
    assert document.metadata["message_count"] == 240 - len(kept)
    assert api.value("select count(*) from memory.summary_chain where base_end_seq >= end_seq or start_seq > 0") == 0


@pytest.mark.feature("A7", "E16")
@pytest.mark.parametrize("kind", ["extract_memories", "summarize_user", "summarize_thread"])
def test_what_was_compressed_is_still_read_by_those_who_had_not_read_it(api: Api, kind: str) -> None:
    compressing(api)
    api.talk(**ANA, rounds=4)
    compress(api)
    assert seqs(asked(api, kind).payload["messages"]) == list(range(8))


@pytest.mark.feature("A11", "A7")
@pytest.mark.parametrize("kind", ["extract_memories", "summarize_user", "summarize_thread", "compress_thread"])
def test_what_was_compressed_and_then_cleared_is_read_by_nobody(api: Api, kind: str) -> None:
    compressing(api)
    api.talk(**ANA, rounds=4)
    compress(api)
    assert api.clear_thread(**ANA) == 4
    api.talk(**ANA, rounds=3)
    payload = asked(api, kind).payload
    assert seqs(payload["messages"] + payload.get("recent_messages", [])) == list(range(8, 14))
    assert payload.get("previous_summary") is None


@pytest.mark.feature("A16", "E16")
def test_a_sweep_removes_what_was_compressed_once_extraction_has_read_it_and_keeps_the_summary(api: Api) -> None:
    compressing(api)
    write(api, *[10] * 8)
    compress(api)
    assert api.sweep()["messages"] == 0
    job = asked(api, "extract_memories")
    api.complete_job(user_id="ana", job_id=job.job_id, lease_token=job.lease_token, result={"memories": []})
    assert api.sweep()["messages"] == 4
    assert seqs(api.get_messages(**ANA, include_inactive=True)) == active(api) == [4, 5, 6, 7]
    assert sources(api) == ["thread_summary"] + ["message"] * 4
    write(api, *[10] * 2)
    assert seqs(asked(api, "compress_thread").payload["messages"]) == [4, 5]


@pytest.mark.feature("A16")
def test_a_sweep_does_not_wait_for_an_extraction_that_never_comes(api: Api) -> None:
    compressing(api)
    write(api, *[10] * 8)
    compress(api)
    with api.connection.transaction():
        api.connection.execute("set local session_replication_role = replica")
        api.connection.execute("update memory.messages set updated_at = now() - interval '8 days' where not is_active")
    assert api.sweep()["messages"] == 4


# Archive --------------------------------------------------------------------------------------------------------------


def archived(api: Api) -> Any:
    [document] = api.list_documents(user_id="ana")
    return document


def archive(api: Api) -> None:
    """Compress ten messages, said one a minute, to the last four."""
    compressing(api, archive_conversations=True)
    for minute in range(10):
        say(api, "Hello", created_at=f"2024-01-15T10:{minute:02}:30+00:00", agent_id="research_agent")
    compress(api, "Ana plans a trip.", metadata=LISTS)


@pytest.mark.feature("A8", "A9")
def test_a_compressed_conversation_becomes_a_document(api: Api) -> None:
    api.connection.execute("set local timezone = 'Asia/Tokyo'")
    archive(api)
    document = archived(api)
    assert document.content == (
        "# Conversation Summary\n"
        "## Date Range: 2024-01-15T10:00:30Z to 2024-01-15T10:05:30Z\n"
        "## Summary: Ana plans a trip."
    )
    assert (document.namespace, document.doc_type, document.thread_id) == ("conversations:ana", "conversation", "t1")
    assert document.metadata.pop("summary_id") == str(api.get_thread_summary(**ANA)[0].summary_id)
    assert document.metadata == {
        "session_id": "t1",
        "agent_id": "research_agent",
        "conversation_topics": ["tea"],
        "entities_mentioned": ["Ana", "Porto"],
        "decisions_made": ["take the train"],
        "open_questions": ["when?"],
        "message_count": 6,
        "date_range": {"start": "2024-01-15T10:00:30Z", "end": "2024-01-15T10:05:30Z"},
    }


@pytest.mark.feature("A8")
@pytest.mark.parametrize("later", ["2024-01-16T08:00:00Z", "2024-01-14T08:00:00Z"])
def test_the_document_of_a_thread_grows_with_the_next_compression(api: Api, later: str) -> None:
    archive(api)
    first = archived(api)
    say(api, *["Hello"] * 5, created_at=later)
    compress(api, "Ana has been to Porto.")
    second = archived(api)
    assert (second.document_id, second.created_at) == (first.document_id, first.created_at)
    assert second.content.endswith("## Summary: Ana has been to Porto.")
    assert (second.metadata["message_count"], second.metadata["decisions_made"]) == (11, [])
    assert second.metadata["agent_id"] == "research_agent"
    days = sorted(["2024-01-15T10:00:30Z", "2024-01-15T10:09:30Z", later])
    assert second.metadata["date_range"] == {"start": days[0], "end": days[-1]}
    assert f"{days[0]} to {days[-1]}" in second.content


@pytest.mark.feature("A6", "A8")
def test_nothing_is_archived_unless_the_policy_says_so(api: Api) -> None:
    compressing(api)
    write(api, *[10] * 10)
    compress(api)
    assert api.list_documents(user_id="ana") == []


@pytest.mark.feature("A8")
def test_documents_are_listed_by_kind_and_page_and_deleted(api: Api) -> None:
    for thread in ("t1", "t2", "t3"):
        compressing(api, archive_conversations=True)
        write(api, *[10] * 6, thread_id=thread)
        api.compress_thread(user_id="ana", thread_id=thread)
        complete(api, claim(api), summary=f"About {thread}.")
    listed = api.list_documents(user_id="ana", doc_type="conversation", namespace="conversations:ana")
    assert {document.thread_id for document in listed} == {"t1", "t2", "t3"}
    page = api.list_documents(user_id="ana", row_limit=1, row_offset=1)
    assert [(row.document_id, row.total_count) for row in page] == [(listed[1].document_id, 3)]
    for other in ({"doc_type": "article"}, {"namespace": "conversations:bob"}):
        assert api.list_documents(user_id="ana", **other) == []
    assert api.list_documents(user_id="bob") == []
    document_id = listed[0].document_id
    assert api.delete_document(user_id="bob", document_id=document_id) is False
    assert [api.delete_document(user_id="ana", document_id=document_id) for _ in range(2)] == [True, False]
    assert archived_count(api) == 2


def archived_count(api: Api) -> int:
    return len(api.list_documents(user_id="ana"))


@pytest.mark.feature("A8")
def test_an_archived_conversation_is_found(api: Api) -> None:
    archive(api)
    [found] = api.search(user_id="ana", query="trip", sources=["document"])
    assert (found.id, found.thread_id) == (str(archived(api).document_id), "t1")


@pytest.mark.feature("A8", "D11")
@pytest.mark.parametrize(("function", "left"), [("clear_thread", 1), ("delete_thread", 0)])
def test_the_document_goes_with_a_deleted_thread_and_outlives_a_cleared_one(api: Api, function: str, left: int) -> None:
    archive(api)
    getattr(api, function)(**ANA)
    assert archived_count(api) == left


@pytest.mark.feature("A8")
def test_names_of_any_length_can_be_archived(api: Api) -> None:
    wide = {"user_id": wide_text(255, 1), "thread_id": wide_text(255, 2)}
    compressing(api, archive_conversations=True)
    write(api, *[10] * 10, **wide, agent_id=wide_text(255, 3))
    complete(api, claim(api), summary=wide_text(60_000), metadata={"topics": ["記憶"] * 1000})
    [document] = api.list_documents(user_id=wide["user_id"])
    assert (document.namespace, document.thread_id) == (f"conversations:{wide['user_id']}"[:255], wide["thread_id"])
    assert document.content.endswith(wide_text(60_000))


# Summaries of whole threads -------------------------------------------------------------------------------------------


@pytest.mark.feature("E5", "E13")
@pytest.mark.parametrize(("every_n", "jobs_at"), [(5, [4, 9, 14, 19]), (20, [19]), (21, [])])
def test_a_whole_thread_is_summarised_every_n_messages(api: Api, every_n: int, jobs_at: list[int]) -> None:
    only(api, summary={"enabled": True}, cadence={"thread_summary_every_n": every_n})
    seen = []
    for seq in range(20):
        write(api, 1)
        if api.finish_jobs():
            seen.append(seq)
    assert seen == jobs_at


@pytest.mark.feature("E5", "D4", "D7")
def test_it_is_made_of_the_one_before_and_newer_messages_only(api: Api) -> None:
    only(api, cadence={"thread_summary_every_n": 6})
    previous = None
    for last_seq in (5, 11, 17):
        api.talk(**ANA, rounds=3)
        job = claim(api)
        assert seqs(job.payload["messages"]) == list(range(last_seq - 5, last_seq + 1))
        assert (job.payload["kind"], job.payload["start_seq"], job.payload["end_seq"]) == ("thread", 0, last_seq)
        assert job.payload["previous_summary"] == (previous and previous.summary)
        assert job.payload["previous_metadata"] == (previous and previous.metadata)
        complete(api, job, summary=f"Up to {last_seq}", metadata=LISTS)
        [current] = api.get_thread_summary(**ANA)
        assert (current.summary, current.start_seq, current.end_seq) == (f"Up to {last_seq}", 0, last_seq)
        assert current.base_summary_id == (previous and previous.summary_id)
        previous = current
    assert active(api) == list(range(18))


@pytest.mark.feature("E5")
def test_it_uses_the_prompt_of_whole_threads(api: Api) -> None:
    api.register_model(name="mini", kind="chat", provider="openai", model="gpt-4.1-mini")
    only(api, summary={"model": "mini"}, cadence={"thread_summary_every_n": 2}, compression=COMPRESSION)
    write(api, 1, 1)
    assert claim(api).payload["prompt"]["name"] == "compress_thread"


@pytest.mark.feature("E5", "E8")
def test_recent_k_limits_what_a_summary_reads(api: Api) -> None:
    only(api)
    api.talk(**ANA, rounds=5)
    api.summarize_thread(**ANA, recent_k=4)
    job = claim(api)
    assert seqs(job.payload["messages"]) == [6, 7, 8, 9]
    complete(api, job, summary="The end of it.")
    api.summarize_thread(**ANA)
    assert nothing_to_do(api)


@pytest.mark.feature("A7", "E8")
def test_a_summary_of_a_whole_thread_covers_only_what_was_read_whatever_recent_k_says(api: Api) -> None:
    only(api, cadence={"thread_summary_every_n": 100}, compression=COMPRESSION | {"enabled": False})
    api.talk(**ANA, rounds=5)
    api.summarize_thread(**ANA, recent_k=2)
    job = claim(api)
    read = seqs(job.payload["messages"])
    assert (job.payload["start_seq"], job.payload["end_seq"]) == (min(read), max(read))
    complete(api, job, summary="They talked.")
    api.compress_thread(**ANA)
    for job in api.claim_jobs(worker="test"):
        read += seqs(job.payload["messages"])
        complete(api, job, summary="They talked.")
    assert active(api) == list(range(6, 10))
    assert set(read) | set(active(api)) == set(range(10))


@pytest.mark.feature("E5")
def test_a_long_backlog_of_a_whole_thread_is_read_in_parts(api: Api) -> None:
    only(api, cadence={"thread_summary_every_n": 1000})
    api.talk(**ANA, rounds=1125)
    api.summarize_thread(**ANA)
    parts = []
    while jobs := api.claim_jobs(worker="test"):
        parts.append(seqs(jobs[0].payload["messages"]))
        complete(api, jobs[0], summary=f"Part {len(parts)}")
    assert [len(part) for part in parts] == [1000, 1000, 250]
    assert [seq for part in parts for seq in part] == list(range(2250))


@pytest.mark.feature("E5", "D6")
@pytest.mark.parametrize(("kind", "expected"), [(None, "Whole."), ("thread", "Whole."), ("rolling", "Window.")])
def test_each_kind_of_summary_can_be_asked_for(api: Api, kind: str | None, expected: str) -> None:
    both(api)
    assert [summary.summary for summary in api.get_thread_summary(**ANA, kind=kind)] == [expected]


def both(api: Api) -> None:
    """A thread with a rolling summary, and one of all but the last four messages, which are not active any more."""
    compressing(api)
    api.talk(**ANA, rounds=5)
    complete(api, asked(api, "summarize_thread"), summary="Window.")
    compress(api, "Whole.")


@pytest.mark.feature("E5")
def test_what_there_is_comes_when_no_kind_is_asked_for(api: Api) -> None:
    compressing(api)
    api.talk(**ANA, rounds=3)
    complete(api, asked(api, "summarize_thread"), summary="Window.")
    assert [summary.summary for summary in api.get_thread_summary(**ANA)] == ["Window."]
    assert api.get_thread_summary(**ANA, kind="thread") == []


# Summaries of users ---------------------------------------------------------------------------------------------------


def hear(api: Api, thread_id: str, *contents: str, **arguments: Any) -> None:
    for content in contents:
        api.add_message(**{"user_id": "ana", "thread_id": thread_id, "role": "user", "content": content, **arguments})


def profile_job(api: Api, **arguments: Any) -> Any:
    api.summarize_user(user_id="ana", **arguments)
    return claim(api, "summarize_user")


def profile(api: Api, summary: str = "Ana lives in Oslo.", **arguments: Any) -> dict[str, Any]:
    return complete(api, profile_job(api, **arguments), summary=summary)


def known(api: Api) -> list[str]:
    return [row.summary for row in api.get_user_summary(user_id="ana")]


def heard(job: Any) -> list[tuple[int, str]]:
    return [(message["thread"], message["content"]) for message in job.payload["messages"]]


@pytest.mark.feature("E7")
def test_a_claim_brings_what_was_said_in_all_threads_and_no_ids(api: Api) -> None:
    only(api)
    hear(api, "secret-thread-1", "I live in Oslo", created_at=SAID_AT, metadata={"name": "Ana"})
    hear(api, "secret-thread-1", "Noted.", role="assistant", created_at=SAID_AT)
    hear(api, "secret-thread-1", "13 °C", role="tool", created_at=SAID_AT)
    hear(api, "secret-thread-2", "I like tea", created_at="2024-05-02T00:00:00+00:00", agent_id="secret-agent")
    api.add_message(user_id="bob", thread_id="secret-thread-1", role="user", content="I like gin")
    job = profile_job(api)
    first = {"thread": 1, "seq": 0, "role": "user", "name": "Ana", "content": "I live in Oslo", "created_at": SAID_AT}
    assert job.payload == {
        "model": {"name": "local", "provider": "local", "model": "patterns", "settings": {}},
        "prompt": None,
        "previous_summary": None,
        "previous_metadata": None,
        "messages": [
            first,
            {"thread": 1, "seq": 1, "role": "assistant", "content": "Noted.", "created_at": SAID_AT},
            {
                "thread": 2,
                "seq": 0,
                "role": "user",
                "content": "I like tea",
                "created_at": "2024-05-02T00:00:00+00:00",
            },
        ],
    }
    assert "secret" not in str(job.payload)


@pytest.mark.feature("E7")
def test_a_profile_is_merged_from_what_is_new(api: Api) -> None:
    only(api)
    hear(api, "t1", "I live in Oslo")
    hear(api, "t2", "I like tea", "and milk")
    outcome = complete(api, profile_job(api), summary="Lives in Oslo.", metadata={"topics": ["Oslo"]})
    [first] = api.get_user_summary(user_id="ana")
    assert outcome == {"summary_id": str(first.summary_id), "messages": 3}
    assert (first.summary, first.start_seq, first.end_seq, first.base_summary_id) == ("Lives in Oslo.", 0, 2, None)
    assert (first.metadata, first.status) == ({"topics": ["Oslo"]}, "completed")
    hear(api, "t1", "I moved to Porto")
    job = profile_job(api)
    assert heard(job) == [(1, "I moved to Porto")]
    assert (job.payload["previous_summary"], job.payload["previous_metadata"]) == (first.summary, first.metadata)
    complete(api, job, summary="Lives in Porto.")
    [second] = api.get_user_summary(user_id="ana")
    assert (second.summary, second.end_seq, second.base_summary_id) == ("Lives in Porto.", 3, first.summary_id)
    api.summarize_user(user_id="ana")
    assert nothing_to_do(api)
    assert api.query("select from memory.summaries where kind = 'user'") == [()] * 2


@pytest.mark.feature("E7")
def test_no_message_goes_into_a_profile_twice_and_none_is_left_out(api: Api) -> None:
    only(api)
    for thread in range(30):
        messages = [{"role": "user", "content": f"{thread}/{number}"} for number in range(15)]
        api.add_messages(user_id="ana", thread_id=f"t{thread}", messages=messages)
    api.summarize_user(user_id="ana")
    read: list[str] = []
    sizes = []
    while jobs := api.claim_jobs(worker="test"):
        sizes.append(len(jobs[0].payload["messages"]))
        read += [content for _, content in heard(jobs[0])]
        complete(api, jobs[0], summary="A profile.")
    assert sizes == [200, 200, 50]
    assert sorted(read) == sorted(f"{thread}/{number}" for thread in range(30) for number in range(15))
    assert api.get_user_summary(user_id="ana")[0].end_seq == 449


@pytest.mark.feature("E7", "E8")
@pytest.mark.parametrize(
    ("recent_k", "expected"), [(1, "t2 c"), (4, "t1 c, t2 a, t2 b, t2 c"), (99, "t1 a, t1 b, t1 c, t2 a, t2 b, t2 c")]
)
def test_recent_k_limits_a_profile_to_what_was_said_last(api: Api, recent_k: int, expected: str) -> None:
    only(api)
    for day, thread in enumerate(("t1", "t2"), 1):
        hear(api, thread, *(f"{thread} {word}" for word in "abc"), created_at=f"2024-05-{day:02}T00:00:00Z")
    assert ", ".join(content for _, content in heard(profile_job(api, recent_k=recent_k))) == expected


@pytest.mark.feature("E7", "E13")
@pytest.mark.parametrize(("every_n", "jobs_at"), [(0, []), (4, [3, 7, 11]), (10, [9])])
def test_a_profile_is_made_every_n_messages_of_all_threads(api: Api, every_n: int, jobs_at: list[int]) -> None:
    only(api, cadence={"user_summary_every_n": every_n})
    seen = []
    for number in range(12):
        hear(api, f"t{number % 3}", "Hello")
        hear(api, "t1", "Hello", user_id="bob")
        if api.finish_jobs():
            seen.append(number)
    assert seen == jobs_at


@pytest.mark.feature("E7")
def test_a_batch_counts_towards_a_profile_like_single_messages(api: Api) -> None:
    only(api, cadence={"user_summary_every_n": 10})
    write_at_once(api, *[1] * 9)
    assert open_jobs(api) == []
    write_at_once(api, *[1] * 25)
    assert open_jobs(api) == ["summarize_user"]


@pytest.mark.feature("E7")
def test_there_is_no_profile_of_who_said_nothing(api: Api) -> None:
    hear(api, "t1", "13 °C", role="tool")
    for user in ("ana", "nobody"):
        job_id = api.summarize_user(user_id=user)
        assert nothing_to_do(api)
        assert api.get_job(user_id=user, job_id=job_id).result == {"skipped": "nothing new"}
        assert api.get_user_summary(user_id=user) == []


@pytest.mark.feature("E7")
def test_a_profile_is_made_anew_when_all_that_it_goes_on_from_is_gone(api: Api) -> None:
    only(api)
    hear(api, "t1", "I am ill")
    profile(api, "Ana is ill.")
    hear(api, "t2", "I like tea")
    job = profile_job(api)
    api.clear_thread(**ANA)  # the only source of what the job goes on from
    with refused("lease_token", "AM001"):
        complete(api, job, summary="Ana is ill and likes tea.")
    job = claim(api)
    assert (heard(job), job.payload["previous_summary"]) == ([(1, "I like tea")], None)


@pytest.mark.feature("E7", "F6")
def test_a_failed_profile_has_read_nothing(api: Api) -> None:
    only(api)
    hear(api, "t1", "I live in Oslo")
    job = profile_job(api)
    before = api.state()
    with refused("result"):
        complete(api, job, summary="")
    assert api.state() == before
    api.fail_job(**lease(job), error="no", retry_after="0")
    assert heard(claim(api)) == [(1, "I live in Oslo")]
    assert (known(api), api.query("select from memory.marks where kind <> 'claims'")) == ([], [])


@pytest.mark.feature("E7", "A11")
@pytest.mark.parametrize("function", ["clear_thread", "delete_thread"])
@pytest.mark.parametrize("other_threads", [True, False])
def test_a_thread_that_goes_while_a_profile_is_made_is_not_in_it(api: Api, function: str, other_threads: bool) -> None:
    only(api)
    hear(api, "t1", "I am ill")
    if other_threads:
        hear(api, "t2", "I like tea")
    job = profile_job(api)
    getattr(api, function)(**ANA)
    with refused("lease_token", "AM001"):
        complete(api, job, summary="Ana is ill.")
    assert known(api) == []
    again = api.claim_jobs(worker="test")
    assert [heard(job) for job in again] == ([[(1, "I like tea")]] if other_threads else [])
    assert all(job.attempt == 1 for job in again)


@pytest.mark.feature("E7", "A11")
@pytest.mark.parametrize("function", ["clear_thread", "delete_thread"])
def test_a_thread_that_was_not_read_may_go_while_a_profile_is_made(api: Api, function: str) -> None:
    only(api)
    hear(api, "t2", "I like tea")
    job = profile_job(api)
    hear(api, "t1", "I am ill")
    getattr(api, function)(**ANA)
    complete(api, job, summary="Ana likes tea.")
    assert known(api) == ["Ana likes tea."]


@pytest.mark.feature("E7", "A11")
@pytest.mark.parametrize("first", ["clear_thread", "delete_thread"])
@pytest.mark.parametrize("last", ["clear_thread", "delete_thread"])
def test_a_profile_goes_with_the_last_thread_that_contributed(api: Api, first: str, last: str) -> None:
    only(api)
    hear(api, "t1", "I am ill")
    hear(api, "t2", "I like tea")
    profile(api)
    hear(api, "t3", "Hello")  # not in it
    getattr(api, first)(user_id="ana", thread_id="t1")
    assert known(api) == ["Ana lives in Oslo."]
    getattr(api, last)(user_id="ana", thread_id="t2")
    assert known(api) == []


@pytest.mark.feature("E7", "D11")
@pytest.mark.parametrize("function", ["clear_thread", "delete_thread"])
def test_a_thread_that_goes_just_as_the_profile_is_stored_is_read_anew_when_it_returns(
    db: psycopg.Connection, connect: Callable[..., psycopg.Connection], function: str
) -> None:
    api, other = Api(db), Api(connect())
    only(api)
    hear(api, "t1", "I am ill")
    hear(api, "t2", "I like tea")
    job = profile_job(api)
    with ThreadPoolExecutor() as pool:
        with db.transaction():
            complete(api, job, summary="Ana is ill.")
            going = pool.submit(getattr(other, function), **ANA)
            while not api.value("select cardinality(pg_blocking_pids(%(pid)s))", pid=other.connection.info.backend_pid):
                assert not going.done()
        assert going.result(10) == 1
    hear(api, "t1", "I am well")
    assert heard(profile_job(api)) == [(1, "I am well")]


# What readers get -----------------------------------------------------------------------------------------------------


@pytest.mark.feature("A4", "D6", "E7")
def test_a_context_has_the_user_the_thread_and_the_messages_since(api: Api) -> None:
    both(api)
    profile(api)
    api.add_memory(user_id="ana", content="Likes tea")
    context = api.get_context(**ANA)
    assert [(part.source, part.role) for part in context] == [
        ("memories", "system"),
        ("user_summary", "system"),
        ("thread_summary", "system"),
        ("message", "user"),
        ("message", "assistant"),
        ("message", "user"),
        ("message", "assistant"),
    ]
    assert context[1].content == fenced("What is known about the user:\nAna lives in Oslo.")
    assert context[2].content == fenced("Summary of the conversation so far:\nWhole.")
    assert sources(api, thread_id="new") == ["memories", "user_summary"]


@pytest.mark.feature("D6")
@pytest.mark.parametrize(
    ("max_tokens", "expected"),
    [
        (4000, ["Whole.", 6, 7, 8, 9]),  # the messages since the whole fit into half of it
        (150, ["Whole.", "Window.", 9]),
        (100, ["Whole.", 9]),
    ],
)
def test_a_rolling_summary_stands_in_when_the_messages_since_the_whole_do_not_fit(
    api: Api, max_tokens: int, expected: list[Any]
) -> None:
    compressing(api, enabled=False)
    write(api, *[10] * 10)
    compress(api, "Whole.")
    complete(api, asked(api, "summarize_thread"), summary="Window.")
    parts = api.get_context(**ANA, max_tokens=max_tokens)
    texts = [part.content.splitlines()[-2] for part in parts if part.source == "thread_summary"]
    messages = [part for part in parts if part.source == "message"]
    assert texts + active(api)[4 - len(messages) :] == expected
    assert sum(part.token_count for part in parts) <= max_tokens


@pytest.mark.feature("A14")
def test_what_does_not_fit_is_named(api: Api) -> None:
    compressing(api)
    api.talk(**ANA, rounds=3)
    compress(api, "s" * 4000)
    profile(api, "u" * 4000)
    api.notices.clear()
    assert sources(api, max_tokens=60) == ["message"] * 4
    assert api.notices == [
        "degraded: the thread summary does not fit into max_tokens",
        "degraded: the user summary does not fit into max_tokens",
    ]


@pytest.mark.feature("A3", "E7")
@pytest.mark.parametrize(("agent_id", "found"), [(None, True), ("cook", False), ("tutor", False)])
def test_an_agent_gets_no_summary_of_what_others_heard(api: Api, agent_id: str | None, found: bool) -> None:
    compressing(api)
    for agent in ("cook", "tutor", "cook"):
        api.talk(**ANA, rounds=3, agent_id=agent)
    compress(api)
    hear(api, "t2", "I like tea", agent_id="cook")
    profile(api)
    summaries_found = {source for source in sources(api, agent_id=agent_id) if source.endswith("summary")}
    assert summaries_found == ({"user_summary", "thread_summary"} if found else set())


@pytest.mark.feature("A3", "E7")
def test_an_agent_that_heard_everything_gets_the_summaries(api: Api) -> None:
    compressing(api)
    api.talk(**ANA, rounds=3, agent_id="cook")
    compress(api)
    profile(api)
    assert sources(api, agent_id="cook")[:2] == ["user_summary", "thread_summary"]
    assert sources(api, agent_id="tutor") == []


@pytest.mark.feature("A3")
def test_summaries_of_others_are_nobodys_business(api: Api) -> None:
    both(api)
    profile(api)
    bob = {"user_id": "bob", "thread_id": "t1"}
    assert (api.get_thread_summary(**bob), api.get_user_summary(user_id="bob"), api.get_context(**bob)) == ([], [], [])


@pytest.mark.feature("A14")
def test_without_a_worker_everything_else_goes_on(api: Api) -> None:
    """At the default policy, with far more than the threshold."""
    for number in range(60):
        say(api, f"question {number} " + "x" * 1000)
        say(api, f"answer {number}", role="assistant")
    assert open_jobs(api) == ["compress_thread", "extract_memories", "summarize_thread"]
    assert [part.content for part in api.get_context(**ANA)][-1] == "answer 59"
    assert sum(part.token_count for part in api.get_context(**ANA)) <= 4000
    assert len(active(api)) == 120
    assert api.search(user_id="ana", query="question 7", sources=["message"], top_k=1)


# What administrators see ----------------------------------------------------------------------------------------------


@pytest.mark.feature("D8")
def test_views_show_chains_windows_times_and_what_is_stuck(api: Api) -> None:
    only(api)
    for rounds, milliseconds in ((8, 10), (2, 31)):
        api.talk(**ANA, rounds=rounds)
        api.summarize_thread(**ANA)
        complete(api, claim(api), summary="They talked.", generation_time_ms=milliseconds)
    api.summarize_user(user_id="ana")
    complete(api, claim(api), summary="A profile.")
    asked(api, "compress_thread")
    age(api, days=1, table="summaries")
    assert summaries(api, "thread_id, kind, base_end_seq, start_seq, end_seq, window_size, status") == [
        ("", "user", None, 0, 19, 20, "completed"),
        ("t1", "rolling", None, 2, 15, 14, "completed"),
        ("t1", "rolling", 15, 6, 19, 14, "completed"),
        ("t1", "thread", None, 0, 9, 10, "processing"),
    ]
    windows = "select thread_id, start_seq, end_seq, window_size, generation_time_ms from memory.summary_windows"
    assert sorted(api.query(windows)) == [("t1", 2, 15, 14, 10), ("t1", 6, 19, 14, 31)]
    assert api.query("select * from memory.summary_times") == [("rolling", 2, 21, 31)]
    [stuck] = api.query("select kind, thread_id, extract(days from age) as days from memory.stuck_summaries")
    assert stuck == ("thread", "t1", 1)


# Threads that have fallen silent --------------------------------------------------------------------------------------


@pytest.mark.feature("B9", "E13")
@pytest.mark.parametrize(
    ("said", "every_n", "queued"),
    [("2 hours", 10, 1), ("7 days", 10, 1), ("10 minutes", 10, 0), ("9 days", 10, 0), ("2 hours", 0, 0)],
)
def test_a_sweep_has_the_last_messages_of_quiet_threads_extracted(
    api: Api, said: str, every_n: int, queued: int
) -> None:
    only(api, cadence={"fact_extraction_every_n": every_n})
    moment = api.value("select now() - %(said)s::interval", said=said)
    say(api, *["Hello"] * 3, created_at=moment)
    assert api.sweep()["queued"] == queued
    assert open_jobs(api) == ["extract_memories"] * queued
    assert api.sweep()["queued"] == 0


@pytest.mark.feature("B9")
@pytest.mark.parametrize("role", ["user", "tool"])
def test_a_sweep_queues_no_thread_that_was_read_to_its_end(api: Api, role: str) -> None:
    api.set_policy(settings={"cadence": {"fact_extraction_every_n": 10}})
    say(api, "Hello", role=role, created_at=api.value("select now() - interval '2 hours'"))
    assert api.sweep()["queued"] == 1
    api.finish_jobs()
    assert api.sweep()["queued"] == 0
