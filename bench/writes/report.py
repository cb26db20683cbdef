"""The results as a Markdown page."""

from __future__ import annotations

from statistics import median
from typing import Any

from bench.support.environment import describe
from bench.support.markdown import table
from bench.writes.cases import Case, Ratio

Results = dict[str, Any]


def summarize(case: Case, rates: dict[str, dict[str, list[float]]], cpu: dict[str, float]) -> list[dict[str, Any]]:
    """The ratios of a case.

    ``rates`` is calls per second by number of clients, variant and round; ``cpu`` is microseconds per call by variant.
    """
    summary = []
    for clients, by_variant in rates.items():
        for ratio in case.ratios:
            rounds = _by_round(ratio, by_variant)
            summary.append(
                {
                    "over": ratio.over,
                    "under": ratio.under,
                    "of": "times" if ratio.of_times else "rates",
                    "clients": int(clients),
                    "median": round(median(rounds), 3),
                    "rounds": [round(each, 3) for each in rounds],
                    "aim": ratio.aim,
                    "cpu": round(cpu[ratio.over] / cpu[ratio.under], 2),
                }
            )
    return summary


def _by_round(ratio: Ratio, rates: dict[str, list[float]]) -> list[float]:
    """One value per round; both sides of a quotient were measured one after the other."""
    pairs = zip(rates[ratio.over], rates[ratio.under], strict=True)
    return [under / over if ratio.of_times else over / under for over, under in pairs]


def ratio_table(results: Results) -> str:
    """The ratios with their aims as a Markdown table."""
    rows = [
        [
            f"{entry['over']} / {entry['under']} ({entry['of']})",
            str(entry["clients"]),
            f"{entry['median']:.2f}",
            f"{min(entry['rounds']):.2f} to {max(entry['rounds']):.2f}",
            _aim(entry),
            f"{entry['cpu']:.2f}",
        ]
        for case in results["cases"].values()
        for entry in case["ratios"]
    ]
    return table(["Ratio", "Clients", "Median", "Rounds", "Aim", "CPU"], rows)


def _aim(entry: dict[str, Any]) -> str:
    if entry["aim"] is None:
        return ""
    if entry["of"] == "times":
        sign, is_reached = "≤", entry["median"] <= entry["aim"]
    else:
        sign, is_reached = "≥", entry["median"] >= entry["aim"]
    return f"{sign} {entry['aim']:.2f} {'reached' if is_reached else '**missed**'}"


def _rate_table(results: Results) -> str:
    rows = [
        [variant, *(_number(median(by_variant[variant])) for by_variant in case["rates"].values()), _number(cpu)]
        for case in results["cases"].values()
        for variant, cpu in case["cpu_microseconds"].items()
    ]
    clients = next(iter(results["cases"].values()))["rates"]
    return table(["Calls per second", *(f"clients: {count}" for count in clients), "Server CPU per call, µs"], rows)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def markdown(results: Results) -> str:
    """The results as a Markdown page."""
    options = results["options"]
    parts = [
        "# Cost of the functions against the bare statement",
        f"{describe(results)}; fsync and synchronous_commit on, shared_buffers "
        f"{results['settings']['shared_buffers']}; "
        f"{options['rounds']} rounds of {options['seconds']} s in which the variants take turns, pgbench with prepared "
        "statements. A bare statement works on a plain table with the same columns, defaults and primary key: no "
        "triggers, constraints or further indexes. The words by which a message is found are parsed later, by a job or "
        "memory.sweep(), and are no part of these figures; those of a memory are. Ratios are medians over the rounds. "
        "CPU is the ratio of the CPU time of the server per call, which the disk and other work on the machine disturb "
        "less.",
        "## Ratios",
        ratio_table(results),
        "## Rates",
        _rate_table(results),
    ]
    return "\n\n".join(parts) + "\n"
