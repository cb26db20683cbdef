"""The results as JSON, as a Markdown page and as charts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.quality import context_report, search_report
from bench.quality.context_report import TITLES
from bench.support.environment import describe
from bench.support.markdown import table

Results = dict[str, Any]


def markdown(results: Results) -> str:
    """The results as a Markdown page."""
    embedding = results["embedding"]
    sets = results["sets"]
    parts = [
        "# Quality of contexts and of search",
        f"{describe(results)}; embeddings by {embedding['model']}, {embedding['dimensions']} dimensions, exact. "
        f"{results['conversations']} conversations of LoCoMo with the questions that have evidence, adversarial ones "
        "left out unless they are named. Conversations 1 to 5 are the ones to tune on; what counts are conversations "
        "6 to 10; of the work set users 1 to 4 and 5 to 8.",
        *context_report.sections(sets, results["token_counter"]),
        *search_report.sections(sets, results["top_k"]),
        "## The sets",
        "LoCoMo: each turn is a message, of 23 words on average. Mixed lengths: the same conversations as people have "
        "them with an assistant (bench/quality/mixed_lengths.py): messages of two turns, about 50 words, and replies "
        "of about 577 words made of turns that answer nothing; 23 % of the evidence is inside of a reply. "
        "all-MiniLM-L6-v2 "
        "reads the first 256 tokens of a text, so vector search knows only the beginning of a long reply. Languages: "
        "conversations of our own, the same in English, German, Spanish, Portuguese, French, Chinese and all mixed. "
        "Work: eight people who work with an assistant over months (bench/quality/work.py), each request resting on "
        "what was agreed earlier; written by somebody who did not know how search ranks.",
        table(
            ["Set", "Messages", "Tokens of a whole conversation"],
            [[name, f"{each['messages']:,}", f"{each['tokens_per_conversation']:,}"] for name, each in sets.items()],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def overview(results: Results) -> str:
    """The main tables of what was measured."""
    sets = results["sets"]
    tables = []
    for group, title in TITLES.items():
        if context_report.has_group(sets, group):
            tables += [title, context_report.held_table(sets, group)]
        if search_report.has_group(sets, group):
            tables += [title, search_report.recall_table(sets, group)]
    return "\n\n".join([*tables, *search_report.language_sections(sets)])


def write(results: Results, directory: Path) -> list[Path]:
    """Writes ``<date>-quality.json``, ``quality.md`` and the charts of what was measured; returns their paths."""
    directory.mkdir(exist_ok=True)
    data, page = directory / f"{results['date']}-quality.json", directory / "quality.md"
    data.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    page.write_text(markdown(results))
    paths = [data, page]
    for measured, name in ((context_report, "context.svg"), (search_report, "quality.svg")):
        if measured.is_measured(results["sets"]):
            measured.chart(results["sets"], directory / name)
            paths.append(directory / name)
    return paths
