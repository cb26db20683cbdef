"""What the tests of the job protocol do again and again: queue, claim, and append messages."""

from __future__ import annotations

from typing import Any

from tests.support.protocol import lease
from tests.support.sqlapi import Api

ANA = {"user_id": "ana", "thread_id": "t1"}
FACT = {"content": "Likes tea", "memory_type": "fact", "seqs": [0]}
SUMMARY = {"summary": "They talked."}


def queued(api: Api, messages: int = 1) -> int:
    """Ask for an extraction in a thread with so many messages of the user; the job's id."""
    api.add_messages(**ANA, messages=[{"role": "user", "content": f"message {n}"} for n in range(messages)])
    job_id: int = api.extract_memories(**ANA)
    return job_id


def claim(api: Api, **arguments: Any) -> Any:
    """The one job there is to do."""
    [job] = api.claim_jobs(**{"worker": "test", **arguments})
    return job


def claim_and_die(api: Api, **arguments: Any) -> Any:
    """A claim whose lease has run out already."""
    return claim(api, lease="1 microsecond", **arguments)


def status(api: Api, job: Any) -> str:
    result: str = api.get_job(user_id="ana", job_id=job if isinstance(job, int) else job.job_id).status
    return result


def say(api: Api, *roles: str, **metadata: Any) -> int:
    """Append a message for each role, one at a time; the last seq."""
    for role in roles:
        seq: int = api.add_message(**ANA, role=role, content=f"{role} speaks", metadata=metadata).seq
    return seq


def settings(api: Api, **sections: dict[str, Any]) -> None:
    api.set_policy(settings=sections)


def summary_only(api: Api) -> None:
    settings(api, cadence={"fact_extraction_every_n": 0}, summary={"when": "each_round"})


def kill(api: Api) -> int:
    """A dead extraction job."""
    job_id = queued(api)
    api.connection.execute("update memory.jobs set attempts = 4")
    assert api.fail_job(**lease(claim(api)), error="hopeless") == "dead"
    return job_id
