"""What a search has to find: the rows that pass its filters, ranked by comparing everything."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tests.support.search_world import SOURCES, Row, World
from tests.support.servers import ROOT

WEIGHTS: dict[str, float] = json.loads((ROOT / "sql" / "core" / "60_search" / "weights.json").read_text())


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
    """The right answer: ``rows`` is all that may be seen, ``words`` and ``target`` are what each arm looks for."""
    cosines = {i: cosine(row.vector, target) for i, row in enumerate(rows) if target and row.vector}
    meaning = {i: value for i, value in cosines.items() if value is not None}
    shares, near = _words_of(rows, words)
    places = {(row.thread_id, row.number): i for i, row in enumerate(rows) if row.source == "message"}
    top, low = max(meaning.values(), default=0), min(meaning.values(), default=0)
    scaled = {i: max(1 - (top - value) / max(top - low, 0.3), 0) for i, value in meaning.items()}
    by_words, odds = {}, {}
    for i in meaning | shares:
        row = rows[i]
        around = [places.get((row.thread_id, row.number + step)) for step in (-1, 1) if row.source == "message"]
        features = {
            "intercept": 1.0,
            "words": shares.get(i, 0),
            "near": near.get(i, 0),
            "length": math.log(1 + min(row.lexemes, 100)),
            "memory": row.source == "memory",
            "summary": row.source == "summary" and beside_messages,
        }
        by_words[i] = sum(WEIGHTS[name] * value for name, value in features.items())
        own = scaled.get(i, (1 + shares.get(i, 0)) / 2 if meaning else 0.5)
        neighbour = max((scaled[n] for n in around if n in scaled), default=0) * (1 - own)
        odds[i] = by_words[i] + WEIGHTS["neighbour"] * neighbour
        odds[i] += WEIGHTS["meaning"] * own
    if fusion == "vector":
        scores = meaning
    elif fusion == "rrf":
        ranks = [ranked(meaning), ranked({i: single(by_words[i]) for i in shares})]
        arms = max((meaning != {}) + (shares != {}), 1)
        scores = {
            i: sum(1 / (60 + rank[i]) for rank in ranks if i in rank) * 61 / (arms if i in meaning else 1)
            for i in meaning | shares
        }
    else:
        scores = {i: 1 / (1 + math.exp(-value)) for i, value in odds.items()}
    pieces: dict[tuple[str, str], Scored] = {}
    for i, score in scores.items():
        one = Scored(score, rows[i])
        kept = pieces.get((one.row.source, one.row.result_id))
        if kept is None or (one.score, -one.row.number) > (kept.score, -kept.row.number):
            pieces[one.row.source, one.row.result_id] = one
    answer = _sorted(pieces.values())
    return [one for one in answer if min_score is None or single(one.score) >= single(min_score)][:top_k]


def _sorted(answer: Iterable[Scored]) -> list[Scored]:
    """Sorted thrice, because sorting is stable: best first, then newest, then by id."""
    by_id = sorted(answer, key=lambda one: one.row.key)
    newest_first = sorted(by_id, key=lambda one: one.row.created_at, reverse=True)
    return sorted(newest_first, key=lambda one: one.score, reverse=True)


def _words_of(rows: list[Row], words: list[str]) -> tuple[dict[int, float], dict[int, float]]:
    """The share of the words that each row has, and of those that only the messages around it have."""
    frequency = {word: sum(word in row.words for row in rows) for word in words}
    idf = {word: math.log((len(rows) + 1) / (n + 0.5)) for word, n in frequency.items()}
    places = {(row.thread_id, row.number): row for row in rows if row.source == "message"}
    shares: dict[int, float] = {}
    near: dict[int, float] = {}
    for i, row in enumerate(rows):
        if said := row.words & {*words}:
            shares[i] = sum(idf[word] for word in said) / sum(idf.values())
        if row.source == "message":
            for word in words:
                around = [
                    share * _density(other)
                    for step, share in ((-1, 0.6), (1, 0.6), (-2, 0.4), (2, 0.4))
                    if (other := places.get((row.thread_id, row.number + step))) is not None
                    if word in other.words and 2 * frequency[word] <= len(rows)
                ]
                own = _density(row) if word in row.words else 0
                near[i] = near.get(i, 0) + idf[word] * max(max(around, default=0) - own, 0) / sum(idf.values())
    return shares, near


def _density(row: Row) -> float:
    return math.log(20) / math.log(8 + max(row.lexemes, 12))


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
