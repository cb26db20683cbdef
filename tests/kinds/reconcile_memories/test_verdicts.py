"""Verdicts of an honest and of a hostile model, on pairs that were labelled before the rules were made.

Each JSON file of this folder is a set of pairs, by whoever wrote it: paraphrases and contradictions, which an honest
model names as such, and unrelated pairs, which a hostile model calls both. Unrelated pairs that are `similar` are of
one topic, and both facts may be true. The failures in ``verdicts.json`` and ``unseen_verdicts.json`` were looked at
when today's rules were made. A further file of this shape is read from this folder and its figures are printed; write
it without a look at the rules, and give it its bounds below.

``pytest -s`` prints the figures of bench/results/reconciliation.md.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_model_server import Behaviour, FakeModelServer
from tests.support.model_payloads import run_all
from tests.support.protocol import activate, claim, complete
from tests.support.sqlapi import Api

FOLDER = Path(__file__).parent

Pairs = dict[str, list[dict[str, Any]]]


def pairs_of(name: str) -> Pairs:
    read: Pairs = json.loads((FOLDER / name).read_text("utf-8"))
    return read


@pytest.fixture
def fake(api: Api, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModelServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with FakeModelServer() as server:
        activate(api, base_url=server.url)
        yield server


def verdict(kind: str) -> Any:
    """What a model answers about two facts: an honest one the truth, a hostile one whatever may hide the older."""

    def answer(body: dict[str, Any]) -> str:
        asked = body["messages"][-1]["content"]
        newer, _ = (json.loads(line)["content"] for line in asked.splitlines() if line.startswith('{"number"'))
        entry = {"numbers": [1, 2]}
        return json.dumps({
            "duplicates": [] if kind == "contradictions" else [{**entry, "content": newer}],
            "contradictions": [] if kind == "paraphrases" else [entry],
        })  # fmt: skip

    return answer


HONEST, HOSTILE = ("paraphrases", "contradictions"), ("plain", "similar")
BOUNDS = {
    "verdicts.json": {"paraphrases": 51, "contradictions": 52, "plain": 1, "similar": 20},
    "unseen_verdicts.json": {"paraphrases": 55, "contradictions": 50, "plain": 0, "similar": 46},
    "third_verdicts.json": {"paraphrases": 43, "contradictions": 38, "plain": 0, "similar": 47},
}
"""By file: at least so many verdicts of an honest model are carried out, and at most so many of a hostile one."""


@pytest.mark.feature("E10", "E11")
@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.json")))
def test_an_honest_model_is_believed_and_a_hostile_one_hides_little(api: Api, fake: FakeModelServer, name: str) -> None:
    pairs = {}
    for section, rows in pairs_of(name).items():
        for number, pair in enumerate(rows):
            kind = section if section in HONEST else "similar" if pair["similar"] else "plain"
            pairs[f"{section} {number}"] = kind, pair
    for user_id, (_, pair) in pairs.items():
        for content in (pair["older"], pair["newer"]):
            api.add_memory(user_id=user_id, content=content)
    hidden: Counter[tuple[str, str]] = Counter()
    for kind in HONEST + HOSTILE:
        fake.behaviour = Behaviour(answer=verdict(kind))
        jobs = []
        for user_id in [user_id for user_id, (of_kind, _) in pairs.items() if of_kind == kind]:
            api.reconcile_memories(user_id=user_id)
            jobs.append(claim(api, "reconcile_memories"))
        results = []
        for first in range(0, len(jobs), 4):  # so many that no connection waits
            results += run_all("reconcile_memories", *[job.payload for job in jobs[first : first + 4]])
        for job, result in zip(jobs, results, strict=True):
            _, pair = pairs[job.user_id]
            outcome = complete(api, job, **result)
            is_hidden = outcome["merged"] + outcome["contradicted"] == 1
            hidden[kind, pair["lang"]] += is_hidden
            hidden[kind, "all"] += is_hidden
            if is_hidden != (kind in HONEST):
                print(kind, pair)
    of_pairs = Counter((kind, lang) for kind, pair in pairs.values() for lang in (pair["lang"], "all"))
    for key, count in sorted(of_pairs.items()):
        print(name, *key, hidden[key], "of", count)
    for kind, bound in BOUNDS.get(name, {}).items():
        count = hidden[kind, "all"]
        assert count >= bound if kind in HONEST else count <= bound, kind
    # Whatever was hidden names its reason, and comes back.
    for row in api.query(
        "select user_id, memory_id, supersede_reason from memory.memories where superseded_at is not null"
    ):
        assert row.supersede_reason in ("duplicate", "contradict")
        api.restore_memory(user_id=row.user_id, memory_id=row.memory_id)
        assert len(api.list_memories(user_id=row.user_id)) == 2
