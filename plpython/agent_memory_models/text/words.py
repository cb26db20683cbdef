"""The words of sentences, and the words of a sentence's topic. The list of common words is English."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

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


def words_of(text: str) -> list[str]:
    """The words in lower case, each cut at its apostrophe: "Ana's" counts as "ana", "don't" as "don"."""
    return [word.lower().replace("’", "'").partition("'")[0] for word in _WORD.findall(text)]


def is_telling(word: str) -> bool:
    """Whether a word of `words_of` says something about the subject."""
    return len(word) > 1 and word not in _COMMON_WORDS


def frequent_words(words: Iterable[str], limit: int) -> list[str]:
    """The telling words that occur more than once, the most frequent first; no numbers."""
    counts = Counter(word for word in words if is_telling(word) and not word.isdigit())
    return [word for word, count in counts.most_common(limit) if count > 1]


def best_sentences(sentences: Sequence[Sequence[str]], limit: int) -> list[int]:
    """The positions, in order, of the best sentences, each given as its words; of equal sentences the newest.

    Sentences are ranked as in H. P. Luhn, "The Automatic Creation of Literature Abstracts", IBM Journal of Research and
    Development 2(2), 1958.
    """
    counts = Counter(word for words in sentences for word in words)
    significant = {word for word, count in counts.items() if count > 1 and is_telling(word)}
    scores = [(_luhn_score(words, significant), position) for position, words in enumerate(sentences) if words]
    best: dict[tuple[str, ...], int] = {}
    for _, position in sorted(scores, reverse=True):
        if len(best) == limit:
            break
        best.setdefault(tuple(sentences[position]), position)
    return sorted(best.values())


def _luhn_score(words: Sequence[str], significant: set[str]) -> float:
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
