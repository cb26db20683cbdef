"""The results as JSON, as a Markdown page and as a chart."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

from bench.support.markdown import table
from bench.writes.cases import Case, Ratio

Results = dict[str, Any]


def ratio_values(ratio: Ratio, rates: dict[str, list[float]]) -> list[float]:
    """One value per round; both sides of a quotient were measured one after the other."""
    pairs = zip(rates[ratio.over], rates[ratio.under], strict=True)
    return [under / over if ratio.of_times else over / under for over, under in pairs]


def summarize(
    case: Case, rates: dict[str, dict[str, list[float]]], cpu: dict[str, float | None]
) -> list[dict[str, Any]]:
    """The ratios of a case.

    ``rates`` is calls per second by number of clients, variant and round; ``cpu`` is microseconds per call by variant.
    """
    return [
        {
            "over": ratio.over,
            "under": ratio.under,
            "of": "times" if ratio.of_times else "rates",
            "clients": int(clients),
            "median": round(value, 3),
            "rounds": [round(each, 3) for each in ratio_values(ratio, by_variant)],
            "aim": ratio.aim,
            "met": ratio.met(value),
            "cpu": _quotient(cpu[ratio.over], cpu[ratio.under]),
        }
        for clients, by_variant in rates.items()
        for ratio in case.ratios
        for value in [median(ratio_values(ratio, by_variant))]
    ]


def _quotient(over: float | None, under: float | None) -> float | None:
    return None if over is None or under is None else round(over / under, 2)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _aim(entry: dict[str, Any]) -> str:
    if entry["aim"] is None:
        return ""
    sign = "≤" if entry["of"] == "times" else "≥"
    return f"{sign} {entry['aim']:.2f} {'reached' if entry['met'] else '**missed**'}"


def ratio_table(results: Results) -> str:
    """The ratios with their aims as a Markdown table."""
    rows = [
        [
            _label(entry),
            str(entry["clients"]),
            f"{entry['median']:.2f}",
            f"{min(entry['rounds']):.2f} to {max(entry['rounds']):.2f}",
            _aim(entry),
            "" if entry["cpu"] is None else f"{entry['cpu']:.2f}",
        ]
        for case in results["cases"].values()
        for entry in case["ratios"]
    ]
    return table(["Ratio", "Clients", "Median", "Rounds", "Aim", "CPU"], rows)


def _label(entry: dict[str, Any]) -> str:
    return f"{entry['over']} / {entry['under']} ({entry['of']})"


def _rate_table(results: Results) -> str:
    clients = results["options"]["clients"]
    rows = [
        [variant]
        + [_number(median(case["rates"][str(count)][variant])) for count in clients]
        + ["" if cpu is None else _number(cpu)]
        for case in results["cases"].values()
        for variant, cpu in case["cpu_microseconds"].items()
    ]
    return table(["Calls per second", *map(_clients, clients), "Server CPU per call, µs"], rows)


def _clients(count: int) -> str:
    return f"{count} client" if count == 1 else f"{count} clients"


def markdown(results: Results) -> str:
    """The results as a Markdown page."""
    machine, options = results["machine"], results["options"]
    settings = results["settings"]
    parts = [
        "# Cost of the functions against the bare statement",
        f"{results['date']}, PostgreSQL {results['postgresql']}, {machine['cores']} cores, {machine['memory_gb']} GB, "
        f"{machine['system']}; fsync and synchronous_commit on, shared_buffers {settings['shared_buffers']}, "
        f"8 kB reach the disk in {machine['sync_microseconds']} µs; "
        f"{options['rounds']} rounds of {options['seconds']} s in which the variants take turns, pgbench with prepared "
        "statements. A bare statement works on a plain table with the same columns, defaults and primary key: no "
        "triggers, constraints or further indexes. The words by which a message is found are parsed later, by a job or "
        "memory.sweep(), and are no part of these figures; those of a memory are. Ratios are medians over the rounds. "
        "CPU is the ratio of the CPU time of the server per call, which the disk and other work on the machine disturb "
        "less.",
        "![Ratios](latest.svg)",
        "## Ratios",
        ratio_table(results),
        "## Rates",
        _rate_table(results),
    ]
    profiles = [
        (variant, statements)
        for case in results["cases"].values()
        for variant, statements in case["statements"].items()
        if len(statements) > 1
    ]
    if profiles:
        parts += [
            "## Where the time goes",
            "The statements inside a call on one connection, in microseconds per call, each with everything below it. "
            "Timing them makes all of them slower: read the proportions. What the first line has and the others lack "
            "is spent outside of statements, in PL/pgSQL itself, or on plans that are not kept.",
        ]
    for variant, statements in profiles:
        rows = [
            [
                f"`{_shorten(each['query'])}`",
                f"{each['per_call']:.2f}",
                _number(each["microseconds"]),
                _number(each["planning_microseconds"]),
            ]
            for each in statements[:12]
        ]
        parts += [f"### {variant}", table(["Statement", "Per call", "µs", "Planning, µs"], rows)]
    return "\n\n".join(parts) + "\n"


def _shorten(query: str) -> str:
    query = query.replace("|", "¦").replace("`", "'")
    return query if len(query) <= 100 else query[:99] + "…"


def chart(results: Results, path: Path) -> None:
    """Each ratio as a bar with its aim as a mark, as SVG."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "bench"  # the same results give the same file
    from matplotlib import pyplot

    entries = [entry for case in results["cases"].values() for entry in case["ratios"] if entry["aim"] is not None]
    clients = results["options"]["clients"]
    labels = [_label(entry).replace(" / ", "\n/ ") for entry in entries if entry["clients"] == clients[0]]
    figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.9 * len(labels)), layout="constrained")
    height = 0.8 / len(clients)
    for offset, count in enumerate(clients):
        values = [entry for entry in entries if entry["clients"] == count]
        places = [row + (offset - (len(clients) - 1) / 2) * height for row in range(len(values))]
        bars = axes.barh(
            places,
            [entry["median"] for entry in values],
            height * 0.9,
            label=_clients(count),
            color=["#336791", "#7fa8c9", "#b9cfe0"][offset % 3],
        )
        axes.bar_label(bars, fmt="%.2f", padding=4)
        for place, entry in zip(places, values, strict=True):
            axes.plot([entry["aim"]] * 2, [place - height / 2, place + height / 2], color="#c0392b", linewidth=2)
    axes.plot([], [], color="#c0392b", linewidth=2, label="aim (rates: at least; times: at most)")
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.margins(x=0.1)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(clients) + 1, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def write(results: Results, directory: Path) -> list[Path]:
    """Writes ``<date>-writes.json``, ``latest.md`` and ``latest.svg``; returns their paths."""
    directory.mkdir(exist_ok=True)
    data, page, picture = (directory / name for name in (f"{results['date']}-writes.json", "latest.md", "latest.svg"))
    data.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    page.write_text(markdown(results))
    chart(results, picture)
    return [data, page, picture]
