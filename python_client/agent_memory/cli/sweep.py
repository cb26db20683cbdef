"""The command that tidies up, for cron and its like where there is no pg_cron."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from ..client import Memory
from ..errors import NotConnectedError
from .console import Dsn, connected_to_nodes
from .printing import AsJson, print_json, print_table

_ROUNDS = 100
"""Rounds of one run. While users write, each round may find something, so that a run would never end."""


def sweep(
    batch_size: Annotated[int, typer.Option(min=1, help="Rows of each kind in one round, a transaction.")] = 10_000,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Remove expired and deleted rows, and queue due jobs, until nothing is left; for a nightly run."""
    counts: Counter[str] = Counter()
    missing: dict[str, NotConnectedError] = {}
    with connected_to_nodes(dsn) as connections:
        for connection in connections.nodes.all(missing):
            for _ in range(_ROUNDS):
                found = Memory(connection).admin.sweep(batch_size)
                counts.update(found)
                if not any(found.values()):
                    break
    if as_json:
        print_json(counts)
    else:
        print_table(("", "rows"), counts.items(), right=("rows",))
    for error in missing.values():
        raise error
