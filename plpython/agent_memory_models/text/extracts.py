"""Summaries that quote: they take sentences as people wrote them, name the speaker, and rewrite nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from .sentences import PLACEHOLDER, split_sentences
from .words import words_of

HEADING = "Extractive summary of "
"""How the first line of such a summary begins."""
MAX_SENTENCE_CHARACTERS = 240
MAX_SPEAKER_CHARACTERS = 40

_SPEAKING_ROLES = ("user", "assistant")
_SPEAKER = re.compile(r"[^:]{1,40}: ")


def utterances(messages: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str]]:
    """Each sentence of people and of the assistant, with its message."""
    for message in messages:
        if message["role"] in _SPEAKING_ROLES:
            for sentence in split_sentences(message["content"]):
                yield message, sentence


def quoted(message: dict[str, Any], sentence: str) -> str:
    """A sentence of a message as a line: "Ana: I moved to Lisbon last week."."""
    speaker = " ".join(str(message.get("name") or message["role"]).replace(":", " ").split())
    return f"{speaker[:MAX_SPEAKER_CHARACTERS]}: {shortened(sentence)}"


def said(line: str) -> list[str]:
    """The words of a quoted line without its speaker."""
    return words_of(_SPEAKER.sub("", line, count=1))


def shortened(sentence: str) -> str:
    """A sentence as it is quoted, cut to MAX_SENTENCE_CHARACTERS; a placeholder at the cut keeps its short form."""
    if len(sentence) <= MAX_SENTENCE_CHARACTERS:
        return sentence
    kept = sentence[: MAX_SENTENCE_CHARACTERS - 1]
    cut = PLACEHOLDER.match(sentence, max(kept.rfind("[MemoryRef: "), 0))
    if cut and cut.end() > len(kept):
        kept = f"{sentence[: cut.start()]}[MemoryRef: {cut[1]}]"
    return kept.rstrip() + "…"


def newest(texts: Sequence[str], limit: int) -> list[str]:
    """The last `limit` different texts, in their order."""
    distinct = list(dict.fromkeys(reversed(texts)))
    return distinct[:limit][::-1]


def summary_of_quotes(payload: dict[str, Any], lines: list[str], metadata: dict[str, Any]) -> dict[str, Any]:
    """The result of a job: the lines under a heading that says that they are quotes."""
    heading = (
        f"{HEADING}messages {payload['start_seq']} to {payload['end_seq']}"
        f" ({'sentences quoted, nothing rewritten' if lines else 'no sentence to quote'}):"
    )
    return {"summary": "\n".join([heading, *lines]), "metadata": {"method": "extractive", **metadata}}
