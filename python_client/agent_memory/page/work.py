"""Jobs, failures, and costs by day and model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
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
select day, model, sum(calls)::bigint as calls, sum(failed_calls)::bigint as failed_calls,
  sum(tokens_in)::bigint as tokens_in, sum(tokens_out)::bigint as tokens_out, sum(price) as price
from memory.model_usage
where day > (now() at time zone 'UTC')::date - %(days)s
group by day, model order by day, model
"""
_FIGURES = ("calls", "failed_calls", "tokens_in", "tokens_out", "price")
_DAYS = 30
_COLOURS = 6


@dataclass(frozen=True)
class Piece:
    """A piece of a column of a chart, in hundredths of its height."""

    colour: int
    top: float
    height: float
    title: str


@dataclass(frozen=True)
class Column:
    """A day of a chart."""

    day: date
    pieces: list[Piece]


@dataclass(frozen=True)
class Chart:
    """A figure by day and model."""

    name: str
    most: float
    columns: list[Column]


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
    found = {name: [row for answer in answers.values() for row in answer[name]] for name in ("stuck", "storms")}
    costs = added((row for answer in answers.values() for row in answer["costs"]), ("day", "model"))
    costs.sort(key=lambda row: (row["day"], row["model"]))
    dead = [row for answer in answers.values() for row in answer["dead"]]
    total = sum(answer["dead"][0]["total_count"] for answer in answers.values() if answer["dead"])
    models = sorted({row["model"] for row in costs})
    return visit.shown(
        "work.html",
        status=await visit.memory.admin.status(),
        queue=added((row for answer in answers.values() for row in answer["queue"]), ("kind", "status"), _NO_SUMS),
        stuck=found["stuck"],
        dead=[row | {"total_count": total} for row in dead],
        storms=found["storms"],
        totals=_totals(costs, models),
        days=_DAYS,
        colours=_COLOURS,
        charts=[
            _chart("Calls", "calls", costs, models),
            _chart("Failed calls", "failed_calls", costs, models),
            _chart("Tokens read", "tokens_in", costs, models),
            _chart("Tokens written", "tokens_out", costs, models),
            _chart("Price", "price", costs, models),
        ],
    )


async def change_job(visit: Visit) -> Response:
    """Give a dead job another chance."""
    job_id = visit.asked.number("job", 1)
    await visit.memory.retry_job(visit.asked.needed("of"), job_id or 0)
    return RedirectResponse(address("work"), 303)


def _totals(costs: list[Row], models: list[str]) -> list[Row]:
    """Return one row for each model, over all days."""
    return [
        {"model": model} | {name: sum(row[name] or 0 for row in costs if row["model"] == model) for name in _FIGURES}
        for model in models
    ]


def _chart(name: str, figure: str, costs: list[Row], models: list[str]) -> Chart:
    """Return the columns of the last days, with a piece for each model."""
    by_day: dict[date, list[tuple[str, float]]] = {}
    for row in costs:
        if row[figure]:
            by_day.setdefault(row["day"], []).append((row["model"], float(row[figure])))
    most = max((sum(value for _, value in values) for values in by_day.values()), default=0.0)
    last = max((row["day"] for row in costs), default=date.today())
    columns = []
    for back in range(_DAYS - 1, -1, -1):
        day, top, pieces = last - timedelta(days=back), 100.0, []
        for model, value in by_day.get(day, []):
            height = 100 * value / most
            top -= height
            colour = models.index(model) % _COLOURS
            pieces.append(Piece(colour, round(top, 2), round(height, 2), f"{day} {model}: {value:,.6g}"))
        columns.append(Column(day, pieces))
    return Chart(name, most, columns)
