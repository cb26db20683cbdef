"""A worker's side of the job protocol in short, for the tests of what jobs derive."""

from __future__ import annotations

from typing import Any

from tests.support.sqlapi import Api

ANA = {"user_id": "ana", "thread_id": "t1"}
SAID_AT = "2024-05-01T10:00:00+00:00"


def claim(api: Api, *kinds: str, **arguments: Any) -> Any:
    """The one job of these kinds that there is to do."""
    [job] = api.claim_jobs(**{"worker": "test", "kinds": list(kinds) or None, "max_jobs": 100, **arguments})
    return job


def nothing_to_do(api: Api, *kinds: str) -> bool:
    return not api.claim_jobs(worker="test", kinds=list(kinds) or None)


def lease(job: Any) -> dict[str, Any]:
    return {"user_id": job.user_id, "job_id": job.job_id, "lease_token": job.lease_token}


def complete(api: Api, job: Any, calls: list[dict[str, Any]] | None = None, **result: Any) -> dict[str, Any]:
    """Hand in a result; what get_job says of it then."""
    api.complete_job(**lease(job), result=result, **({} if calls is None else {"calls": calls}))
    outcome: dict[str, Any] = api.get_job(user_id=job.user_id, job_id=job.job_id).result
    return outcome


def open_jobs(api: Api) -> list[str]:
    rows = api.query("select kind from memory.jobs where status in ('pending', 'running') order by kind, scope")
    return [row.kind for row in rows]


def make_due(api: Api) -> None:
    """Let the delays of all waiting jobs pass."""
    api.connection.execute("update memory.jobs set run_after = now() where status = 'pending'")


def say(api: Api, *contents: str, role: str = "user", **arguments: Any) -> list[int]:
    """Append a message for each content; their seqs."""
    return [api.add_message(**{**ANA, "role": role, "content": content, **arguments}).seq for content in contents]


def activate(api: Api, name: str = "gpt", kind: str = "chat", **settings: Any) -> None:
    """Have jobs use a model of a provider, which these tests never call."""
    api.register_model(name=name, kind=kind, provider="openai", model=f"{name}-1", settings=settings)
    api.activate_model(name=name)


def age(api: Api, days: int, table: str = "memories", column: str = "created_at") -> None:
    """Make all rows of a table so many days older."""
    api.connection.execute(f"update memory.{table} set {column} = {column} - interval '{days} days'")
