"""The commands that show queued model work and try failed work again."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from .._text import counted
from ..errors import AgentMemoryError, InvalidValueError
from .console import Dsn, Group, User, connected_to_nodes, opened
from .printing import AsJson, Limit, Offset, moment, one_line, print_entry, print_json, print_line, print_page

jobs = typer.Typer(cls=Group, help="List model work, show a job with its result, and try failed work again.")

Status = Literal["pending", "running", "dead", "completed"]
JobId = Annotated[int, typer.Argument(metavar="JOB", help="The number of the job.")]
Kind = Annotated[str | None, typer.Option(help="Only this kind.")]
OfUser = Annotated[str | None, typer.Option("--user", "--user-id", help="Only of this user.")]

_JOBS = """
select user_id, job_id, kind, scope as thread_id, status, attempts, run_after, created_at, finished_at, error,
  count(*) over () as total_count, memory._cluster_map() ->> 'node' as node
from memory.jobs
where status = any (%(statuses)s) and (user_id = %(user_id)s) is not false and (kind = %(kind)s) is not false
order by status = 'dead' desc, job_id desc
limit %(most)s
"""

_DEAD = """
select user_id, job_id from memory.dead_jobs
where (user_id = %(user_id)s) is not false and (kind = %(kind)s) is not false
"""


@jobs.command("list")
def list_(
    status: Annotated[
        Status | None, typer.Option(help="Only of this status.", show_default="all but completed")
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="The same as --status dead.")] = False,
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
    first, most = offset or 0, limit or 50
    with connected_to_nodes(dsn) as connections:
        values = {"statuses": statuses, "user_id": user, "kind": kind, "most": first + most}
        by_node = connections.rows(_JOBS, values, user)
    # Each node has sent its first rows, which say how many there are on the node.
    total = sum({row["node"]: row["total_count"] for row in by_node}.values())
    by_node.sort(key=lambda row: (row["status"] == "dead", row["job_id"]), reverse=True)
    found = [
        {**{name: value for name, value in row.items() if name != "node"}, "total_count": total}
        for row in by_node[first : first + most]
    ]
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
    user_id: Annotated[str | None, typer.Argument(metavar="USER", help="The id of the user.")] = None,
    job_id: Annotated[int | None, typer.Argument(metavar="JOB", help="The number of the job.")] = None,
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
    with connected_to_nodes(dsn) as connections:
        memory = connections.memory
        if job_id is not None:
            memory.retry_job(user_id or "", job_id)
            print_line(f"Job {job_id} is due.")
            return
        queued = 0
        for dead in connections.rows(_DEAD, {"user_id": user_id, "kind": kind}, user_id):
            try:
                memory.retry_job(dead["user_id"], dead["job_id"])
            except AgentMemoryError as error:  # noqa: PERF203
                print_line(f"Job {dead['job_id']} of {dead['user_id']} stays as it is: {error.message}")
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
