"""What a search has to find: the rows that pass its filters, ranked by comparing everything."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator
from statistics import fmean
from typing import Any, NamedTuple

from tests.support.search_world import SOURCES, Row, World


class Scored(NamedTuple):
    score: float
    row: Row


def cosine(a: list[int], b: list[int]) -> float | None:
    """As pgvector computes it; exact, since small whole numbers are."""
    norms = sum(x * x for x in a) * sum(x * x for x in b)
    return 1 - (1 - sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(norms)) if norms else None


def ranked(scores: dict[int, float]) -> dict[int, int]:
    """Equals share the best rank."""
    return {key: 1 + sum(other > score for other in scores.values()) for key, score in scores.items()}


def expect(
    rows: list[Row],
    words: list[str],
    target: list[int] | None,
    fusion: str,
    min_score: float | None,
    top_k: int,
    *,
    beside_messages: bool,
) -> list[Scored]:
    """The right answer: ``rows`` is all that may be seen, ``words`` and ``target`` are what each arm looks for.

    Beside messages a summary counts half, unless its score is a cosine.
    """
    cosines = {i: cosine(row.vector, target) for i, row in enumerate(rows) if target and row.vector}
    meaning = {i: value for i, value in cosines.items() if value is not None}
    frequency = {word: sum(word in row.weights for row in rows) for word in words}
    idf = {word: math.log(1 + (len(rows) - n + 0.5) / (n + 0.5)) for word, n in frequency.items()}
    matched = {i: [word for word in words if word in row.weights] for i, row in enumerate(rows)}
    raw = {i: sum(idf[word] * rows[i].weights[word] for word in said) for i, said in matched.items() if said}
    best = max(raw, key=lambda i: raw[i], default=None)
    trust = 0.0 if best is None else min(1, 1.5 * sum(idf[word] for word in matched[best]) / sum(idf.values()))
    around = {**raw, **(_around(rows, words, frequency, idf) if fusion in ("score", "keyword") else {})}
    found = {i: around[i] for i in around if i in raw or i in meaning}
    keyword = {i: score / max(found.values()) * trust for i, score in found.items()}
    if fusion == "vector":
        scores = meaning
    elif fusion == "keyword":
        scores = {i: keyword[i] for i in raw}
    elif fusion == "rrf":
        ranks = [ranked(meaning), ranked(raw)]
        arms = max((meaning != {}) + (raw != {}), 1)
        scores = {
            i: sum(1 / (60 + rank[i]) for rank in ranks if i in rank) * 61 / (arms if i in meaning else 1)
            for i in meaning | raw
        }
    else:
        top, low = max(meaning.values(), default=0), min(meaning.values(), default=0)
        scaled = {i: max(1 - (top - value) / max(top - low, 0.3), 0) for i, value in meaning.items()}
        weight = _keyword_weight(rows, frequency, idf, raw) if meaning and raw else 1
        both = bool(meaning and raw)
        scores = {
            i: (scaled[i] + (weight if both else 1) * keyword.get(i, 0)) / (1 + weight if both else 1)
            if i in meaning
            else keyword[i]
            for i in meaning | raw
        }

    final = dict(scores)
    if fusion in ("score", "keyword"):
        places = {(row.thread_id, row.number): i for i, row in enumerate(rows) if row.source == "message"}
        for (thread_id, number), i in places.items():
            neighbours = [places.get((thread_id, number + step)) for step in (-1, 1)]
            gain = max((scores[n] for n in neighbours if n is not None and n in scores), default=0)
            if i in scores:
                final[i] = scores[i] + 0.4 * gain * (1 - scores[i])
    if beside_messages and fusion != "vector":
        final = {i: score * (0.5 if rows[i].source == "summary" else 1) for i, score in final.items()}
    pieces: dict[tuple[str, str], Scored] = {}
    for i, score in final.items():
        one = Scored(score, rows[i])
        kept = pieces.get((one.row.source, one.row.result_id))
        if kept is None or (one.score, -one.row.number) > (kept.score, -kept.row.number):
            pieces[one.row.source, one.row.result_id] = one
    answer = _sorted(pieces.values())
    if fusion == "score" and target:
        answer = _sorted(_with_newer_figures(answer, target))
    return [one for one in answer if min_score is None or single(one.score) >= single(min_score)][:top_k]


def _sorted(answer: Iterable[Scored]) -> list[Scored]:
    """Sorted thrice, because sorting is stable: best first, then newest, then by id."""
    by_id = sorted(answer, key=lambda one: one.row.key)
    newest_first = sorted(by_id, key=lambda one: one.row.created_at, reverse=True)
    return sorted(newest_first, key=lambda one: one.score, reverse=True)


def _with_newer_figures(answer: list[Scored], target: list[int]) -> Iterator[Scored]:
    """A newer message with a figure gets 0.8 of the score of an older one that is nearer to it than to the query."""
    figures = [
        (one, one.row.vector, near)
        for one in answer[:50]
        if one.row.source == "message" and one.row.vector and any(letter.isdigit() for letter in one.row.content)
        if (near := cosine(one.row.vector, target)) is not None
    ]
    vectors = {one.row.key: vector for one, vector, _ in figures}
    for one in answer:
        vector = vectors.get(one.row.key) if one.row.source == "message" else None
        gained = [
            0.8 * older.score
            for older, older_vector, near in figures[:10]
            if vector and one.row.created_at > older.row.created_at and (cosine(vector, older_vector) or 0) >= near
        ]
        yield Scored(max([one.score, *gained]), one.row)


def _around(rows: list[Row], words: list[str], frequency: dict[str, int], idf: dict[str, float]) -> dict[int, float]:
    """The score of each message's words, those of its neighbours counting as its own in part."""
    places = {(row.thread_id, row.number): row.weights for row in rows if row.source == "message"}
    scores = {}
    for i, row in enumerate(rows):
        if row.source != "message":
            continue
        score = 0.0
        for word in words:
            steps = {0: 1, -1: 0.6, 1: 0.6, -2: 0.4, 2: 0.4} if 2 * frequency[word] <= len(rows) else {0: 1}
            weights = [
                share * places.get((row.thread_id, row.number + step), {}).get(word, 0) for step, share in steps.items()
            ]
            score += idf[word] * max(weights)
        if score:
            scores[i] = score
    return scores


