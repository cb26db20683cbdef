"""A context says what it leaves out, and why."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.context.steps import remember, remembered_before, rewrite_summaries, without_recall
from tests.support.protocol import ANA, claim, complete, say
from tests.support.sqlapi import Api
from tests.support.summaries import compress, compressing

pytestmark = pytest.mark.feature("F12")


def left_out(api: Api, **arguments: Any) -> dict[tuple[str, str], Any]:
    """What explain adds, by source and reason; the parts before it are those of a call without it."""
    explained = api.get_context(**{**ANA, **arguments}, explain=True)
    parts = [part for part in explained if part.ordinal is not None]
    assert [part[:5] for part in parts] == [part[:5] for part in api.get_context(**{**ANA, **arguments})]
    assert explained[: len(parts)] == parts
    left = {}
    for row in explained[len(parts) :]:
        assert json.loads(row.content) == row.metadata
        assert (row.source, row.token_count) == (row.metadata["source"], row.metadata["tokens"])
        left[row.source, row.metadata["reason"]] = row.metadata
    assert len(left) == len(explained) - len(parts)
    return left


def test_messages_that_do_not_fit(api: Api) -> None:
    without_recall(api)
    say(api, *(f"{number} " + "word " * 10 for number in range(20)))
    shown = api.get_context(**ANA, max_tokens=100)
    left = left_out(api, max_tokens=100)["message", "does not fit"]
    assert left["ids"] == [str(seq) for seq in reversed(range(20 - len(shown)))]
    assert left["count"] == 20 - len(shown)
    stored = api.get_messages(**ANA)
    assert left["tokens"] == sum(message.token_count for message in stored[: left["count"]])
    assert ("message", "does not fit") not in left_out(api)


def test_summaries(api: Api) -> None:
    compressing(api)
    without_recall(api)
    api.talk(**ANA, rounds=5)
    compress(api, "They talked.")
    left = left_out(api)
    assert left["message", "compressed: a summary took its place"]["ids"] == ["5", "4", "3", "2", "1", "0"]
    say(api, "word " * 60)
    api.summarize_user(user_id="ana")
    complete(api, claim(api, "summarize_user"), summary="Ana lives in Oslo.")
    rewrite_summaries(api, "Ana lives in Oslo. " * 20)
    left = left_out(api, max_tokens=130)
    assert len(left["thread_summary", "does not fit"]["ids"]) == 1
    assert left["user_summary", "does not fit"]["tokens"] > 60


def test_recalled_messages(api: Api) -> None:
    remembered_before(api)
    pump = "The pump number {} " + "leaks and rattles " * 8
    say(api, *(pump.format(number) for number in range(9)), thread_id="earlier")
    say(api, "Which pump leaks?")
    left = left_out(api, max_tokens=220)["recalled", "does not fit"]
    assert set(left["ids"]) < {f"earlier/{number}" for number in range(9)}
    say(api, pump.format(3), thread_id="again")
    assert left_out(api)["recalled", "another message says the same"]["ids"] in (["again/0"], ["earlier/3"])

    say(api, "I moved to Oslo in May because the work by the harbour is better there", thread_id="oslo")
    memory_id = api.add_memory(user_id="ana", content="Moved to Oslo", thread_id="oslo").memory_id
    api.connection.execute("update memory.memories set source_seqs = '{0}'")
    left = left_out(api, query="When did I move to Oslo?")
    assert left["memories", "the recalled messages say it"]["ids"] == [str(memory_id)]


def test_memories(api: Api) -> None:
    without_recall(api)
    remembered_before(api)
    remember(api, "Likes tea", importance=1)
    remember(api, "word " * 100, importance=0.5)
    remember(api, "Likes coffee", importance=0)
    [long] = [row.memory_id for row in api.list_memories(user_id="ana", search="word")]
    left = left_out(api, max_tokens=200)
    assert left["memories", "does not fit"]["ids"] == [str(long)]
    api.set_policy(settings={"context": {"max_memories": 2}})
    left = left_out(api)
    [coffee] = [row.memory_id for row in api.list_memories(user_id="ana", search="coffee")]
    assert left["memories", "others matter more"]["ids"] == [str(coffee)]
    assert left_out(api, max_tokens=20)["memories", "does not fit"]["count"] == 2


@pytest.mark.parametrize(
    ("recall", "arguments", "reason"),
    [
        (True, {"recall": False}, "the call switches recall off"),
        (False, {}, "the policy switches recall off (context.recall)"),
        (True, {"query": "thanks"}, "the query only acknowledges"),
        ("when_needed", {"query": "What is 2 + 2?"}, "nothing else was said"),
    ],
)
def test_why_nothing_is_recalled(api: Api, recall: bool | str, arguments: dict[str, Any], reason: str | None) -> None:
    api.set_policy(settings={"context": {"recall": recall}})
    say(api, "Hello")
    reasons = [why for source, why in left_out(api, **arguments) if source == "recalled"]
    assert reasons if reason is None else reasons[0].startswith(reason)


def test_earlier_conversations(api: Api) -> None:
    say(api, "Hello", thread_id="earlier")
    why = "the policy switches them off (knowledge_base.enable_cross_session_context)"
    assert left_out(api)["cross_session", why]["ids"] == []
    api.set_policy(settings={"knowledge_base": {"enable_cross_session_context": True}})
    assert ("cross_session", "the query does not ask for them") in left_out(api, query="Hello")
    assert ("cross_session", "no conversation is relevant enough") in left_out(api, query="What did we discuss?")


def test_artifacts(api: Api) -> None:
    without_recall(api)
    log = "\n".join(f"{number} the pump is quiet and the harbour is closed" for number in range(400))
    api.add_messages(
        **ANA,
        messages=[
            {"role": "user", "content": "Read the log"},
            {"role": "assistant", "content": "", "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]},
            {"role": "tool", "content": log, "tool_call_id": "1"},
        ],
    )  # fmt: skip
    [artifact] = api.list_artifacts(user_id="ana")
    assert left_out(api, max_tokens=60)["recalled", "the artifact does not fit"]["ids"] == [artifact.key]
    api.set_policy(settings={"context": {"expand_artifacts": False}})
    assert ("recalled", "the policy shows no artifacts (context.expand_artifacts)") in left_out(api)
