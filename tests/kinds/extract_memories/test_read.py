"""Extraction: which text models are given to read, how far a thread was read, and workers at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.kinds.extract_memories.steps import claimed, extract, found, known
from tests.support.protocol import ANA, complete, nothing_to_do, say
from tests.support.sqlapi import Api, fenced
from tests.support.summaries import each_round


def given(api: Api) -> dict[int, str]:
    """What the next extraction is given to read, by seq."""
    return {message["seq"]: message["content"] for message in claimed(api).payload["messages"]}


def extracted_seq(api: Api) -> int:
    seq: int = api.value("select extracted_seq from memory.thread_stats")
    return seq


# The messages before --------------------------------------------------------------------------------------------------


@pytest.mark.feature("E6")
def test_the_messages_before_are_given_so_that_an_answer_is_understood(api: Api) -> None:
    say(api, "I will propose to Ines on Saturday", "Where?", "At the lighthouse", "x" * 200 + "y" * 200, "Good luck?")
    first = claimed(api)
    assert first.payload["earlier"] == []
    complete(api, first, memories=[])
    say(api, "an output of a tool", role="tool")
    say(api, "She said yes!")
    second = claimed(api)
    assert [message["content"] for message in second.payload["messages"]] == ["She said yes!"]
    earlier = second.payload["earlier"]
    assert [(message["seq"], message["role"]) for message in earlier] == [(seq, "user") for seq in (1, 2, 3, 4)]
    assert earlier[2]["content"] == "x" * 100 + " … " + "y" * 200
    # A memory that rests on them alone is refused: they have been read.
    outcome = complete(api, second, memories=[found("Met at the lighthouse", seqs=[2])])
    assert (outcome["inserted"], outcome["refused"]) == (0, 1)


@pytest.mark.feature("F9")
def test_a_message_before_is_cut_after_its_credentials_are_masked(api: Api) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    say(api, "z" * 90 + f" {token} " + "z" * 400)
    complete(api, claimed(api), memories=[])
    say(api, "Thanks")
    [message] = claimed(api).payload["earlier"]
    assert "ghp_" not in message["content"]


# What is read ---------------------------------------------------------------------------------------------------------


BLOCK = "## Your Memories\n\n**Facts about the user or environment:**\n1. Likes tea\n2. Owns a boat [red]"
SUMMARY = "Summary of the conversation so far:\nThey talked about tea."
RECALLED = {
    "the memory block": BLOCK,
    "the block with line ends of Windows": BLOCK.replace("\n", "\r\n"),
    "a block of several types": f"{BLOCK}\n\n**User preferences:**\n1. Likes tea",
    "a placeholder": "[MemoryRef: tea - output of ls tea - 700 tokens]",
    "several placeholders": "[MemoryRef: a - tea - 700 tokens] [MemoryRef: b - tea - 1 tokens]",
    "a summary": SUMMARY,
    "a summary with line ends of Windows": SUMMARY.replace("\n", "\r\n"),
    "a summary of the user": "What is known about the user:\nLikes tea.\nOwns a boat.",
    "previous context": "[Previous context: Likes tea.]",
    "previous context of several lines": "[Previous context: Likes [green] tea.\n\nOwns a boat.]",
    "all of it": f"{BLOCK}\n\n{SUMMARY}\n\n[Previous context: tea]",
}


@pytest.mark.feature("E6")
def test_recalled_text_is_not_read_again_and_the_rest_of_its_message_is(api: Api) -> None:
    say(api, "Hello", *RECALLED.values())
    say(api, *[f"{recalled}\n\nI moved to Oslo {n}.\nIt rains." for n, recalled in enumerate(RECALLED.values())])
    rest = [f"I moved to Oslo {n}.\nIt rains." for n in range(len(RECALLED))]
    assert [text.strip() for text in given(api).values()] == ["Hello", *rest]


@pytest.mark.feature("E6")
def test_nothing_of_a_context_is_read_again(api: Api) -> None:
    summary = "They talked about secret tea.\n\nDECISIONS:\n- secret boat\n\n\nQUESTIONS: secret?"
    each_round(api)
    api.set_policy(settings={"cadence": {"fact_extraction_every_n": 0, "user_summary_every_n": 6}})
    api.add_memory(user_id="ana", content="Has a secret")
    api.talk(**ANA, rounds=3)
    for job in api.claim_jobs(worker="test", max_jobs=10):
        complete(api, job, summary=summary)
    parts = [part.content for part in api.get_context(**ANA) if part.role == "system"]
    assert [part.count("secret") for part in parts] == [3, 1, 3]  # of the user, memories, of the thread
    extract(api)
    say(api, *parts, "\n\n".join([*parts, "I moved to Oslo."]))
    assert [text.strip() for text in given(api).values()] == ["I moved to Oslo."]


@pytest.mark.feature("E6")
def test_only_words_of_users_and_assistants_are_read(api: Api) -> None:
    unread: list[dict[str, Any]] = [
        {"role": "system", "content": "The user likes tea"},
        {"role": "developer", "content": "The user likes tea"},
        {"role": "tool", "content": "The user likes tea"},
        {"role": "user", "content": "I like tea", "metadata": {"recalled": True}},
        {"role": "user", "content": "I like tea", "metadata": {"recalled": "true"}},
        {"role": "user", "content": " \n\t"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "tea"}}]},
    ]
    read = {"role": "user", "content": "Hello", "metadata": {"recalled": False}}
    api.add_messages(**ANA, messages=[*unread, read])
    assert given(api) == {len(unread): "Hello"}


@pytest.mark.feature("E6")
def test_text_that_only_resembles_recalled_text_is_read(api: Api) -> None:
    contents = [
        "I have a file named MemoryRef: notes",
        "My memories: 1. Oslo 2. Bergen",
        "In the previous context: I meant tea",
        "[Previous context: unclosed",
        "[MemoryRef: unclosed\nI own a boat [red]",
        "1. One\n2. Two\n\n**Bold:**\n3. Three",
    ]
    say(api, *contents)
    assert list(given(api).values()) == contents


@pytest.mark.feature("E6")
@pytest.mark.parametrize(
    "pattern",
    ["[Previous context: ", "## Your Memories\n \n**a:**\n1. x\n", fenced("x")],
)
def test_a_huge_message_of_markers_is_read_in_reasonable_time(api: Api, pattern: str) -> None:
    say(api, pattern * 20_000, f"## Your Memories{pattern * 10_000}x", "Hello")
    with api.at_most(cpu_seconds=4):
        assert given(api)[2] == "Hello"


# How far it was read --------------------------------------------------------------------------------------------------


@pytest.mark.feature("B9", "E6")
def test_the_transaction_that_stores_memories_also_marks_how_far_was_read(
    connect: Callable[..., psycopg.Connection],
) -> None:
    api, reader = Api(connect()), Api(connect())
    say(api, "Hello", "I like tea")
    job = claimed(api)
    with api.connection.transaction(force_rollback=True):
        complete(api, job, memories=[found()])
        assert (extracted_seq(api), len(known(api))) == (1, 1)
        assert (extracted_seq(reader), known(reader)) == (-1, [])
    assert (extracted_seq(api), known(api)) == (-1, [])
    complete(api, job, memories=[found()])
    assert (extracted_seq(reader), len(known(reader))) == (1, 1)


@pytest.mark.feature("B9")
@pytest.mark.parametrize("noise", [("tool", "The weather is fine"), ("user", BLOCK)], ids=["tool", "block"])
def test_messages_of_noise_count_as_read_without_a_model(api: Api, noise: tuple[str, str]) -> None:
    role, content = noise
    say(api, content, content, role=role)
    job_id = api.extract_memories(**ANA)
    assert nothing_to_do(api)
    assert api.get_job(user_id="ana", job_id=job_id).result == {"skipped": "nothing new"}
    assert extracted_seq(api) == 1
    assert api.value("select count(*) from memory.model_calls") == 0
    say(api, "Hello")
    assert given(api) == {2: "Hello"}


@pytest.mark.feature("B9")
@pytest.mark.parametrize(
    ("sizes", "parts"),
    [
        ([8000] * 11 + [7992, 4, 8], [13, 1]),  # of 2,000 tokens each
        ([100_000] * 13, [12, 1]),  # prompts show 8,000 characters
        ([1] * 250, [200, 50]),
    ],
    ids=str,
)
def test_a_job_reads_at_most_200_messages_or_24000_tokens_and_the_rest_follows(
    api: Api, sizes: list[int], parts: list[int]
) -> None:
    api.set_policy(settings={"summary": {"enabled": False}, "compression": {"enabled": False}})
    api.add_messages(**ANA, messages=[{"role": "user", "content": "x" * size} for size in sizes])
    api.extract_memories(**ANA)
    read = []
    while jobs := api.claim_jobs(worker="test"):
        read.append([message["seq"] for message in jobs[0].payload["messages"]])
        complete(api, jobs[0], memories=[])
    assert [len(part) for part in read] == parts
    assert [seq for part in read for seq in part] == list(range(len(sizes)))
