"""What the tests of the ledger do again and again: ask, claim, and read entries."""

from __future__ import annotations

from typing import Any

from tests.support.protocol import ANA, claim, say
from tests.support.sqlapi import Api

CALL = {"tokens_in": 800, "tokens_out": 50, "duration_ms": 950, "error": None, "prompt_version": 1}
HUNDRED_TOKENS = "x" * 400


def asked(api: Api, content: str = HUNDRED_TOKENS, **where: Any) -> int:
    """Ask for an extraction of one new message; the job's id."""
    say(api, content, **where)
    thread = {key: value for key, value in {**ANA, **where}.items() if key in ANA}
    job_id: int = api.extract_memories(**thread)
    return job_id


def claimed(api: Api, **where: Any) -> Any:
    asked(api, **where)
    return claim(api, "extract_memories")


def ledger(api: Api, columns: str = "kind, model, tokens_in, tokens_out, error") -> set[Any]:
    return set(api.query(f"select {columns} from memory.model_calls"))


def entries(api: Api) -> int:
    count: int = api.value("select count(*) from memory.model_calls")
    return count


def status(api: Api, job_id: int, user_id: str = "ana") -> tuple[str, int, str | None]:
    job = api.get_job(user_id=user_id, job_id=job_id)
    return job.status, job.attempts, job.error


ENDINGS: dict[str, dict[str, Any]] = {
    "complete_job": {"result": {"memories": [{"content": "Likes tea", "memory_type": "fact", "seqs": [0]}]}},
    "fail_job": {"error": "no reply"},
    "release_job": {},
}


def doctor(api: Api, check_name: str) -> bool:
    [ok] = [row.ok for row in api.doctor() if row.check_name == check_name]
    return bool(ok)


def used(api: Api, tokens: int, user_id: str = "ana", error: str | None = None) -> None:
    """Put a call of so many tokens into the ledger, half of them of the reply."""
    api.connection.execute(
        "insert into memory.model_calls (user_id, call_id, kind, model, tokens_in, tokens_out, error, called_at) "
        "values (%s, gen_random_uuid(), 'search', 'gpt', %s, %s, %s, clock_timestamp())",
        [user_id, tokens - tokens // 2, tokens // 2, error],
    )
