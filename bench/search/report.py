"""The times of search as a Markdown page."""

from __future__ import annotations

from typing import Any

from bench.support.environment import describe
from bench.support.markdown import table

Results = dict[str, Any]


def markdown(results: Results) -> str:
    """The results as a Markdown page."""
    data = results["data"]
    parts = [
        "# Time of search",
        f"{describe(results)}; shared_buffers {results['shared_buffers']}, everything in memory, one "
        "connection, prepared statements, times of a client on the same machine.",
        "## Against the bare vector query",
        f"{data['users']:,} users, the first 20 of them with 1,000 memories and the others with 50: "
        f"{data['memories']:,} memories of 8 to 25 words with embeddings of 1,536 dimensions ({data['texts_mb']:,} MB "
        "with their words). Each call asks for one of the users with 1,000 memories. The functions take turns, so that "
        "other work on the machine meets all of them; the ratio is of medians. The bare query is what an application "
        "would send that keeps only embeddings: it returns ids, where search returns texts and has checked that they "
        "are current and may be seen.",
        _times(results),
    ]
    if "messages" in results:
        measured = results["messages"]
        parts += [
            "## Messages of one user",
            f"Users with this many messages of 8 to 25 words in threads of 250, and {measured['others']:,} users with "
            f"{measured['messages_of_others']} each beside them, all parsed and embedded ({measured['dimensions']} "
            "dimensions). Of a user with more than 2,000 messages a search ranks a selection "
            "(docs/search.md). Milliseconds, median and 95 %; the searches take turns.",
            _messages(results),
        ]
    if "crossover" in results:
        parts += [
            "## Exact search against an HNSW index",
            f"{results['crossover']['rows']:,} memories with embeddings of 384 dimensions: users with so many, and "
            "small ones with 50 each. The query above, exact, or with the index of memory.vector_index() (m 16, "
            "ef_construction 64, iterative scan in strict order up to 20,000 rows, as pgvector has it; built in "
            f"{results['crossover']['build_seconds']} s) and the filter on the user; and search, with and without that "
            "index. Medians in milliseconds, not prepared and without parallel workers, in turns; in brackets recall, "
            "the share of the exact first 10 that is found. Vectors are made up, in a hundred clusters.",
            _crossover(results),
        ]
    return "\n\n".join(parts) + "\n"


def tables(results: Results) -> str:
    """The figures alone."""
    parts = [_times(results)]
    parts += [_messages(results)] if "messages" in results else []
    parts += [_crossover(results)] if "crossover" in results else []
    return "\n\n".join(parts)


def _times(results: Results) -> str:
    return table(
        ["Milliseconds", "Median", "95 %", "Ratio to bare"],
        [
            [name, f"{each['p50']:.2f}", f"{each['p95']:.2f}", f"{each['ratio']:.2f}"]
            for name, each in results["milliseconds"].items()
        ],
    )


def _messages(results: Results) -> str:
    users = results["messages"]["users"]
    return table(
        ["Milliseconds", *(f"{user['messages']:,} messages" for user in users)],
        [
            [name, *(f"{each['p50']:.1f} / {each['p95']:.1f}" for each in (u["milliseconds"][name] for u in users))]
            for name in users[0]["milliseconds"]
        ],
    )


def _crossover(results: Results) -> str:
    users = results["crossover"]["users"]
    return table(
        ["Memories of the user", *users[0]["variants"]],
        [
            [
                f"{user['rows']:,}",
                *(
                    f"{each['ms']:.1f}" + (f" ({each['recall']:.2f})" if "recall" in each else "")
                    for each in user["variants"].values()
                ),
            ]
            for user in users
        ],
    )
