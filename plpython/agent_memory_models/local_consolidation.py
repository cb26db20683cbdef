"""Articles from old memories without a model: memories that share words, listed under those words."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from .words import is_telling, words_of

MIN_SHARED_WORDS = 2
MIN_SIMILARITY = 0.3
"""Shared words over all words of two memories (the Jaccard index)."""
TITLE_WORDS = 3


class _Entry(NamedTuple):
    memory: dict[str, Any]
    words: frozenset[str]


def consolidate(payload: dict[str, Any]) -> dict[str, Any]:
    """The result of a `consolidate` job; a memory joins the first cluster that has one like it."""
    clusters: list[list[_Entry]] = []
    for memory in payload["memories"]:
        entry = _Entry(memory, frozenset(filter(is_telling, words_of(memory["content"]))))
        for cluster in clusters:
            if any(_alike(entry.words, other.words) for other in cluster):
                cluster.append(entry)
                break
        else:
            clusters.append([entry])
    return {"articles": [_article(cluster) for cluster in clusters if len(cluster) > 1]}


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    return shared >= MIN_SHARED_WORDS and shared / len(one | other) >= MIN_SIMILARITY


def _article(cluster: list[_Entry]) -> dict[str, Any]:
    counts = Counter(
        word for entry in cluster for word in dict.fromkeys(words_of(entry.memory["content"])) if word in entry.words
    )
    return {
        "title": ", ".join(word for word, count in counts.most_common(TITLE_WORDS) if count > 1).capitalize(),
        "content": "\n".join(f"- {' '.join(entry.memory['content'].split())}" for entry in cluster),
        "numbers": [entry.memory["number"] for entry in cluster],
    }
