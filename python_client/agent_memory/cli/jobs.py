"""The commands that show queued model work and try failed work again."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer
from psycopg.rows import dict_row

from .._text import counted
from ..client import Memory
from ..errors import AgentMemoryError, InvalidValueError
from .console import Dsn, Group, User, connected, opened
from .printing import AsJson, Limit, Offset, moment, one_line, print_entry, print_json, print_line, print_page

jobs = typer.Typer(cls=Group, help="List model work, show a job with its result, and try failed work again.")

Status = Literal["pending", "running", "dead", "completed"]
JobId = Annotated[int, typer.Argument(metavar="JOB", show_default=False, help="The number of the job.")]
Kind = Annotated[str | None, typer.Option(help="Only this kind.", show_default="all")]
OfUser = Annotated[str | None, typer.Option("--user", "--user-id", help="Only of this user.", show_default="all")]

_JOBS = """
select user_id, job_id, kind, scope as thread_id, status, attempts, run_after, created_at, finished_at, error,
  count(*) over () as total_count
from memory.jobs
where status = any (%(statuses)s) and (user_id = %(user_id)s) is not false and (kind = %(kind)s) is not false
order by status = 'dead' desc, job_id desc
limit %(limit)s offset %(offset)s
"""


@jobs.command("list")
def list_(
    status: Annotated[
        Status | None, typer.Option(help="Only of this status.", show_default="all but completed")
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only jobs that failed in all attempts (status dead).")
    ] = False,
    user: OfUser = None,
    kind: Kind = None,
    limit: Limit = None,
    offset: Offset = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """List jobs, failed ones first, then the newest."""
    wanted = "dead" if failed else status
    statuses = ["pending", "running", "dead"] if wanted is None else [wanted]
    with connected(dsn) as connection, connection.cursor(row_factory=dict_row) as cursor:
        values = {"statuses": statuses, "user_id": user, "kind": kind, "limit": limit or 50, "offset": offset or 0}
        found = cursor.execute(_JOBS, values).fetchall()
    print_page(
        "jobs",
        ("job", "user", "work", "status", "tries", "created", "error"),
        found,
        _cells,
        offset,
        as_json,
        right=("tries",),
    )


@jobs.command()
def show(user_id: User, job_id: JobId, as_json: AsJson = False, dsn: Dsn = None) -> None:
    """Show a job with its result or its error."""
    with opened(dsn) as memory:
        job = memory.get_job(user_id, job_id)
    if as_json:
        print_json(job)
        return
    tries = counted(job.attempts, "attempt")
    print_entry(f"{job.job_id} · {job.kind} · {job.status} · {tries} · {moment(job.created_at)}", job.error or "")
    if job.result is not None:
        print_json(job.result)


@jobs.command()
def retry(
    user_id: Annotated[
        str | None, typer.Argument(metavar="USER", show_default=False, help="The id of the user.")
    ] = None,
    job_id: Annotated[
        int | None, typer.Argument(metavar="JOB", show_default=False, help="The number of the job.")
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="All that failed, of USER or of all users.")] = False,
    kind: Kind = None,
    dsn: Dsn = None,
) -> None:
    """Queue a failed job again with all its attempts, or make a waiting one due at once."""
    if (job_id is None) != failed or (job_id is not None and kind is not None):
        raise InvalidValueError(
            "jobs retry takes one job, or --failed",
            hint="Run: agent-memory jobs retry USER JOB, or: agent-memory jobs retry --failed --kind embed",
        )
    with connected(dsn) as connection:
        memory = Memory(connection)
        if job_id is not None:
            memory.retry_job(user_id or "", job_id)
            print_line(f"Job {job_id} is due.")
            return
        query = (
            "select user_id, job_id from memory.dead_jobs"
            " where (user_id = %s) is not false and (kind = %s) is not false"
        )
        queued = 0
        for dead_user, dead_job in connection.execute(query, [user_id, kind]).fetchall():
            try:
                memory.retry_job(dead_user, dead_job)
            except AgentMemoryError as error:  # noqa: PERF203
                print_line(f"Job {dead_job} of {dead_user} stays as it is: {error.message}")
            else:
                queued += 1
    print_line(f"{counted(queued, 'job')} queued again.")


def _cells(row: dict[str, Any]) -> tuple[object, ...]:
    error = one_line(row["error"] or "")
    cut = error if len(error) <= 60 else f"{error[:59]}…"
    return (
        row["job_id"],
        row["user_id"],
        f"{row['kind']} {row['thread_id']}",
        row["status"],
        row["attempts"],
        f"{row['created_at']:%m-%d %H:%M}",
        cut,
    )
