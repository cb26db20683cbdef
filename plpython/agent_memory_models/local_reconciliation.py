"""Repetitions and contradictions among facts, without a model: equal claims, and single values that differ."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from .statements import claim, single_values


def reconcile(payload: dict[str, Any]) -> dict[str, Any]:
    """The result of a `reconcile_memories` job; the facts come newest first, and the newest wording is kept."""
    same_claim: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for fact in payload["facts"]:
        # A claim without a telling word is a claim of its own.
        same_claim[fact["group"], fact["subject"], claim(fact["content"]) or fact["number"]].append(fact)
    duplicates = [
        {"numbers": sorted(fact["number"] for fact in facts), "content": facts[0]["content"]}
        for facts in same_claim.values()
        if len(facts) > 1
    ]
    # One fact of each claim is enough to find what contradicts it.
    latest: dict[tuple[Any, ...], tuple[dict[str, Any], str]] = {}
    contradictions = []
    for fact in (facts[0] for facts in same_claim.values()):
        for attribute, value in single_values(fact["content"]).items():
            newer, newer_value = latest.setdefault((fact["group"], fact["subject"], attribute), (fact, value))
            numbers = sorted((newer["number"], fact["number"]))
            if value != newer_value and {"numbers": numbers} not in contradictions:
                contradictions.append({"numbers": numbers})
    return {"duplicates": duplicates, "contradictions": contradictions}
