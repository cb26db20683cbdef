"""The results as a Markdown page."""

from __future__ import annotations

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
    " LangGraph's own."
    " agent_memory checks whose checkpoints a call may reach, and when they expire."
)


def tables(results: Results) -> str:
    """The rates as Markdown tables."""
    return "\n\n".join(_tables(results).values())


def _tables(results: Results) -> dict[str, str]:
    """The table of each kind of systems that was measured."""
    measured = {}
    for kind, operations in OPERATIONS.items():
        systems = results["systems"][kind]
        rows = [
            [told, count, *(_cell(results, operation, by_system, system) for system in systems)]
            for operation, told in operations.items()
            if operation in results["rates"]
            for count, by_system in results["rates"][operation].items()
        ]
        if kind == "memories" and results["recall"]:
            for user, what in (("big", "1,000"), ("small", "100")):
                shares = [f"{results['recall'][system][user]:.0%}" for system in systems]
                rows.append([f"of the nearest 10 texts of a user with {what}, found", "1", *shares])
        if rows:
            measured[kind] = table(["A second", "Clients", *systems], rows)
    return measured


def _cell(results: Results, operation: str, by_system: dict[str, list[float]], system: str) -> str:
    """The rate; of others, how many times as often this project does it, and the share of right texts of a search.

    The ratio is the median over the rounds, each of which is a ratio.
    """
    rates = by_system[system]
    rate = f"{median(rates):,.0f}" if median(rates) >= 100 else f"{median(rates):.1f}"
    if system == OURS:
        return rate
    ratio = median(ours / theirs for ours, theirs in zip(by_system[OURS], rates, strict=True))
    share = results["recall"].get(system, {"big": 1.0})["big"]
    found = f", {share:.0%} right" if operation.startswith("search") and share < 0.99 else ""
    return f"{rate} ({ratio:.2f}){found}"


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
        " of the rounds. Where the load average is above the number of cores, ratios mean more than rates.",
        "## Memories",
        "One user has 1,000 texts, 30 have 100 and 4 have 200, each of 40 to 600 characters with an embedding of 384"
        " numbers. Searches, reads and lists are those of the user with 1,000. A search returns ten texts. One server"
        " of embeddings serves all and answers at once, so that no model's time is in the figures.",
        measured["memories"],
        "\n".join(_REMARKS),
    ]
    for kind, remark in (("queues", _OF_QUEUES), ("checkpoints", _OF_CHECKPOINTS)):
        parts += [f"## {kind.capitalize()}", remark, measured[kind]]
    return "\n\n".join(parts) + "\n"
