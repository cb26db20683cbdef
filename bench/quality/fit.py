"""Fits the weights of the features that order search results: ``python -m bench.quality.fit --help``.

The features come from the product: memory._ranked() with explain names them for each text of a question. The weights
make the evidence of a question as likely as can be among all texts of its user (a conditional logit), with a penalty
for large weights. The problem is convex, so the same data give the same weights. They are fitted on LoCoMo's
conversations 1 to 5 and on the users 1 to 4 of the work set, which weigh half as much; recall is shown for the others,
too. Then all weights are scaled, which changes no order, and the intercept is set, so that the best text of the median
question has a score of 0.9 and the tenth 0.6. The weights in ``BY_HAND`` are kept, scaled: the sets do not have what
they are about. Those in ``AT_MOST`` are limited, so that a message that has the words or the meaning of a query stays
before the messages around it and before longer ones, which costs 0.2 to 0.8 points of recall@10. ``make build`` puts
the file into the product.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
import psycopg

from bench.quality import evidence, stored, work
from bench.quality.context import Asked
from bench.quality.embedding_server import add_options, embeddings_of
from bench.quality.evidence import REPORTED, TUNING
from bench.quality.samples import write as write_samples
from bench.quality.stored import Database, EmbeddingModel, Stored
from bench.support.environment import LOCOMO, say
from tests.support.servers import ROOT, running_server

WEIGHTS = ROOT / "sql" / "core" / "60_search" / "weights.json"
FITTED = ("meaning", "words", "near", "neighbour", "length", "speaker", "day", "reply")
BY_HAND = {"memory": 1.5, "summary": -2.0, "use": -10.0}
AT_MOST = {"near": ("words", 0.8 / 0.6), "neighbour": ("meaning", 0.6), "length": ("words", 0.1)}
SHARE_OF_WORK = 0.5
PENALTY = 0.01
BEST, TENTH = 0.9, 0.6
RESAMPLES = 5

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Example:
    """The features of all texts of a question, one row each, and which of them are evidence."""

    groups: frozenset[str]
    weight: float
    features: Floats
    is_evidence: npt.NDArray[np.bool_]

    def recall(self, weights: Floats, depth: int = 10) -> float:
        """The share of the evidence among the best texts."""
        best = np.argsort(-(self.features @ weights), kind="stable")[:depth]
        return float(self.is_evidence[best].sum() / self.is_evidence.sum())


def examples(database: Database, found: Stored, questions: Sequence[Asked], weight: float) -> list[Example]:
    """The examples of a set whose evidence is stored."""
    for connection in database.connections:
        connection.execute("set jit = off")  # as public functions have it, which call memory._ranked()
    made = database.ask(lambda connection, asked: _example(connection, found, asked, weight), questions)
    return [example for example in made if example.is_evidence.any()]


def _example(connection: psycopg.Connection, found: Stored, asked: Asked, weight: float) -> Example:
    question, vector = asked
    rows = connection.execute(
        """
        select r.id, r.explanation -> 'features'
        from memory._ranked(
          p_user_id => %(user)s, p_agent_id => null, p_query => %(text)s, p_model => 'embedding',
          p_target => %(vector)s::halfvec, p_mode => 'hybrid',
          p_settings => memory._policy(%(user)s, null) -> 'search', p_sources => '{message}', p_row_limit => 2000,
          p_explain => true) as r
        order by r.created_at desc, r.id
        """,
        {"user": question.user_id, "text": question.text, "vector": vector},
        prepare=True,
    ).fetchall()
    evident = {found.message[question.user_id, turn] for turn in question.evidence}
    features = [[named.get(name, {}).get("value", 0.0) for name in FITTED] for _, named in rows]
    return Example(question.groups, weight, np.array(features), np.array([message in evident for message, _ in rows]))


def fit(given: Sequence[Example]) -> Floats:
    """The weights that make the evidence most likely, by Newton's method with steps that are halved where too long."""
    spread = np.concatenate([example.features for example in given]).std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    shares = np.array([example.weight for example in given]) / sum(example.weight for example in given)
    standard = [example.features / spread for example in given]

    def loss(weights: Floats) -> float:
        missed = PENALTY * float(weights @ weights)
        for share, features, example in zip(shares, standard, given, strict=True):
            odds = features @ weights
            best = odds.max()
            missed += share * (best + np.log(np.exp(odds - best).sum()) - odds[example.is_evidence].mean())
        return missed

    weights = np.zeros(len(FITTED))
    reached = loss(weights)
    for _ in range(100):
        gradient, curvature = 2 * PENALTY * weights, 2 * PENALTY * np.eye(len(FITTED))
        for share, features, example in zip(shares, standard, given, strict=True):
            odds = features @ weights
            chance = np.exp(odds - odds.max())
            chance /= chance.sum()
            mean = chance @ features
            gradient += share * (mean - features[example.is_evidence].mean(axis=0))
            curvature += share * ((features.T * chance) @ features - np.outer(mean, mean))
        step = np.linalg.solve(curvature, gradient)
        while (lower := loss(weights - step)) > reached and np.abs(step).max() > 1e-6:
            step /= 2
        weights, reached = weights - step, lower
        if np.abs(step).max() < 1e-5:
            break
    fitted = dict(zip(FITTED, weights / spread, strict=True))
    limits = {name: share * fitted[other] for name, (other, share) in AT_MOST.items()}
    return np.array([min(fitted[name], limits.get(name, math.inf)) for name in FITTED])


