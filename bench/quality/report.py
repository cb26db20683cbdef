"""The quality of search as JSON, as a Markdown page and as a chart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.quality.evidence import BUDGETS, DEPTHS
from bench.support.environment import describe
from bench.support.markdown import table

Results = dict[str, Any]
Sets = dict[str, Any]

COLORS = {"keyword": "#b08d57", "vector": "#7fa8c9", "hybrid, score": "#336791", "hybrid, rrf": "#8a8f98"}
TITLES = {"reported": "Conversations 6 to 10", "tuning": "Conversations 1 to 5", "all": "All conversations"}

HOW_TO_READ = """
Recall@k is the share of a question's evidence among the first k results, averaged over the questions. A turn that is
evidence counts as found when the message that holds it is. One search covers all messages of one conversation.
Conversations 1 to 5 are the ones to tune on; what counts are conversations 6 to 10. The last column is how many points
the default finds more than this method at 10, with the 95 % interval of a paired bootstrap over the questions: an
interval that contains 0 is no difference.

Tokens are those of the results in rank order: what a prompt has to hold when it is filled with results until the last
evidence that was found is in. A method that finds less may stop earlier, so what to compare is the share of questions
whose whole evidence is contained in so many tokens. A search returns 50 results, which is about 2,000 tokens of
LoCoMo's short turns: more tokens add nothing there. Tokens are those of token_count, bytes / 4 as the write path
estimates them.
""".strip()


def markdown(results: Results, best: str) -> str:
    """The results as a Markdown page; ``best`` is the method that the others are compared with."""
    embedding = results["embedding"]
    parts = [
        "# Quality of search",
        f"{describe(results)}; embeddings by {embedding['model']}, {embedding['dimensions']} dimensions, exact. "
        f"{results['conversations']} conversations of LoCoMo with the questions that have evidence, adversarial ones "
        f"left out, through memory.search(sources => '{{message}}', top_k => {results['top_k']}).",
        "![Recall against tokens of context](quality.svg)",
    ]
    for group, title in TITLES.items():
        if any(_groups(results["sets"], group)):
            parts += [f"## {title}", recall_table(results["sets"], group, best)]
            parts += [_token_table(results["sets"], group)] if group == "reported" else []
    parts += [
        "## How to read this",
        HOW_TO_READ,
        "## The two sets",
        "LoCoMo: each turn is a message, of 23 words on average. Mixed lengths: the same conversations as people have "
        "them with an assistant (bench/quality/mixed_lengths.py): messages of two turns, about 50 words, and replies "
        "of about 577 words made of turns that answer nothing; 23 % of the evidence is inside of a reply. "
        "all-MiniLM-L6-v2 "
        "reads the first 256 tokens of a text, so vector search knows only the beginning of a long reply.",
        table(
            ["Set", "Messages", "Tokens of a whole conversation"],
            [
                [name, f"{each['messages']:,}", f"{each['tokens_per_conversation']:,}"]
                for name, each in results["sets"].items()
            ],
        ),
    ]
    return "\n\n".join(parts) + "\n"


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
    if gain is None or gain[group] is None:
        return ""
    mean, low, high = (gain[group][key] * 100 for key in ("mean", "low", "high"))
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"


def chart(results: Results, path: Path) -> None:
    """Recall against tokens of context, a panel for each set, as SVG."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "bench"  # the same results give the same file
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot

    sets = results["sets"]
    figure, panels = pyplot.subplots(
        1, len(sets), figsize=(4.8 * len(sets), 4.2), sharey=True, squeeze=False, layout="constrained"
    )
    for axes, (name, each) in zip(panels[0], sets.items(), strict=True):
        for method, figures in each["methods"].items():
            means = figures["groups"].get("reported") or figures["groups"]["all"]
            axes.plot(
                *zip(*((tokens, share * 100) for tokens, share in means["recall_within"]), strict=True),
                label=method,
                color=COLORS.get(method),
                linewidth=2.4 if method == "hybrid, score" else 1.6,
            )
        axes.set_title(f"{name[0].upper()}{name[1:]}", loc="left")
        axes.set_xlabel("tokens of results")
        axes.set_xlim(0, BUDGETS[-1])
        axes.set_ylim(0, 100)
        axes.grid(color="#e3e6ea", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0][0].set_ylabel("evidence found, %")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def write(results: Results, best: str, directory: Path) -> list[Path]:
    """Writes ``<date>-quality.json``, ``quality.md`` and ``quality.svg``; returns their paths."""
    directory.mkdir(exist_ok=True)
    data = directory / f"{results['date']}-quality.json"
    page, picture = directory / "quality.md", directory / "quality.svg"
    data.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    page.write_text(markdown(results, best))
    chart(results, picture)
    return [data, page, picture]
