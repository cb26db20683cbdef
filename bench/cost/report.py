"""The costs as a Markdown page."""

from __future__ import annotations

from typing import Any

from bench.support.environment import describe
from bench.support.markdown import table

Results = dict[str, Any]


def markdown(results: Results) -> str:
    """The results as a Markdown page."""
    prices = results["prices_per_million"]
    counted = results["token_counter"]
    parts = [
        "# Cost of the model work",
        f"{describe(results)}. Default policy, per 1,000 messages, from the ledger, at assumed prices per million "
        f"tokens of {prices['input']:.2f} USD read and {prices['output']:.2f} written. The worker runs one job at a "
        "time and calls a model server on loopback that replies by rule, within the limits that the prompts set, with "
        "a memory for every second message of the user. Tokens are those of the messages sent, the schema of the "
        f"reply and the reply ({counted}); reasoning and a provider's discount for repeated prompts are not in it. A "
        "sweep an hour after each thread queues what is left of it, one eight days later the consolidation.",
    ]
    for name, text in results["texts"].items():
        threads = "one thread" if text["threads"] == 1 else f"{text['threads']} threads"
        parts += [
            f"## {name[0].upper()}{name[1:]}",
            f"{text['messages']:,} messages in {threads}, {text['tokens'] / text['messages']:.0f} tokens each.",
            _totals(text),
            _by_kind(text),
        ]
        if text["growth"]:
            parts += [
                "### Prompts of a thread that grows",
                "Tokens of one prompt, where jobs run after each round: the mean of the calls in the 40 messages up to "
                "message 100 and up to the last; of a rarer call its first and its last. Instructions are the system "
                "message and the schema of the reply. Reconciliation reads facts, not messages: what is new, and what "
                "is like it.",
                _growth(text),
            ]
    return "\n\n".join(parts) + "\n"


def _totals(text: dict[str, Any]) -> str:
    rows = []
    for pacing, kinds in text["kinds"].items():
        sums = [sum(row[key] for row in kinds.values()) for key in ("calls", "tokens_in", "tokens_out", "price")]
        calls, tokens_in, tokens_out, price = (float(each) * 1000 / text["messages"] for each in sums)
        rows.append([pacing, *map(_whole, (calls, tokens_in, tokens_out)), f"{price:.3f}"])
    return table(["Per 1,000 messages", "Calls", "Tokens in", "Tokens out", "USD"], rows)


def _by_kind(text: dict[str, Any]) -> str:
    """A row for each kind of job and pacing."""
    share = 1000 / text["messages"]
    rows = [
        [
            f"{kind}, {pacing}",
            *(_whole(used[key] * share) for key in ("calls", "tokens_in", "tokens_out")),
            f"{used['price'] * share:.3f}",
            _whole(used["tokens_in"] / used["calls"]),
            _whole(used["tokens_out"] / used["calls"]),
        ]
        for pacing, kinds in text["kinds"].items()
        for kind, used in kinds.items()
    ]
    return table(["By kind of job", "Calls", "Tokens in", "Tokens out", "USD", "In per call", "Out per call"], rows)


def _growth(text: dict[str, Any]) -> str:
    rows = [
        [
            row["what"],
            _whole(row["instructions"]) if "instructions" in row else "",
            f"{_whole(row['early'])}{_place(row, 'early_at', 100)}",
            f"{_whole(row['late'])}{_place(row, 'late_at', text['messages'])}",
            f"{row['late'] / row['early']:.2f}",
        ]
        for row in text["growth"]
    ]
    end = f"{text['messages']:,}"
    return table(["Prompt", "Instructions", "At message 100", f"At message {end}", "Ratio"], rows)


def _place(row: dict[str, Any], key: str, expected: int) -> str:
    """A remark on the place of a call in the thread, if it is not the place that the column's head names."""
    place = row.get(key, expected)
    return "" if abs(place - expected) < 40 else f" (at {place})"


def _whole(value: float) -> str:
    return f"{value:,.0f}"