def scaled(weights: Floats, given: Sequence[Example]) -> dict[str, float]:
    """All weights of the file, with scores of BEST and TENTH for the best and tenth text of the median question."""
    ordered = [np.sort(example.features @ weights)[::-1] for example in given if len(example.features) >= 10]
    best, tenth = (median(float(odds[place]) for odds in ordered) for place in (0, 9))
    scale = (_odds(BEST) - _odds(TENTH)) / (best - tenth)
    named = {**dict(zip(FITTED, map(float, weights), strict=True)), **BY_HAND}
    return {
        "intercept": round(_odds(BEST) - best * scale, 3),
        **{name: round(weight * scale, 3) for name, weight in named.items()},
    }


def _odds(score: float) -> float:
    return math.log(score / (1 - score))


def report(measured: dict[str, Sequence[Example]], weights: Floats) -> None:
    """Prints recall@10 of each set and half, and its range over fits to resampled questions."""
    tuned = [each for given in measured.values() for each in given if TUNING in each.groups]
    chance = np.random.default_rng(1)
    others = [fit([tuned[place] for place in chance.integers(0, len(tuned), len(tuned))]) for _ in range(RESAMPLES)]
    for name, given in measured.items():
        for half in (TUNING, REPORTED):
            of_half = [each for each in given if half in each.groups]
            recall, *again = (100 * np.mean([each.recall(w) for each in of_half]) for w in (weights, *others))
            spread = f"resampled {min(again):.1f} to {max(again):.1f}"
            say(f"{name}, {half} ({len(of_half)}): recall@10 {recall:.1f} %, {spread}")


def main() -> None:
    """Fits the weights to the halves to tune on, prints what they reach, and writes them."""
    parser = argparse.ArgumentParser(prog="python -m bench.quality.fit", description=(__doc__ or "").split(":")[0])
    parser.add_argument("--data", type=Path, default=LOCOMO, help="LoCoMo's locomo10.json")
    add_options(parser)
    options = parser.parse_args()
    samples: list[dict[str, Any]] = json.loads(options.data.read_text())
    asked = {"LoCoMo": evidence.questions(samples), "work": work.questions()}
    texts = {"LoCoMo": stored.said(samples), "work": work.texts()}
    measured: dict[str, Sequence[Example]] = {}
    with contextlib.ExitStack() as stack:
        embeddings = stack.enter_context(embeddings_of(options))
        model = EmbeddingModel(embeddings.url, embeddings.model, embeddings.dimensions)
        server = stack.enter_context(running_server("system", {"shared_buffers": "256MB"}))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        write_samples(samples, folder / "LoCoMo")
        work.write(folder / "work")
        for name, questions in asked.items():
            database = stack.enter_context(stored.database(server, name))
            found = stored.load(database, folder / name, model, texts[name])
            share = 1.0 if name != "work" else SHARE_OF_WORK * len(asked["LoCoMo"]) / len(questions)
            measured[name] = examples(database, found, embeddings.asked(questions), share)
    tuned = [each for given in measured.values() for each in given if TUNING in each.groups]
    weights = fit(tuned)
    WEIGHTS.write_text(json.dumps(scaled(weights, tuned), indent=1) + "\n")
    report(measured, weights)
    say(WEIGHTS.read_text())


if __name__ == "__main__":
    main()
