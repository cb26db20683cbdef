"""Jobs, failures, and costs by model."""

from __future__ import annotations

from typing import Any

from psycopg import AsyncConnection
from starlette.responses import RedirectResponse, Response

from ..server.nodes import added, ask_nodes
from .database import Database, Row
from .rendering import address
from .view import Visit

_QUEUE = "select * from memory.queue_stats"
_NO_SUMS = {"oldest": min, "next_run_after": min, "most_attempts": max}
_STUCK = "select * from memory.stuck_jobs limit 50"
_DEAD = "select *, count(*) over () as total_count from memory.dead_jobs limit 50"
_STORMS = "select * from memory.retry_storms limit 50"
_COSTS = """
select model, sum(calls)::bigint as calls, sum(failed_calls)::bigint as failed_calls,
  sum(tokens_in)::bigint as tokens_in, sum(tokens_out)::bigint as tokens_out, sum(price) as price
from memory.model_usage
where day > (now() at time zone 'UTC')::date - %(days)s
group by model order by model
"""
_DAYS = 30


async def show_work(visit: Visit) -> Response:
    """Show the queue, failed jobs, and the costs of models' calls."""

    async def read(connection: AsyncConnection[Any]) -> dict[str, list[Row]]:
        database = Database(connection)
        return {
            "costs": await database.rows(_COSTS, days=_DAYS),
            "queue": await database.rows(_QUEUE),
            "stuck": await database.rows(_STUCK),
            "dead": await database.rows(_DEAD),
            "storms": await database.rows(_STORMS),
        }

    # The status names the nodes that do not answer.
    answers, missing = await ask_nodes(visit.memory.caller, read)
    if not answers:
        raise next(iter(missing.values()))

    def together(name: str) -> list[Row]:
        return [row for answer in answers.values() for row in answer[name]]

    total = sum(answer["dead"][0]["total_count"] for answer in answers.values() if answer["dead"])
    return visit.shown(
        "work.html",
        status=await visit.memory.admin.status(),
        queue=added(together("queue"), ("kind", "status"), _NO_SUMS),
        stuck=together("stuck"),
        dead=[row | {"total_count": total} for row in together("dead")],
        storms=together("storms"),
        costs=added(together("costs"), ("model",)),
        days=_DAYS,
    )


async def change_job(visit: Visit) -> Response:
    """Give a dead job another chance."""
    job_id = visit.asked.number("job", 1)
    await visit.memory.retry_job(visit.asked.needed("of"), job_id or 0)
    return RedirectResponse(address("work"), 303)
