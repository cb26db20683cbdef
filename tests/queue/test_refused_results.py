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
@pytest.mark.parametrize(
    "result",
    [
        None,
        Jsonb(None),
        [],
        "text",
        {},
        {"memories": None},
        {"memories": {}},
        {"memories": "Likes tea"},
        {"facts": [FACT]},
        SUMMARY,
    ],
    ids=str,
)
def test_a_result_that_is_no_extraction_is_refused(api: Api, result: Any) -> None:
    queued(api)
    job = claim(api)
    before = api.state()
    with refused("result"):
        api.complete_job(
            **lease(job),
            result=result if result is None else Jsonb(result) if not isinstance(result, Jsonb) else result,
        )
    assert api.state() == before


@pytest.mark.feature("F6")
@pytest.mark.parametrize(
    "result",
    [
        {},
        {"summary": None},
        {"summary": ""},
        {"summary": " \n"},
        {"summary": 5},
        {"summary": ["They talked."]},
        {"summary": "x" * 10_000_000},
        {**SUMMARY, "metadata": []},
        {**SUMMARY, "metadata": None},
        {**SUMMARY, "metadata": {"x": "y" * 10_000_000}},
        {**SUMMARY, "generation_time_ms": "12"},
        {**SUMMARY, "generation_time_ms": [12]},
        {**SUMMARY, "generation_time_ms": -1},
        {**SUMMARY, "generation_time_ms": 10**400},
    ],
    ids=lambda result: str(result)[:50],
)
def test_a_bad_summary_is_refused_whole(api: Api, result: dict[str, Any]) -> None:
    summary_only(api)
    api.talk(**ANA, rounds=3)
    job = claim(api)
    before = api.state()
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


@pytest.mark.feature("F6")
def test_a_tiny_number_is_a_number(api: Api) -> None:
    queued(api)
    api.complete_job(**lease(claim(api)), result=Jsonb({"memories": [{**FACT, "confidence": 1e-300, "importance": 1}]}))
    assert api.query("select confidence, importance from memory.memories") == [(0, 1)]


@pytest.mark.feature("F6", "D11")
@pytest.mark.parametrize("function", ["clear_thread", "delete_thread"])
@pytest.mark.parametrize("kind", ["extract_memories", "summarize_thread"])
def test_a_result_about_messages_that_are_gone_is_dropped(api: Api, kind: str, function: str) -> None:
    api.talk(**ANA, rounds=3)
    getattr(api, kind)(**ANA)
    job = claim(api, kinds=[kind])
    getattr(api, function)(**ANA)
    with refused("lease_token", "AM001"):
        api.complete_job(**lease(job), result=result_of(job, memory="Likes tea"))
    assert (
        api.query(
            "select from memory.memories union all select from memory.summaries union all select from memory.jobs"
        )
        == []
    )
