"""The results as JSON, as a Markdown page and as a chart."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

from bench.support.environment import describe
from bench.support.markdown import table

Results = dict[str, Any]
OURS = "agent_memory"
MEMORY_OPERATIONS = {
    "add": "add a text, until the call returns",
    "add, embedded": "add a text, until it is found by meaning",
    "bulk": "add many texts at once, until found by meaning",
    "search": "search with a new query, as the library usually does",
    "search by meaning": "search with a new query, by meaning alone",
    "search again": "search with one of 20 queries",
    "get": "get a text by its id",
    "list": "list 50 texts",
    "delete": "delete a text",
}
QUEUE_OPERATIONS = {"jobs": "claim and complete a job"}
SAVER_OPERATIONS = {
    "turn": "a turn of a graph of two nodes",
    "state": "load the state of a thread",
    "put": "store a checkpoint with one large value",
    "writes": "store three writes of a task",
}
OPERATIONS = {"memories": MEMORY_OPERATIONS, "queues": QUEUE_OPERATIONS, "checkpoints": SAVER_OPERATIONS}
"""The operations of each kind of systems, and what the page calls them."""
_REMARKS = (
    "- **HNSW** is the index of nearest neighbours that the library makes, **exact** the library without it. Such an"
    " index looks among the texts of all users, and drops those of other users afterwards: where PostgreSQL uses it, a"
    " search finds few of one user's. Where fewer than 99 % of the nearest ten are found, the share stands beside the"
    " rate. agent_memory compares all texts of the user.",
    "- **Search**: agent_memory searches by words and by meaning. mem0 and LangGraph have one search, which all lines"
    " show: mem0 searches by meaning and orders what it finds by words, too; LangGraph does not.",
    "- **Until found by meaning**: agent_memory returns before a text is embedded, which is a job's work. mem0 and"
    " LangGraph wait for the embedding. At once are 1,000 texts, 100 with mem0, which embeds and inserts them one by"
    " one.",
    "- **mem0** runs without its model (`infer=False`) and without its optional packages for languages.",
)
_OF_QUEUES = (
    "Claims of 10 jobs, one at a time with procrastinate, which has no other way. The work itself is empty. A claim of"
    " agent_memory returns ten messages with each job, a completion enters the result, and both check the lease."
    " procrastinate and pgqueuer hand out a number and keep a log. pgqueuer completes the ten in one statement, or one"
    " by one, as workers do whose jobs take long."
)
_OF_CHECKPOINTS = (
    "A graph of LangGraph whose two nodes append 200 characters each and do nothing else, ten turns a thread. A turn"
    " stores four checkpoints with what the nodes have written, and loads the newest one. Most of the time of a turn is"
    " LangGraph's own. The other lines call the checkpointer without a graph, but for a state."
    " agent_memory checks whose checkpoints a call may reach, and when they expire."
)
_COLORS = ("#d9822b", "#8a4f9e", "#2f8f5b", "#336791", "#b9485a")
_MARKERS = ("o", "D", "o", "D", "s")


def _ratio(by_system: dict[str, list[float]], system: str) -> float:
    """How many times as often this project does it: the median over the rounds, each of which is a ratio."""
    return median(ours / theirs for ours, theirs in zip(by_system[OURS], by_system[system], strict=True))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _found(results: Results, operation: str, system: str) -> str:
    """The share of the right texts, where a search found others as well."""
    share = results["recall"].get(system, {"big": 1.0})["big"]
    return f", {share:.0%} right" if operation.startswith("search") and share < 0.99 else ""


def _operations(results: Results, of: dict[str, str]) -> list[str]:
    return [operation for operation in of if operation in results["rates"]]


def _rows(results: Results, of: dict[str, str], systems: list[str]) -> list[list[str]]:
    rows = []
    for operation in _operations(results, of):
        for count, by_system in results["rates"][operation].items():
            cells = [
                _number(median(by_system[system]))
                + ("" if system == OURS else f" ({_ratio(by_system, system):.2f}){_found(results, operation, system)}")
                for system in systems
            ]
            rows.append([of[operation], count, *cells])
    return rows


def tables(results: Results) -> str:
    """The rates as Markdown tables."""
    return "\n\n".join(_tables(results).values())


def _tables(results: Results) -> dict[str, str]:
    """The table of each kind of systems that was measured."""
    measured = {}
    for kind, of in OPERATIONS.items():
        systems = results["systems"][kind]
        rows = _rows(results, of, systems)
        if kind == "memories" and results["recall"]:
            for user, what in (("big", "1,000"), ("small", "100")):
                shares = [f"{results['recall'][system][user]:.0%}" for system in systems]
                rows.append([f"of the nearest 10 texts of a user with {what}, found", "1", *shares])
        if rows:
            measured[kind] = table(["A second", "Clients", *systems], rows)
    return measured


def markdown(results: Results) -> str:
    """The results as a Markdown page."""
    options = results["options"]
    packages = ", ".join(f"{name} {version}" for name, version in results["packages"].items())
    measured = _tables(results)
    parts = [
        "# Beside other memories, queues and checkpointers",
        f"{describe(results)}; {packages}. One durable server with 512 MB of shared buffers has a database for each."
        " Each client is a process that calls its library as the library's documentation does; 1 or 4 clients call at"
        f" the same time. {options['rounds']} rounds of {options['seconds']} s in which the systems take turns. A"
        " figure is the median of calls a second; in brackets how many times as often agent_memory does it, the median"
        " of the rounds. The load average at the end was"
        f" {results['load']}: above the number of cores, ratios mean more than rates.",
        "![agent_memory beside others](peers.svg)",
        "## Memories",
        "One user has 1,000 texts, 30 have 100 and 4 have 200, each of 40 to 600 characters with an embedding of 384"
        " numbers. Searches, reads and lists are those of the user with 1,000. A search returns ten texts. One server"
        " of embeddings serves all and answers at once, so that no model's time is in the figures.",
        measured["memories"],
        "\n".join(_REMARKS),
    ]
    for kind, title, remark in (("queues", "Queues", _OF_QUEUES), ("checkpoints", "Checkpoints", _OF_CHECKPOINTS)):
        if kind in measured:
            parts += [f"## {title}", remark, measured[kind]]
    return "\n\n".join(parts) + "\n"


def chart(results: Results, path: Path) -> None:
    """How many times as often this project does each operation, as SVG."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "bench"  # the same results give the same file
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    count = str(results["options"]["clients"][0])
    panels = [(results["systems"][kind], of, _operations(results, of)) for kind, of in OPERATIONS.items()]
    figure, all_axes = pyplot.subplots(
        len(panels),
        1,
        figsize=(10, 8.4),
        sharex=True,
        layout="constrained",
        height_ratios=[max(len(operations), 1) + 1 for _, _, operations in panels],
    )
    values = [1.0]
    for axes, (systems, of, operations) in zip(all_axes, panels, strict=True):
        others = [system for system in systems if system != OURS]
        for number, system in enumerate(others):
            ratios = [_ratio(results["rates"][operation][count], system) for operation in operations]
            values += ratios
            places = [row + (number - (len(others) - 1) / 2) * 0.17 for row in range(len(operations))]
            style = {"marker": _MARKERS[number], "color": _COLORS[number], "markersize": 7, "linestyle": "none"}
            axes.plot([], [], label=f"than {system}", **style)
            for operation, ratio, place in zip(operations, ratios, places, strict=True):
                is_right = not _found(results, operation, system)
                axes.plot([ratio], [place], fillstyle="full" if is_right else "none", **style)
        axes.axvline(1, color="#222222", linewidth=1.2)
        axes.set_yticks(range(len(operations)), [of[operation] for operation in operations])
        axes.set_ylim(len(operations) - 0.5, -0.5)
        axes.set_xscale("log", base=2)
        axes.grid(axis="x", color="#e3e6ea", linewidth=0.8)
        axes.set_axisbelow(True)
        for row in range(1, len(operations)):
            axes.axhline(row - 0.5, color="#e3e6ea", linewidth=0.8)
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    least, most = min(values) / 1.3, max(values) * 1.3
    ticks = [2.0**power for power in range(-6, 11) if least <= 2.0**power <= most]
    all_axes[-1].set_xlim(least, most)
    all_axes[-1].xaxis.set_major_locator(FixedLocator(ticks))
    all_axes[-1].xaxis.set_minor_locator(NullLocator())
    all_axes[-1].xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}×"))
    all_axes[-1].set_xlabel("← slower | faster →")
    figure.suptitle(
        "How many times as fast agent_memory is, with one client (hollow: finds other texts than the nearest)"
    )
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def write(results: Results, directory: Path) -> list[Path]:
    """Writes ``<date>-peers.json``, ``peers.md`` and ``peers.svg``; returns their paths."""
    data, page, picture = (directory / name for name in (f"{results['date']}-peers.json", "peers.md", "peers.svg"))
    data.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    page.write_text(markdown(results))
    chart(results, picture)
    return [data, page, picture]
