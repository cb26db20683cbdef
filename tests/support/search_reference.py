"""What a search has to find: the rows that pass its filters, ranked by comparing everything."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
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
    keyword = {i: score / raw[best] * trust for i, score in raw.items() if best is not None}
    if fusion == "vector":
        scores = meaning
    elif fusion == "keyword":
        scores = keyword
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
        arms = max((meaning != {}) + (keyword != {}), 1)
        scores = {i: (scaled.get(i, 0) + keyword.get(i, 0)) / (arms if i in meaning else 1) for i in meaning | keyword}

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
    answer = [one for one in pieces.values() if min_score is None or single(one.score) >= single(min_score)]
    # Sorted thrice, because sorting is stable: best first, then newest, then by id.
    answer.sort(key=lambda one: one.row.key)
    answer.sort(key=lambda one: one.row.created_at, reverse=True)
    answer.sort(key=lambda one: one.score, reverse=True)
    return answer[:top_k]


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
