"""The results as JSON and as a Markdown page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.support.environment import describe
from bench.support.markdown import table

Results = dict[str, Any]


def overview(results: Results) -> str:
    """The table of what was measured."""
    return table(
        ["Context", "answered", "tuned on", "held out", "tokens", "of them kept texts", "where the question is about "
         "something else", "ms"],
        [
            [name, f"{each['all']:.0%}", f"{each['tuned']:.0%}", f"{each['held_out']:.0%}", f"{each['tokens']:,}",
             f"{each['kept_tokens']:,}", f"{each['kept_tokens_of_small_talk']:,}", f"{each['milliseconds']:.0f}"]
            for name, each in results["measured"].items()
        ],
    )  # fmt: skip


def markdown(results: Results) -> str:
    """The results as a Markdown page."""
    missed = {name: each["missed"] for name, each in results["measured"].items() if name != "placeholders only"}
    parts = [
        "# Passages of kept texts in contexts",
        f"{describe(results)}; tokens by {results['token_counter']}.",
        f"A conversation in which an agent runs {results['outputs']} commands. Their outputs (logs of pip, npm, make "
        "and a server, diffs, traces and test runs, web pages, deployments, JSON and CSV, made by generators) have "
        f"{results['tokens_of_outputs']:,} tokens on average and stand as placeholders in the thread. 100 questions "
        "are about a line deep inside of one of them, in other words than the line's where a person would use others. "
        "A question counts as answered if the answering part of the line stands in the context of "
        f"{results['max_tokens']:,} tokens. Half of the questions were tuned on; the other half has the same author. "
        "The last two columns: tokens of kept texts where 20 questions are about something else, and the median time "
        "of a context, with whatever else the machine did.",
        overview(results),
        *(
            f"Not answered, {name}: " + (" ".join(f"“{question}”" for question in questions) or "none") + "."
            for name, questions in missed.items()
        ),
    ]
    return "\n\n".join(parts) + "\n"


def write(results: Results, directory: Path) -> list[Path]:
    """Writes ``<date>-passages.json`` and ``passages.md``; returns their paths."""
    directory.mkdir(exist_ok=True)
    data, page = directory / f"{results['date']}-passages.json", directory / "passages.md"
    data.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    page.write_text(markdown(results))
    return [data, page]
