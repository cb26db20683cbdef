"""Verdicts of an honest and of a hostile model, on pairs that were labelled before the rules were made.

The rules were tuned on half of ``verdicts.json``. Somebody who had seen neither them nor that file wrote
``unseen_verdicts.json``, in which half of the unrelated pairs are hard: of one topic, and both may be true. It is not
there to tune on.

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

Pairs = dict[str, list[dict[str, Any]]]


def pairs_of(name: str) -> Pairs:
    read: Pairs = json.loads((Path(__file__).parent / name).read_text("utf-8"))
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


@pytest.mark.feature("E10", "E11")
@pytest.mark.parametrize(
    ("name", "floors"),
    [
        ("verdicts.json", {"paraphrases": 54, "contradictions": 55, "unrelated": 2}),
        ("unseen_verdicts.json", {"paraphrases": 34, "contradictions": 44, "unrelated": 35}),
    ],
)
def test_an_honest_model_is_believed_and_a_hostile_one_hides_little(
    api: Api, fake: FakeModelServer, name: str, floors: dict[str, int]
) -> None:
    of_kinds = pairs_of(name)
    pairs = {f"{kind} {number}": (kind, pair) for kind, rows in of_kinds.items() for number, pair in enumerate(rows)}
    for user_id, (_, pair) in pairs.items():
        for content in (pair["older"], pair["newer"]):
            api.add_memory(user_id=user_id, content=content)
    hidden: Counter[tuple[str, str]] = Counter()
    for kind in of_kinds:
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
            if is_hidden != (kind != "unrelated"):
                print(kind, pair)
    of_pairs = Counter((kind, pair["lang"]) for kind, pair in pairs.values())
    for key, count in sorted(of_pairs.items()):
        print(*key, hidden[key], "of", count)
    totals = {kind: sum(count for key, count in hidden.items() if key[0] == kind) for kind in of_kinds}
    assert totals["paraphrases"] >= floors["paraphrases"]  # of 60
    assert totals["contradictions"] >= floors["contradictions"]  # of 60
    assert totals["unrelated"] <= floors["unrelated"]  # of 120
    # Whatever was hidden names its reason, and comes back.
    for row in api.query(
        "select user_id, memory_id, supersede_reason from memory.memories where superseded_at is not null"
    ):
        assert row.supersede_reason in ("duplicate", "contradict")
        api.restore_memory(user_id=row.user_id, memory_id=row.memory_id)
        assert len(api.list_memories(user_id=row.user_id)) == 2
