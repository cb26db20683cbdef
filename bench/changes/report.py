"""Tables of the benchmark of facts that change."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from bench.changes.items import KINDS, LANGUAGES, PARTS
from bench.changes.judge import MEASURES, Verdict
from bench.support.markdown import table

Results = dict[str, Any]
Row = dict[str, Any]
"""Counts of the items of a language, a kind and a part: ``items``, and for each measure [right, counted]."""


def count(verdicts: Sequence[Verdict]) -> list[Row]:
    """A row for each language, kind and part."""
    rows = []
    for group in itertools.product(LANGUAGES, KINDS, PARTS):
        found = [each for each in verdicts if (each.item.language, each.item.kind, each.item.part) == group]
        if found:
            rows.append({**dict(zip(("language", "kind", "part"), group, strict=True)), **_counts(found)})
    return rows


def _counts(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    found: dict[str, Any] = {"items": len(verdicts)}
    for measure in MEASURES:
        outcomes = [each.measures[measure] for each in verdicts if measure in each.measures]
        if outcomes:
            found[measure] = [sum(outcomes), len(outcomes)]
    return found


def tables(rows: Sequence[Row]) -> str:
    """All tables of a model."""
    return f"{_by_language(rows)}\n\n{_by_kind(rows)}"


def _by_language(rows: Sequence[Row]) -> str:
    """A row for each language and for all of them, and for the held-out part alone."""
    groups = [(language, [row for row in rows if row["language"] == language]) for language in LANGUAGES]
    groups.append(("all", list(rows)))
    groups += [
        (f"{name}, held out", [row for row in group if row["part"] == "held_out"])
        for name, group in (groups[0], groups[-1])
    ]
    return _table("Language", [(name, group) for name, group in groups if group])


def _by_kind(rows: Sequence[Row]) -> str:
    """A row for each language and kind."""
    groups = [
        (f"{language}, {kind}", [row for row in rows if (row["language"], row["kind"]) == (language, kind)])
        for language in LANGUAGES
        for kind in KINDS
    ]
    return _table("Language and kind", [(name, group) for name, group in groups if group])


def _table(head: str, groups: Sequence[tuple[str, Sequence[Row]]]) -> str:
    measures = [each for each in MEASURES if any(each in row for _, group in groups for row in group)]
    rows = []
    for name, group in groups:
        sums = {
            measure: [sum(row[measure][place] for row in group if measure in row) for place in (0, 1)]
            for measure in measures
        }
        cells = [f"{right}/{counted}" if counted else "" for right, counted in sums.values()]
        rows.append([name, str(sum(row["items"] for row in group)), *cells])
    return table([head, "Items", *(measure.capitalize() for measure in measures)], rows)


def markdown(results: Results) -> str:
    """The page of results."""
    lines = [
        "# Facts that change",
        "",
        f"{results['date']}, `python -m bench.changes`, PostgreSQL {results['postgresql']}, "
        f"embeddings: {results['embedding'] or 'none, so words are compared'}. "
        "Short conversations in which what a user said is replaced, ended or corrected later, or stays true. "
        "Somebody who had not seen the rules of extraction wrote them; nobody looks at the held-out half while rules "
        "change. `bench/changes/judge.py` defines the measures; a cell has the items that are right and those that "
        "the measure concerns.",
    ]
    for model, rows in results["models"].items():
        lines += ["", f"## Extraction by the {model} model", "", tables(rows)]
    return "\n".join(lines) + "\n"
