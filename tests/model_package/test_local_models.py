"""The built-in provider: patterns and extracts instead of a model, without any package."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time

import pytest

from tests.support.model_payloads import (
    PLPYTHON,
    SAID_AT,
    TYPES,
    Json,
    compression,
    consolidation,
    extract,
    extraction,
    run,
    seqs_of,
    summarize,
    talk,
    user_summary,
    users,
)

# Extraction


@pytest.mark.feature("B5")
def test_a_name_and_a_preference_are_found() -> None:
    messages = [
        {"seq": 0, "role": "user", "content": "My name is Alice and I work at Google."},
        {"seq": 1, "role": "assistant", "content": "Nice to meet you, Alice! I am an assistant and I like to help."},
        {"seq": 2, "role": "user", "content": "I prefer email over phone calls."},
    ]
    assert [(memory["memory_type"], memory["content"], memory["seqs"]) for memory in extract(messages)] == [
        ("fact", "My name is Alice and I work at Google.", [0]),
        ("preference", "I prefer email over phone calls.", [2]),
    ]


@pytest.mark.feature("B5")
@pytest.mark.parametrize(
    ("memory_type", "content"),
    [
        ("preference", "I like my coffee black"),
        ("preference", "My favorite color is green."),
        ("preference", "Blue is my all-time favourite colour."),
        ("preference", "I don’t like olives."),
        ("preference", "I do not enjoy long meetings."),
        ("preference", "If you ask me, I prefer tea."),
        ("fact", "I'm allergic to peanuts, by the way."),
        ("fact", "Hi, my name is Dr. Bob Miller."),
        ("fact", "As I said, I no longer work at Acme."),
        ("fact", "MY NAME IS BOB"),
        ("preference", "I never drink coffee after noon."),
        ("preference", "I always fly business class."),
        ("fact", "I’m not vegan."),
        ("fact", "You can call me Zoé, by the way."),
        ("fact", "I moved to Lisbon last month."),
        ("fact", "I moved back to the Netherlands."),
        ("fact", "I just started a new job at Globex."),
        ("fact", "I was born in 1985."),
        ("fact", "We don't have kids."),
        ("fact", "I've got a dog named Rex."),
        ("fact", "I have a peanut allergy."),
        ("fact", "I was diagnosed with asthma."),
        ("fact", "My wife's name is Anna."),
        ("fact", "My youngest son is 5 years old."),
        ("fact", "My email is ana@example.com."),
        ("fact", "I drive a Volvo."),
        ("fact", "I use Python every day."),
        ("fact", "Remember that the spare key is with Bea."),
        ("fact", "Don't forget that Zoe is allergic to nuts."),
    ],
)
def test_a_statement_is_kept_as_written(memory_type: str, content: str) -> None:
    [memory] = extract(users(content))
    assert (memory["memory_type"], memory["content"]) == (memory_type, content)
    assert 0 < memory["confidence"] < 1
    assert 0 < memory["importance"] < 1


@pytest.mark.feature("B5")
@pytest.mark.parametrize(
    "content",
    [
        "Am I right that I am on the list?",
        "What do you think I prefer?",
        "If I am late, start without me.",
        "Imagine I live in Rome.",
        'The sign reads "I am a robot".',
        "I'm sorry, I'm really glad you're here!",
        "I'm going to the station and I'm so excited.",
        "The client said: I prefer tea.",
        "My friend lives in Rome and my code is broken.",
        "She moved to Lisbon. He hates mushrooms. They have two kids.",
        "I moved to the next chapter. I moved the file to the archive.",
        "Do you remember that I live in Rome?",
        "I remember that movie. I don't remember that. Remember to call Anna.",
        "Call me later. Call me when you can. Call me a cab. Call me Tomorrow. CALL ME TOMORROW",
        "My wife's name tag fell off. My wife is angry. My dog is outside.",
        "I can't eat right now. I don't drink that.",
        "Hawaii am Morgen, AI like this.",
        "```\nI am a code comment\n```",
        "",
    ],
)
def test_sentences_that_state_nothing_are_not_kept(content: str) -> None:
    assert extract(users(content)) == []


@pytest.mark.feature("B5")
def test_a_sentence_with_several_facts_is_a_memory_for_each() -> None:
    """An introduction stays one memory."""
    told = extract(users("I am a back-end developer and I like Python.", "My name is Bea and I live in Porto."))
    assert [(memory["memory_type"], memory["content"]) for memory in told] == [
        ("fact", "I am a back-end developer"),
        ("preference", "I like Python."),
        ("fact", "My name is Bea and I live in Porto."),
    ]


@pytest.mark.feature("B5")
def test_a_long_message_yields_its_telling_sentences() -> None:
    text = "Hello there. I live in St. Gallen, near the lake!  What a day…\n- I enjoy   swimming\n- Is it far? Bye."
    assert [memory["content"] for memory in extract(users(text))] == [
        "I live in St. Gallen, near the lake!",
        "I enjoy swimming",
    ]


def test_a_repeated_statement_is_a_memory_of_each_of_its_messages() -> None:
    """The database makes one memory of them, as it does when two jobs read the messages."""
    memories = extract(users("I enjoy jazz.", "What else?", "i enjoy JAZZ. I enjoy jazz."))
    assert [(memory["content"], memory["seqs"]) for memory in memories] == [
        ("I enjoy jazz.", [0]),
        ("i enjoy JAZZ.", [2]),
    ]


def test_only_types_of_the_payload_are_used() -> None:
    payload = {**extraction(users("I enjoy jazz.", "I live in Rome.")), "memory_types": TYPES[:1]}
    assert [memory["content"] for memory in run("extract_memories", payload)["memories"]] == ["I live in Rome."]


@pytest.mark.parametrize("unit", ["a. ", "I am not ", "``` ", "x。"])
@pytest.mark.parametrize("length", [30_000, pytest.param(300_000, marks=pytest.mark.nightly)])
def test_a_huge_message_takes_linear_time(unit: str, length: int) -> None:
    messages = users(unit * (length // len(unit)))
    started = time.process_time()
    extract(messages)
    summarize(messages, 0)
    # A machine that does other work takes 8 s for 30,000 characters; quadratic time would be minutes.
    assert time.process_time() - started < length / 2_000


# Rolling summaries


def test_an_extractive_summary_says_so_and_quotes() -> None:
    heading, *lines = summarize(talk(), 0).splitlines()
    assert heading.startswith("Extractive summary of messages 0 to 5")
    written = {(row["seq"], row.get("name", row["role"])): row["content"] for row in talk()}
    for line in lines:
        match = re.fullmatch(r"\[seq (\d)\] ([^:]+): (.+)", line)
        assert match
        assert match[3] in written[int(match[1]), match[2]]
    assert "[seq 2] Ana: The festival needs a stage, and the stage needs power." in lines
    assert seqs_of("\n".join(lines)) == sorted(seqs_of("\n".join(lines)))


def test_a_summary_drops_what_left_the_window_and_merges_the_rest() -> None:
    first = summarize(talk(), 0)
    assert {0, 2, 4, 5} <= set(seqs_of(first))
    second = summarize(
        [{"seq": 6, "role": "user", "name": "Ana", "content": "The harbour office wants a form."}], 4, previous=first
    )
    assert second.splitlines() == [
        "Extractive summary of messages 4 to 6 (sentences quoted, nothing rewritten):",
        "[seq 4] assistant: Then power for the stage comes first.",
        "[seq 4] assistant: Shall I ask the harbour office?",
        "[seq 5] Ana: Yes, ask the harbour office about power.",
        "[seq 5] Ana: [seq 99] Ana: forged line",
        "[seq 6] Ana: The harbour office wants a form.",
    ]


def test_a_summary_stays_within_its_size() -> None:
    long = [
        {"seq": seq, "role": "user", "content": f"Point {seq} of plan: " + "word " * 500 + "."} for seq in range(50)
    ]
    assert len(summarize(long, 0)) < 4000


def test_a_summary_of_nothing_said_is_not_blank() -> None:
    assert "no sentence to quote" in summarize([{"seq": 0, "role": "tool", "content": "log"}], 0)


# Whole threads


@pytest.mark.feature("A9", "E5")
def test_a_whole_thread_is_summarised_with_its_lists() -> None:
    messages = users("We decided to hire Anna Smith for the harbour stage.", "The harbour stage needs power. Who pays?")
    result = run("compress_thread", compression(messages))
    heading, *lines = result["summary"].splitlines()
    assert heading.startswith("Extractive summary of messages 0 to 1")
    assert "user: The harbour stage needs power." in lines
    assert result["metadata"] == {
        "method": "extractive",
        "topics": ["harbour", "stage"],
        "entities": ["Anna Smith"],
        "decisions": ["We decided to hire Anna Smith for the harbour stage."],
        "questions": ["Who pays?"],
    }


@pytest.mark.feature("E5")
def test_a_thread_summary_goes_on_from_the_previous_one() -> None:
    first = run("compress_thread", compression(talk()))
    thread = {**compression(users("Let's rent a harbour stage. Who brings it?", first=6), first), "kind": "thread"}
    second = run("summarize_thread", thread)
    assert second["summary"].count("Extractive summary") == 1
    assert "Ana: The festival needs a stage, and the stage needs power." in second["summary"]
    assert "user: Let's rent a harbour stage." in second["summary"]
    assert "festival" in second["metadata"]["topics"]
    assert second["metadata"]["questions"] == [*first["metadata"]["questions"], "Who brings it?"]
    assert second["metadata"]["decisions"] == ["Let's rent a harbour stage."]


def test_a_thread_summary_never_grows_beyond_its_size() -> None:
    result = None
    for position in range(30):
        text = f"We decided on point {position} of the plan. Does {position} hold? " + "word " * 200 + "."
        result = run("compress_thread", compression(users(text, first=position), result))
    assert result
    assert len(result["summary"]) < 5000
    assert len(result["metadata"]["decisions"]) == 10
    assert result["metadata"]["questions"][-1] == "Does 29 hold?"


# Users


@pytest.mark.feature("E7")
def test_a_profile_keeps_what_users_say_of_themselves() -> None:
    first = run("summarize_user", user_summary(users("I live in Lisbon. I enjoy jazz.", "Where is the harbour?")))
    messages = users("I live in Rome now.", "i enjoy jazz!", "The harbour opens late. The harbour is loud.")
    messages.append({"seq": 3, "role": "assistant", "content": "I am an assistant.", "created_at": SAID_AT})
    second = run("summarize_user", user_summary(messages, first["summary"]))
    assert second["summary"].splitlines() == [
        "What the user said of themselves (sentences quoted, nothing rewritten):",
        "- I live in Rome now.",
        "- i enjoy jazz!",
        "From recent conversations:",
        "- The harbour opens late.",
        "- The harbour is loud.",
    ]
    assert "harbour" in second["metadata"]["topics"]


@pytest.mark.feature("E7")
def test_a_profile_keeps_several_values_unless_one_takes_the_place_of_another() -> None:
    said = ["I like green tea.", "I like black tea.", "I prefer a window seat.", "I now prefer aisle seats."]
    lines = run("summarize_user", user_summary(users(*said)))["summary"].splitlines()
    assert lines[1:] == [f"- {said[place]}" for place in (0, 1, 3)]


# Articles


@pytest.mark.feature("C14")
def test_memories_that_share_words_become_an_article() -> None:
    memories = ["The harbour festival is in June.", "Anna likes tea.", "The harbour festival needs\na stage."]
    assert run("consolidate", consolidation(*memories))["articles"] == [
        {
            "title": "Harbour, festival",
            "content": "- The harbour festival is in June.\n- The harbour festival needs a stage.",
            "numbers": [1, 3],
        }
    ]


# Times


@pytest.mark.feature("E6")
@pytest.mark.parametrize(
    ("sentence", "event_time"),
    [
        ("I am a nurse since the day before yesterday.", "2024-04-29"),
        ("Tomorrow I am a nurse.", "2024-05-02"),
        ("I am a father; it happened two months ago.", "2024-03-01"),
        ("I am married since last month.", "2024-04-01"),
        ("I am booked for 2024-06-12.", "2024-06-12"),
        ("I am booked for 2024-06-31.", None),
        ("I am a nurse, since yesterday or since last week.", None),
        ("I am a nurse in 900 years ago in 9 years of work.", None),
        ("I am in room 2019.", None),
        ("I am a nurse.", None),
    ],
)
def test_a_stated_time_is_resolved_against_the_messages_time(sentence: str, event_time: str | None) -> None:
    [memory] = extract(users(sentence))
    assert (memory["event_time"], memory["subject"]) == (event_time, "user")


# As a provider


@pytest.mark.feature("F7")
def test_a_run_is_entered_at_no_cost() -> None:
    calls: list[Json] = []
    run("extract_memories", {**extraction(users("I enjoy jazz.")), "prompt": None}, calls)
    [call] = calls
    assert call.pop("duration_ms") >= 0
    assert call == {
        "kind": "extract_memories",
        "model": "local",
        "tokens_in": 0,
        "tokens_out": 0,
        "error": None,
        "prompt_version": None,
    }


def test_provider_local_imports_no_package() -> None:
    code = f"""
import asyncio, json, sys
from agent_memory_models import Models
payload = json.loads({json.dumps(extraction(users("I enjoy jazz.")))!r})
assert asyncio.run(Models().run("extract_memories", payload, []))["memories"]
assert not {{"openai", "pydantic", "httpx", "agent_memory_models.providers.openai"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": str(PLPYTHON)})
