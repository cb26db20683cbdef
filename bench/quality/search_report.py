"""The quality of search as sections of the Markdown page and as a chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.quality.charts import Line, draw
from bench.quality.context_report import TITLES
from bench.quality.evidence import BUDGETS, DEPTHS
from bench.quality.search import BEST
from bench.support.markdown import table

Sets = dict[str, Any]

COLORS = {"keyword": "#b08d57", "vector": "#7fa8c9", "hybrid, score": "#336791", "hybrid, rrf": "#8a8f98"}

HOW_TO_READ = """
Recall@k is the share of a question's evidence among the first k results, averaged over the questions. A turn that is
evidence counts as found when the message that holds it is. One search covers all messages of one conversation. The
last column is how many points the default finds more than this method at 10, with the 95 % interval of a paired
bootstrap over the questions: an interval that contains 0 is no difference.

Tokens are those of the results in rank order: what a prompt has to hold when it is filled with results until the last
evidence that was found is in. A method that finds less may stop earlier, so what to compare is the share of questions
whose whole evidence is contained in so many tokens. A search returns 50 results, which is about 2,000 tokens of
LoCoMo's short turns: more tokens add nothing there. Tokens are those of token_count, bytes / 4 as the write path
estimates them.
""".strip()

ABOUT_LANGUAGES = """
The same conversations, with the same questions, written in each language (bench/quality/languages.py), and mixed: each
turn in one of the six, asked about in its own. The differences are points to the same questions in English, with the
95 % interval of a paired bootstrap. The embedding model reads English only.
""".strip()


def is_measured(sets: Sets) -> bool:
    """Whether any method was measured."""
    return any(each["methods"] for each in sets.values())


def sections(sets: Sets, top_k: int) -> list[str]:
    """The part of the page about search."""
    if not is_measured(sets):
        return []
    parts = [
        "## Search",
        f"memory.search(sources => '{{message}}', top_k => {top_k}).",
        "![Recall against tokens of results](quality.svg)",
    ]
    for group, title in TITLES.items():
        if has_group(sets, group):
            parts += [f"### {title}", recall_table(sets, group, BEST)]
            parts += [_token_table(sets, group)] if group == "reported" else []
    return [*parts, "### How to read this", HOW_TO_READ, *language_sections(sets)]


def language_sections(sets: Sets) -> list[str]:
    """Recall in each language beside English, where the set of languages was measured."""
    return [
        part
        for each in sets.values()
        if each.get("languages")
        for part in (
            "### By language",
            ABOUT_LANGUAGES,
            language_table(each["languages"], each.get("held_by_language")),
        )
    ]


def language_table(methods: dict[str, Any], held: dict[str, float] | None = None) -> str:
    """Recall of each method by language with the difference to English, and what contexts hold."""
    rows = [
        [f"{method}: {language}", str(figures["questions"])]
        + [_percent(recall) for recall in figures["recall"].values()]
        + [_interval(difference) for difference in figures["difference"].values()]
        + ([] if held is None else [_percent(held[language]) if method == BEST else ""])
        for method, languages in methods.items()
        for language, figures in languages.items()
    ]
    depths = next(iter(next(iter(methods.values())).values()))["recall"]
    heads = [*(f"@{depth}" for depth in depths), *(f"To English @{depth}" for depth in depths)]
    return table(["Recall, %", "Questions", *heads, *([] if held is None else ["Held in 2,000 tokens, %"])], rows)


def has_group(sets: Sets, group: str) -> bool:
    """Whether anything was measured of a group."""
    return bool(_groups(sets, group))


def _groups(sets: Sets, group: str) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Each method of each set with its figures for a group of conversations."""
    return [
        (f"{name}: {method}", figures["groups"][group], figures)
        for name, each in sets.items()
        for method, figures in each["methods"].items()
        if group in figures["groups"]
    ]


def recall_table(sets: Sets, group: str, best: str | None = None) -> str:
    """Recall at each depth as a Markdown table."""
    gain = [] if best is None else [f"{best} finds more, points"]
    rows = [
        [label, str(means["questions"]), *(_percent(means["recall"][str(depth)]) for depth in DEPTHS)]
        + ([] if best is None else [_gain(figures["gain_of_best_at_10"], group)])
        for label, means, figures in _groups(sets, group)
    ]
    return table(["Recall, %", "Questions", *(f"@{depth}" for depth in DEPTHS), *gain], rows)


def _token_table(sets: Sets, group: str) -> str:
    rows = []
    for label, means, _ in _groups(sets, group):
        until = means["tokens_until_last_found"]
        rows.append(
            [
                label,
                *(f"{until[key]:,}" if until[key] is not None else "" for key in ("median", "mean")),
                *(_percent(means["contained"][str(budget)]) for budget in BUDGETS),
            ]
        )
    budgets = [f"Contained in {budget:,}, %" for budget in BUDGETS]
    return table(["Tokens until the last evidence found", "Median", "Mean", *budgets], rows)


def _percent(share: float) -> str:
    return f"{share * 100:.1f}"


def _gain(gain: dict[str, Any] | None, group: str) -> str:
    return _interval(gain[group] if gain else None)


def _interval(difference: dict[str, float] | None) -> str:
    if difference is None:
        return ""
    mean, low, high = (difference[key] * 100 for key in ("mean", "low", "high"))
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"


def chart(sets: Sets, path: Path) -> None:
    """Recall against tokens of results."""
    panels = {
        name: [
            Line(
                method,
                (figures["groups"].get("reported") or figures["groups"]["all"])["recall_within"],
                COLORS.get(method),
                is_default=method == BEST,
            )
            for method, figures in each["methods"].items()
        ]
        for name, each in sets.items()
    }
    draw(path, panels, "tokens of results", "evidence found, %")