def _keyword_weight(rows: list[Row], frequency: dict[str, int], idf: dict[str, float], raw: dict[int, float]) -> float:
    mean = variance = 0.0
    for word, found in frequency.items():
        if found:
            score = idf[word] * fmean(row.weights[word] for row in rows if word in row.weights)
            share = found / len(rows)
            mean, variance = mean + score * share, variance + score**2 * share * (1 - share)
    if len(rows) < 50 or variance <= 0:
        return 1
    return min(max((max(raw.values()) - mean) / math.sqrt(variance) / 5, 0.5), 2)


def single(number: float) -> float:
    """The number rounded to single precision, as a real holds it."""
    held: float = struct.unpack("f", struct.pack("f", number))[0]
    return held


def random_filters(world: World) -> dict[str, Any]:
    chance = world.chance
    choices: dict[str, Callable[[], Any]] = {
        "sources": lambda: chance.sample(SOURCES, chance.randrange(1, len(SOURCES))),
        "agent_id": lambda: chance.choice(["cook", "tutor"]),
        "thread_id": lambda: chance.choice(["t1", "t2"]),
        "exclude_thread_id": lambda: chance.choice(["t1", "t2"]),
        "memory_types": lambda: chance.sample(["fact", "preference", "context"], 2),
        "tags_all": lambda: chance.sample(["red", "hot", "old"], 2),
        "tags_any": lambda: chance.sample(["red", "hot", "none"], 2),
        "exclude_tags": lambda: [chance.choice(["red", "hot", "old"])],
        "filter": lambda: chance.choice(
            [{"channel": "mail"}, {"nested": {"a": 1}}, {"channel": "chat", "nested": {"a": 0}}]
        ),
        "min_confidence": lambda: chance.choice([0.5, 0.6]),
        "created_after": world.edge,
        "created_before": world.edge,
        "as_of": world.edge,
        "include_superseded": lambda: True,
        "doc_types": lambda: ["manual"],
        "namespaces": lambda: [chance.choice(["home", "work"])],
    }  # fmt: skip
    return {name: choices[name]() for name in chance.sample([*choices], chance.choice([0, 1, 1, 2, 2, 3, 4]))}
