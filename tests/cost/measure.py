"""What a call reads, counted by the server and not by a clock: rows with index entries, and pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from tests.cost.world import EMBEDDING
from tests.support.sqlapi import Api, result_of

ENTRIES = """
select sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid))::bigint
from pg_class where relnamespace = 'memory'::regnamespace and relkind in ('r', 'i')
"""
SLOW = 0.2
"""Seconds of CPU, after which a call is not made a second time: what it reads besides is a small part of it."""


@dataclass(frozen=True)
class Reading:
    """Rows and index entries of our tables, and pages, those of catalogs included."""

    rows: int
    pages: int

    def __str__(self) -> str:
        return f"{self.rows} rows in {self.pages} pages"

    def exceeds(self, before: Reading, growth: int | None = None) -> bool:
        """Whether this is more than another reading, or than that of data that has grown so many times.

        Calls that were undone leave dead entries in indexes, and a deeper index takes one page more for each row.
        """
        rows, pages = 1.25 * before.rows + 500, 2 * before.pages + 100
        factor = 1.5 * growth if growth else 1
        return self.rows > factor * rows or self.pages > factor * pages


Measured = dict[str, Reading]
Measure = Callable[[], Measured]


def read_by(
    connection: psycopg.Connection, function: str, arguments: dict[str, Any], into: str | None = None
) -> Reading:
    """Call a function within the present transaction, and keep its rows in a temporary table if ``into`` names one.

    The pages of a statement include those of the statements within the functions that it calls.
    """
    named = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(name), sql.Literal(_literal(value)))
        for name, value in arguments.items()
    )
    explain = sql.SQL("explain (analyze, buffers, timing off, format json) {}select * from memory.{}({})").format(
        sql.SQL("create temporary table {} as ").format(sql.Identifier(into)) if into else sql.SQL(""),
        sql.Identifier(function),
        named,
    )
    [before] = connection.execute(ENTRIES).fetchall()
    [[[explained]]] = connection.execute(explain).fetchall()
    [after] = connection.execute(ENTRIES).fetchall()
    plan = explained["Plan"]
    return Reading(after[0] - before[0], plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def _literal(value: Any) -> Any:
    if isinstance(value, dict) or (
        isinstance(value, list) and not all(isinstance(item, (str, UUID)) for item in value)
    ):
        return Jsonb(value)
    if isinstance(value, list):
        return [str(item) for item in value]
    return str(value) if isinstance(value, (bool, int, float)) else value


def call(api: Api, function: str, arguments: dict[str, Any]) -> Measured:
    """What one call reads."""
    return {"": read_by(api.connection, function, arguments)}


def job(api: Api, kind: str, scope: str) -> Measured:
    """What it takes to claim a job of this kind, and to complete it with a result that a model could give."""
    api.connection.execute("delete from memory.jobs where user_id = 'ana' and status in ('pending', 'running')")
    api.connection.execute("select memory._enqueue('ana', %s, %s, '{\"is_forced\": true}')", [kind, scope])
    claimed = read_by(api.connection, "claim_jobs", {"worker": "w", "kinds": [kind]}, into="claimed")
    [job] = api.query("select * from claimed")
    result = result_of(job, memory="Likes coffee")
    if "embeddings" in result:
        result = {"embeddings": [EMBEDDING for _ in result["embeddings"]]}
    elif kind == "describe_artifact":
        result = {"description": "About tea"}
    lease = {"user_id": job.user_id, "job_id": job.job_id, "lease_token": job.lease_token}
    return {"claim": claimed, "complete": read_by(api.connection, "complete_job", {**lease, "result": result})}


def least(api: Api, measure: Measure) -> Measured:
    """The least that is read in two turns, each undone: the first one also reads catalogs, and makes plans."""
    turns: list[Measured] = []
    for _ in range(2):
        before = api.cpu_seconds()
        with api.connection.transaction(force_rollback=True):
            turns.append(measure())
        if api.cpu_seconds() - before > SLOW:
            break
    return {part: _least(turn[part] for turn in turns) for part in turns[0]}


def _least(readings: Iterable[Reading]) -> Reading:
    readings = list(readings)
    return Reading(min(reading.rows for reading in readings), min(reading.pages for reading in readings))
