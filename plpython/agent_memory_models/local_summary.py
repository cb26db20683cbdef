"""An extractive summary without a model: it quotes the most telling sentences, says so, and rewrites nothing.

Sentences are ranked as in H. P. Luhn, "The Automatic Creation of Literature Abstracts", IBM Journal of Research and
Development 2(2), 1958. The list of common words is English; in another language the ranking is coarser, the rest holds.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from .sentences import split_sentences
from .summary_lines import Point, points_in_window

MAX_SENTENCES = 10
MAX_SENTENCE_CHARACTERS = 240
MAX_SPEAKER_CHARACTERS = 40

_SPEAKING_ROLES = ("user", "assistant")
_SPEAKER = re.compile(r"[^:]{1,40}: ")
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_LUHN_GAP = 4
"""Significant words with at most this many others between them belong to one cluster (Luhn 1958)."""

_COMMON = """
a about after again all also am an and any are aren as at be because been before being but by can could couldn did
didn do does doesn doing don done down for from further get go going got had hadn has hasn have haven having he her
here hers hey hi him his how i if in into is isn it its just know let like me more most my no not now of off oh ok
okay on once one only or other our out over own please really same she should shouldn so some such than thank thanks
that the their them then there these they thing things this those through to too under until up us very was wasn we
well were weren what when where which while who whom why will with won would wouldn yeah yes you your yours
"""
_COMMON_WORDS = frozenset(_COMMON.split())


def summarize(payload: dict[str, Any]) -> dict[str, Any]:
    """The result of a `summarize_thread` job; the previous summary's lines compete with the new sentences."""
    candidates = points_in_window(payload["previous_summary"], payload["start_seq"])
    for message in payload["messages"]:
        if message["role"] in _SPEAKING_ROLES and message["seq"] >= payload["start_seq"]:
            speaker = " ".join(str(message.get("name") or message["role"]).replace(":", " ").split())
            for sentence in split_sentences(message["content"]):
                if len(sentence) > MAX_SENTENCE_CHARACTERS:
                    sentence = sentence[: MAX_SENTENCE_CHARACTERS - 1].rstrip() + "…"
                text = f"{speaker[:MAX_SPEAKER_CHARACTERS]}: {sentence}"
                candidates.append(Point(message["seq"], message["seq"], text))
    lines = [str(point) for point in _best(candidates)]
    heading = (
        f"Extractive summary of messages {payload['start_seq']} to {payload['end_seq']}"
        f" ({'sentences quoted, nothing rewritten' if lines else 'no sentence to quote'}):"
    )
    return {"summary": "\n".join([heading, *lines]), "metadata": {"method": "extractive"}}


def _best(points: list[Point]) -> list[Point]:
    """The highest-ranked points in their order, each sentence once; of equal ones the newer."""
    sentences = [[_normal(word) for word in _WORD.findall(_SPEAKER.sub("", point.text, 1))] for point in points]
    counts = Counter(word for words in sentences for word in words)
    significant = {word for word, n in counts.items() if n > 1 and len(word) > 1 and word not in _COMMON_WORDS}
    scores = [(_luhn_score(words, significant), position) for position, words in enumerate(sentences) if words]
    best: dict[tuple[str, ...], int] = {}
    for _, position in sorted(scores, reverse=True):
        if len(best) == MAX_SENTENCES:
            break
        best.setdefault(tuple(sentences[position]), position)
    return [points[position] for position in sorted(best.values())]


def _normal(word: str) -> str:
    """Lower case, without what follows an apostrophe: "Ana's" counts as "ana", "don't" as "don"."""
    return word.lower().replace("’", "'").partition("'")[0]


def _luhn_score(words: list[str], significant: set[str]) -> float:
    """The score of the best cluster: the square of its significant words over its length."""
    best = 0.0
    cluster: list[int] = []
    for position, word in enumerate(words):
        if word not in significant:
            continue
        if cluster and position - cluster[-1] > _LUHN_GAP + 1:
            cluster = []
        cluster.append(position)
        best = max(best, len(cluster) ** 2 / (position - cluster[0] + 1))
    return best
