"""Extractive summaries without a model: they quote the most telling sentences, say so, and rewrite nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from .sentences import split_sentences
from .summary_lines import Point, points_in_window
from .words import best_sentences, frequent_words, words_of

MAX_ROLLING_SENTENCES = 10
MAX_THREAD_SENTENCES = 15
MAX_SENTENCE_CHARACTERS = 240
MAX_SPEAKER_CHARACTERS = 40
MAX_TOPICS, MAX_ENTITIES, MAX_DECISIONS, MAX_QUESTIONS = 8, 20, 10, 5

_SPEAKING_ROLES = ("user", "assistant")
_SPEAKER = re.compile(r"[^:]{1,40}: ")
_HEADING = "Extractive summary of "
_NAME = re.compile(r"(?<=[\w,;] )[A-Z][\w-]+(?: [A-Z][\w-]+){0,3}")
_DECISION = re.compile(
    r"\b(?:we(?:['’]ve| have)? (?:decided|agreed)|I(?:['’]ve| have)? decided|let['’]s|I['’]ll go with|agreed)\b",
    re.IGNORECASE,
)


def summarize(payload: dict[str, Any]) -> dict[str, Any]:
    """The result of a `summarize_thread` or `compress_thread` job."""
    return _rolling(payload) if payload.get("kind") == "rolling" else _whole_thread(payload)


def _rolling(payload: dict[str, Any]) -> dict[str, Any]:
    """The lines of the previous summary compete with the new sentences."""
    candidates = points_in_window(payload["previous_summary"], payload["start_seq"])
    candidates += [
        Point(message["seq"], message["seq"], _line(message, sentence))
        for message, sentence in _spoken(payload["messages"])
        if message["seq"] >= payload["start_seq"]
    ]
    best = best_sentences([_said(point.text) for point in candidates], MAX_ROLLING_SENTENCES)
    return _result(payload, [str(candidates[position]) for position in best], {})


def _whole_thread(payload: dict[str, Any]) -> dict[str, Any]:
    """As the rolling summary, over the whole thread, with what a reader would look for first in lists of their own."""
    earlier = payload.get("previous_metadata") or {}
    spoken = list(_spoken(payload["messages"]))
    lines = [
        sentence
        for line in (payload.get("previous_summary") or "").splitlines()
        if not line.startswith(_HEADING)
        for sentence in split_sentences(line)
    ]
    lines += [_line(message, sentence) for message, sentence in spoken]
    said = [_said(line) for line in lines]
    sentences = [shortened(sentence) for _, sentence in spoken]
    questions = [
        shortened(sentence) for message, sentence in spoken if message["role"] == "user" and sentence.endswith("?")
    ]
    decisions = [sentence for sentence in sentences if _DECISION.search(sentence) and not sentence.endswith("?")]
    entities = [name for sentence in sentences for name in _NAME.findall(sentence)]
    topics = frequent_words([*(word for words in said for word in words), *earlier.get("topics", [])], MAX_TOPICS)
    return _result(
        payload,
        [lines[position] for position in best_sentences(said, MAX_THREAD_SENTENCES)],
        {
            "topics": topics,
            "entities": newest(earlier.get("entities", []) + entities, MAX_ENTITIES),
            "decisions": newest(earlier.get("decisions", []) + decisions, MAX_DECISIONS),
            "questions": newest(earlier.get("questions", []) + questions, MAX_QUESTIONS),
        },
    )


def shortened(sentence: str) -> str:
    """A sentence as it is quoted, cut where it is very long."""
    if len(sentence) <= MAX_SENTENCE_CHARACTERS:
        return sentence
    return sentence[: MAX_SENTENCE_CHARACTERS - 1].rstrip() + "…"


def newest(texts: Sequence[str], limit: int) -> list[str]:
    """The last of the texts, in order and each once."""
    distinct = list(dict.fromkeys(reversed(texts)))
    return distinct[:limit][::-1]


def _spoken(messages: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str]]:
    """Each sentence of what people and the assistant said, with its message."""
    for message in messages:
        if message["role"] in _SPEAKING_ROLES:
            for sentence in split_sentences(message["content"]):
                yield message, sentence


def _line(message: dict[str, Any], sentence: str) -> str:
    speaker = " ".join(str(message.get("name") or message["role"]).replace(":", " ").split())
    return f"{speaker[:MAX_SPEAKER_CHARACTERS]}: {shortened(sentence)}"


def _said(line: str) -> list[str]:
    """The words of a line without its speaker."""
    return words_of(_SPEAKER.sub("", line, count=1))


def _result(payload: dict[str, Any], lines: list[str], metadata: dict[str, Any]) -> dict[str, Any]:
    heading = (
        f"{_HEADING}messages {payload['start_seq']} to {payload['end_seq']}"
        f" ({'sentences quoted, nothing rewritten' if lines else 'no sentence to quote'}):"
    )
    return {"summary": "\n".join([heading, *lines]), "metadata": {"method": "extractive", **metadata}}
