"""The weights of search are those that put the evidence first, within the limits."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bench.quality.evidence import TUNING
from bench.quality.fit import AT_MOST, FITTED, WEIGHTS, Example, fit, scaled


def test_what_tells_evidence_gets_the_weight() -> None:
    chance = np.random.default_rng(1)
    given = []
    for _ in range(60):
        features = chance.random((20, len(FITTED)))
        best = int(np.argmax(3 * features[:, FITTED.index("words")] + features[:, FITTED.index("meaning")]))
        given.append(Example(frozenset({TUNING}), 1.0, features, np.arange(20) == best))
    weights = dict(zip(FITTED, fit(given), strict=True))
    assert weights["words"] > weights["meaning"] > abs(weights["speaker"])
    named = scaled(fit(given), given)
    assert named["words"] / named["meaning"] == pytest.approx(weights["words"] / weights["meaning"], rel=0.01)
    assert np.mean([example.recall(fit(given), depth=3) for example in given]) > 0.9


def test_the_weights_of_the_product_keep_a_message_before_those_around_it() -> None:
    weights = json.loads(WEIGHTS.read_text())
    for name, (other, share) in AT_MOST.items():
        assert 0 < weights[name] <= share * weights[other] + 0.01
