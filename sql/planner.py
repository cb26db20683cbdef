"""The planner's settings, which the build writes to the functions that others than our own functions call."""

from __future__ import annotations

from pathlib import Path

import house

# What every such function has (tests/lint/lint_sql.py).
PINNED = "set search_path = pg_catalog, pg_temp\n"


def with_settings(path: Path, text: str) -> str:
    """The SQL of a file of the rooms with the planner's settings on its public functions, and on those of triggers.

    They hold for all that such a function calls. A session keeps the plan of its first call, which may have been made
    while a table was empty: without them it would read the whole table for ever, or all rows of a user and sort them.
    Only functions of administrators mean to read whole tables, and those that move and erase users read all rows of a
    user, which bitmaps find. A plan that cannot avoid a disabled node looks so dear that PostgreSQL would compile it,
    for a second, and start workers.
    """
    room = house.room_of(path)
    settings = ["jit = off"]
    if room not in ("05_audit", "80_operate", "82_cluster"):
        settings += ["enable_seqscan = off", "max_parallel_workers_per_gather = 0"]
        if room != "75_erasure":
            settings.append("enable_bitmapscan = off")
    return text.replace(PINNED, PINNED + "".join(f"set {setting}\n" for setting in settings))
