"""Kind `compress_thread`: one summary of a whole thread, which takes the place of the thread's older messages."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from ..chat.parts import Parts
from ..chat.prompts import SUMMARY_LISTS, messages, previous_summary
from ..chat.question import Question
from ..errors import ModelError
from ..payload import Payload, Result
from ..task import Task
from ..text.extracts import HEADING, newest, quoted, said, shortened, summary_of_quotes, utterances
from ..text.sentences import split_sentences
from ..text.summary_layout import summary_of_text
from ..text.words import best_sentences, frequent_words

if TYPE_CHECKING:
    from pydantic import BaseModel

# How much the built-in version quotes and lists.
MAX_SENTENCES = 15
MAX_TOPICS, MAX_ENTITIES, MAX_DECISIONS, MAX_QUESTIONS = 8, 20, 10, 5

_NAME = re.compile(r"(?<=[\w,;] )[A-Z][\w-]+(?: [A-Z][\w-]+){0,3}")
_DECISION = re.compile(
    r"\b(?:we(?:['’]ve| have)? (?:decided|agreed)|I(?:['’]ve| have)? decided|let['’]s|I['’]ll go with|agreed)\b",
    re.IGNORECASE,
)


async def run(task: Task) -> Result:
    """The summary and its metadata, or `skipped` while the thread is shorter than the payload's threshold."""
    counts = await task.count_messages()
    if reason := _below_threshold(task.payload, counts):
        return {"skipped": reason, **counts}
    made = await summarize_whole(task)
    return {**made, **counts, **await task.count_summary(made["summary"])}


async def summarize_whole(task: Task) -> Result:
    """The summary of a whole thread, made of the previous one and of the messages since."""
    return await task.ask(local=_by_quotes, remote=lambda provider: provider.chat(task, QUESTION))


def _below_threshold(payload: Payload, counts: Result) -> str | None:
    """Why there is nothing to compress yet; None when there is.

    A message counts with its exact tokens where they were counted, now or earlier, and else with the database's
    estimate.
    """
    if payload.get("is_forced"):
        return None
    exact = counts.get("token_counts", {})
    rows = payload["messages"] + payload.get("recent_messages", [])
    tokens = sum(exact.get(str(message["seq"]), message["token_count"]) for message in rows)
    tokens += payload.get("remaining_tokens") or 0
    threshold = payload["threshold_tokens"]
    return f"{tokens} tokens are below the threshold of {threshold}" if tokens < threshold else None


# The built-in version


def _by_quotes(payload: Payload) -> Result:
    """Quotes the best sentences of the thread, and lists its topics, names, decisions and the user's questions."""
    earlier = payload.get("previous_metadata") or {}
    spoken = list(utterances(payload["messages"]))
    lines = [
        sentence
        for line in (payload.get("previous_summary") or "").splitlines()
        if not line.startswith(HEADING)
        for sentence in split_sentences(line)
    ]
    lines += [quoted(message, sentence) for message, sentence in spoken]
    words = [said(line) for line in lines]
    sentences = [shortened(sentence) for _, sentence in spoken]
    questions = [
        shortened(sentence) for message, sentence in spoken if message["role"] == "user" and sentence.endswith("?")
    ]
    decisions = [sentence for sentence in sentences if _DECISION.search(sentence) and not sentence.endswith("?")]
    entities = [name for sentence in sentences for name in _NAME.findall(sentence)]
    topics = frequent_words([*(word for line in words for word in line), *earlier.get("topics", [])], MAX_TOPICS)
    return summary_of_quotes(
        payload,
        [lines[position] for position in best_sentences(words, MAX_SENTENCES)],
        {
            "topics": topics,
            "entities": newest(earlier.get("entities", []) + entities, MAX_ENTITIES),
            "decisions": newest(earlier.get("decisions", []) + decisions, MAX_DECISIONS),
            "questions": newest(earlier.get("questions", []) + questions, MAX_QUESTIONS),
        },
    )


# The question to a chat model


@cache
def _reply_type() -> type[BaseModel]:
    from ..chat.replies import Text, reply_object

    lists: dict[str, Any] = dict.fromkeys(SUMMARY_LISTS, (list[Text], []))
    return reply_object("ThreadSummary", summary=Text, **lists)


def _headings(_: Payload, text: str) -> dict[str, Any]:
    """A text under headings. Plain prose may be about the task, and messages would give way to such a summary."""
    fields = summary_of_text(text)
    if fields.keys() == {"summary"}:
        raise ModelError("the reply is plain prose, in place of a summary with its lists")
    return fields


def _summary_and_lists(_: Payload, reply: Any) -> Result:
    return {"summary": reply.summary, "metadata": {name: getattr(reply, name) for name in SUMMARY_LISTS}}


QUESTION = Question(
    variables={"messages": messages, "previous_summary": previous_summary},
    reply_type=lambda _: _reply_type(),
    result=_summary_and_lists,
    parts=Parts("messages", beside=("previous_summary",), continues=True),
    reply_tokens=2000,
    from_text=_headings,
)
