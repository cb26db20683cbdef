"""Values of every argument that could use up the server: each is refused, or answered in a moment."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from tests.attacks.conftest import CONTRACT, Argument
from tests.support.sqlapi import Api
from tests.values.bad_arguments import NEED_PGCRYPTO, VALID
from tests.values.valid_calls import has_pgcrypto

KIB = 1024
TEXTS = {
    "long": "a " * (256 * KIB),
    "one_word": "a" * (512 * KIB),
    "brackets": "([{<" * (64 * KIB),
    "chinese": "记忆" * (64 * KIB),
    "lines": "\n" * (256 * KIB),
}
EXTREMES: dict[str, list[str]] = {
    "integer": ["2147483647", "-2147483648"],
    "bigint": ["9223372036854775807", "-9223372036854775808"],
    "double precision": ["3.4e38", "-3.4e38", "NaN", "Infinity", "-Infinity", "1e-45"],
    "interval": ["178000000 years", "-178000000 years", "1 microsecond", "2147483647 days"],
    "timestamp with time zone": ["infinity", "-infinity", "294276-12-31", "4713-01-01 BC"],
    "vector": [json.dumps([1e38] * 3), json.dumps([0] * 3), json.dumps([1] * 16000)],
    "uuid": ["ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "jsonb": [
        '{"a":' * 5000 + "1" + "}" * 5000,
        json.dumps({f"k{number}": number for number in range(50_000)}),
        json.dumps([{"role": "user", "content": "x"}] * 2_000),
        "1e131000",
        json.dumps("x" * (512 * KIB)),
    ],
    "text[]": ["{" + ",".join(f"t{number}" for number in range(100_000)) + "}", "{{a},{b}}", "[5:6]={a,b}"],
}
SECONDS = 2.0


@pytest.mark.feature("F20")
@pytest.mark.parametrize(
    ("kind", "is_part"),
    [
        *((kind, False) for kind in EXTREMES),
        *((kind, True) for kind in TEXTS),
        *(pytest.param(kind, False, marks=pytest.mark.nightly) for kind in TEXTS),
    ],
)
def test_no_value_keeps_the_server_busy(api: Api, arguments: list[Argument], kind: str, is_part: bool) -> None:
    """By day each argument gets two of the five texts, so that each of the texts goes to all kinds of functions."""
    values: list[Any] = EXTREMES.get(kind) or [TEXTS[kind]]
    slow, strange = {}, {}
    tried = 0
    for place, argument in enumerate(a for a in arguments if a.type == ("text" if kind in TEXTS else kind)):
        if is_part and (place - [*TEXTS].index(kind)) % len(TEXTS) > 1:
            continue
        if argument.function in NEED_PGCRYPTO and not has_pgcrypto(api):
            continue
        for value in values:
            tried += 1
            where = f"{argument.function}({argument.name} => {value[:30]}…)"
            before = api.cpu_seconds()
            try:
                with api.connection.transaction(force_rollback=True):
                    api.query("select set_config('statement_timeout', '20s', true)")
                    getattr(api, argument.function)(**{**VALID[argument.function], argument.name: value})
            except psycopg.Error as error:
                if error.sqlstate not in CONTRACT:
                    strange[where] = f"{error.sqlstate} {error.diag.message_primary}"
            if (used := api.cpu_seconds() - before) > SECONDS:
                slow[where] = round(used, 1)
    assert (slow, strange) == ({}, {})
    assert tried > 0


@pytest.mark.feature("F20")
def test_jobs_read_a_message_whose_calls_are_nested_thousands_deep(api: Api) -> None:
    depth = 5000
    calls = '{"tool_calls":[' + '{"a":' * depth + '"tea"' + "}" * depth + "]}"
    thread = {"user_id": "bob", "thread_id": "t1"}
    api.add_message(**thread, role="user", content="Make tea")
    api.add_message(**thread, role="assistant", content="Here you are", metadata=calls)
    api.extract_memories(**thread)
    [job] = [job for job in api.claim_jobs(worker="w", kinds=["extract_memories"]) if job.user_id == "bob"]
    assert [message["content"] for message in job.payload["messages"]] == ["Make tea", "Here you are"]
    result = '{"memories": [], "said":' + '{"a":' * depth + "1" + "}" * depth + "}"
    api.complete_job(user_id="bob", job_id=job.job_id, lease_token=job.lease_token, result=result)
    assert api.get_job(user_id="bob", job_id=job.job_id).status == "completed"
