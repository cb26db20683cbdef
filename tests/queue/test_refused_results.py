"""Results of jobs that are refused or dropped."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb

from tests.support.jobs import ANA, FACT, SUMMARY, claim, queued, summary_only
from tests.support.protocol import lease
from tests.support.sqlapi import Api, refused, result_of


@pytest.mark.feature("F6")
def test_a_result_that_is_no_extraction_is_refused(api: Api) -> None:
    queued(api)
    job = claim(api)
    before = api.state()
    results: list[Any] = [
        None,
        Jsonb(None),
        Jsonb([]),
        Jsonb("text"),
        {},
        {"memories": None},
        {"memories": {}},
        SUMMARY,
    ]
    for result in results:
        with refused("result"):
            api.complete_job(**lease(job), result=result)
    assert api.state() == before


BAD_SUMMARIES: list[dict[str, Any]] = [
    {},
    {"summary": " \n"},
    {"summary": ["They talked."]},
    {"summary": "x" * 2_000_000},
    {**SUMMARY, "metadata": []},
    {**SUMMARY, "metadata": {"x": "y" * 2_000_000}},
    {**SUMMARY, "generation_time_ms": "12"},
    {**SUMMARY, "generation_time_ms": -1},
    {**SUMMARY, "generation_time_ms": 10**400},
]


@pytest.mark.feature("F6")
def test_a_bad_summary_is_refused_whole(api: Api) -> None:
    summary_only(api)
    api.talk(**ANA, rounds=3)
    job = claim(api)
    before = api.state()
    for result in BAD_SUMMARIES:
        with refused("result"):
            api.complete_job(**lease(job), result=result)
    assert api.state() == before


@pytest.mark.feature("F6")
def test_unknown_fields_of_a_result_have_no_effect(api: Api) -> None:
    queued(api)
    extra = {
        "user_id": "bob",
        "memory_id": str(uuid4()),
        "superseded_by": str(uuid4()),
        "source": "user",
        "agent_id": "admin",
    }
    api.complete_job(**lease(claim(api)), result={"memories": [{**FACT, **extra}], "status": "dead", "delete": ["ana"]})
    assert api.query("select user_id, agent_id, source from memory.memories") == [("ana", "default", "extraction")]


@pytest.mark.feature("F6", "D11")
@pytest.mark.parametrize(
    ("kind", "function"), [("extract_memories", "delete_thread"), ("summarize_thread", "clear_thread")]
)
def test_a_result_about_messages_that_are_gone_is_dropped(api: Api, kind: str, function: str) -> None:
    api.talk(**ANA, rounds=3)
    getattr(api, kind)(**ANA)
    job = claim(api, kinds=[kind])
    getattr(api, function)(**ANA)
    with refused("lease_token", "AM001"):
        api.complete_job(**lease(job), result=result_of(job, memory="Likes tea"))
    left = "select from memory.memories union all select from memory.summaries union all select from memory.jobs"
    assert api.query(left) == []
