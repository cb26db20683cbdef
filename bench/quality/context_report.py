"""How much of the evidence contexts hold, as a section of the Markdown page and as a chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.quality.charts import Line, draw
from bench.quality.context import BUDGETS
from bench.quality.work import KINDS
from bench.support.markdown import table

Sets = dict[str, Any]

DEFAULT, IN_PRODUCTION = "get_context", "get_context in production"
COLORS = {DEFAULT: "#336791", IN_PRODUCTION: "#7fa8c9", "vector top-k": "#8a8f98", "last messages": "#b08d57"}
TITLES = {
    "all": "All conversations",
    "reported": "Conversations 6 to 10, users 5 to 8",
    "tuning": "Conversations 1 to 5, users 1 to 4",
    **KINDS,
}

WHAT_IS_ASKED = """
Each question is asked in a new, empty thread: memory.get_context(query => the question, query_embedding => its vector,
max_tokens => the budget), with the default policy except that nothing expires, because the conversations are years
old. Requests that say little are asked in the thread that they go on with. A context holds a question's evidence when
the text of every turn that the answer needs, or of the passage of a long reply, stands in its parts.
""".strip()

HOW_TO_READ = """
get_context: the messages were imported and embedded, and nothing else has run. In production: the same messages came
ten at a time, and a worker has done all jobs of the default policy after each ten: extraction, reconciliation,
summaries, compression. Its chat model replies by rule, in realistic sizes; what it extracts are the statements about
the user messages that LoCoMo itself comes with. "Or remembered" counts a turn also when such a statement made of the
turn stands in the context in place of its words.

Last messages: the newest messages of all threads, until the next one does not fit. Vector top-k: the messages nearest
to the question by the cosine of the embeddings, without those that do not fit any more. Both with the date and the
speaker before each message and a fence around all, as recalled messages have them.
""".strip()

ABOUT_NOISE = """
What recall costs. The answered questions are those above. The adversarial ones ask about something that was not said
in this way; their evidence are the turns that they were made of. The last 200 ask about what occurs in no conversation
(bench/quality/never_said.txt), so that everything recalled is noise. Tokens are those of the parts with source
recalled, on average over all questions; noise is the share of them that is not the text of a turn of evidence, dates
and speakers included.
""".strip()


def is_measured(sets: Sets) -> bool:
    """Whether any contexts were measured."""
    return any(_ways(each) for each in sets.values())


def sections(sets: Sets, token_counter: str) -> list[str]:
    """The part of the page about contexts."""
    if not is_measured(sets):
        return []
    parts = ["## The context", WHAT_IS_ASKED, "![Evidence held whole, by budget](context.svg)"]
    for group, title in TITLES.items():
        if has_group(sets, group):
            parts += [f"### {title}", held_table(sets, group)]
    parts += [
        "### How to read this",
        HOW_TO_READ,
        "### Tokens used",
        f"Real tokens ({token_counter}) of everything that a context returns. Over budget: contexts with more than "
        "max_tokens.",
        _tokens_table(sets),
    ]
    if any("recalled" in each for each in sets.values()):
        parts += ["### Where nothing is to be found", ABOUT_NOISE, _noise_table(sets)]
    return parts


def _ways(figures: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Each way of filling a budget with its figures by group."""
    ways = dict(figures.get("context", {}))
    if "production" in figures:
        ways[IN_PRODUCTION] = figures["production"][DEFAULT]
    return {name: ways[name] for name in COLORS if name in ways}


def has_group(sets: Sets, group: str) -> bool:
    """Whether anything was measured of a group."""
    return bool(_groups(sets, group))


def _groups(sets: Sets, group: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Set, way of filling, and figures by budget for a group of conversations."""
    return [
        (name, way, groups[group])
        for name, each in sets.items()
        for way, groups in _ways(each).items()
        if groups.get(group)
    ]


def held_table(sets: Sets, group: str) -> str:
    """The share of questions whose whole evidence is held, as a Markdown table."""
    rows = []
    for name, way, budgets in _groups(sets, group):
        figures = [budgets[str(budget)] for budget in BUDGETS]
        remembered = [each["whole_or_remembered"] for each in figures] if way == IN_PRODUCTION else []
        rows.append(
            [
                f"{name}: {way}",
                str(figures[0]["questions"]),
                *(_percent(each["whole"]) for each in figures),
                ", ".join(map(_percent, remembered)),
            ]
        )
    heads = [f"{budget:,} tokens" for budget in BUDGETS]
    return table(["Whole evidence held, %", "Questions", *heads, "Or remembered"], rows)


def _tokens_table(sets: Sets) -> str:
    rows = [
        [
            f"{name}: {way}",
            *(f"{each['tokens']['mean']:,} ({each['tokens']['max']:,})" for each in figures),
            str(sum(each["over_budget"] for each in figures)),
        ]
        for name, way, budgets in _groups(sets, "all")
        for figures in [[budgets[str(budget)] for budget in BUDGETS]]
    ]
    heads = [f"{budget:,}: mean (max)" for budget in BUDGETS]
    return table(["Tokens used", *heads, "Over budget"], rows)


def _noise_table(sets: Sets) -> str:
    rows = []
    for name, each in sets.items():
        for questions, budgets in each.get("recalled", {}).items():
            for budget, figures in budgets.items():
                rows.append(
                    [
                        f"{name}: {figures['questions']:,} {questions}, {int(budget):,} tokens",
                        f"{figures['recalled_tokens']['mean']:,}",
                        f"{figures['evidence_tokens']:.0f}",
                        "" if figures["noise"] is None else _percent(figures["noise"]),
                        _percent(figures["without_any"] / figures["questions"]),
                    ]
                )
    return table(["Recalled", "Tokens", "Of evidence", "Noise, %", "Nothing recalled, %"], rows)


def _percent(share: float) -> str:
    return f"{share * 100:.1f}"


def chart(sets: Sets, path: Path) -> None:
    """The share of questions whose whole evidence is held, by budget."""
    panels = {
        name: [
            Line(
                way,
                [(budget, groups["all"][str(budget)]["whole"]) for budget in BUDGETS],
                COLORS[way],
                is_default=way == DEFAULT,
            )
            for way, groups in ways.items()
        ]
        for name, each in sets.items()
        if (ways := _ways(each))
    }
    draw(path, panels, "tokens of the context", "questions with their whole evidence, %", markers="o")
