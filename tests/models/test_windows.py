"""Payloads follow the window of the chat model, which is a setting, what its server says, or a default."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.models.steps import CALL, claimed, ledger
from tests.support.protocol import ANA, activate, claim, complete, lease, make_due
from tests.support.sqlapi import Api

OWN = "http://localhost:11434/v1"
SENTENCE = "x" * 400  # 100 tokens, as the database estimates


def given(api: Api, kind: str = "extract_memories", **where: Any) -> int:
    """How many messages a job of this kind is given of 400, or of those that are left."""
    getattr(api, kind)(**(where or ANA))
    job = claim(api, kind)
    count = len(job.payload["messages"])
    api.release_job(**lease(job))
    make_due(api)
    return count


@pytest.fixture
def talkative(api: Api) -> Api:
    api.set_policy(settings={"summary": {"enabled": False}, "cadence": {"fact_extraction_every_n": 0}})
    api.connection.execute("delete from memory.jobs")
    for _ in range(4):
        api.add_messages(**ANA, messages=Jsonb([{"role": "user", "content": SENTENCE}] * 100))
    return api


@pytest.mark.feature("A14")
@pytest.mark.parametrize(
    ("settings", "least", "most"),
    [
        ({}, 190, 200),  # a known provider: 24,000 tokens, or 200 messages
        ({"base_url": OWN}, 15, 25),
        ({"base_url": OWN, "context_tokens": 4096}, 3, 8),
        ({"context_tokens": 16_000}, 40, 55),
    ],
)
def test_a_payload_has_room_in_the_window(talkative: Api, settings: dict[str, Any], least: int, most: int) -> None:
    activate(talkative, **settings)
    assert least <= given(talkative) <= most


@pytest.mark.feature("A14")
@pytest.mark.parametrize("kind", ["compress_thread", "summarize_user"])
def test_every_kind_that_reads_messages_follows_the_window(talkative: Api, kind: str) -> None:
    where = {"user_id": "ana"} if kind == "summarize_user" else ANA
    activate(talkative, base_url=OWN, context_tokens=4096)
    small = given(talkative, kind, **where)
    activate(talkative, base_url=OWN, context_tokens=16_000)
    assert 0 < 5 * small < given(talkative, kind, **where)


@pytest.mark.feature("A14")
def test_each_failed_attempt_is_followed_by_one_that_reads_half(talkative: Api) -> None:
    activate(talkative)
    talkative.extract_memories(**ANA)
    counts = []
    for _ in range(5):
        job = claim(talkative, "extract_memories")
        counts.append(len(job.payload["messages"]))
        talkative.fail_job(**lease(job), error="no answer from the model within 60 s")
        make_due(talkative)
    assert counts[0] > 100
    for one, other in pairwise(counts[1:]):
        assert one / 2 - 1 <= other <= one / 2 + 1


@pytest.mark.feature("A14", "F7")
def test_what_a_server_says_of_its_window_is_kept_until_the_model_is_registered_anew(talkative: Api) -> None:
    activate(talkative, base_url=OWN)
    before = given(talkative)
    talkative.extract_memories(**ANA)
    complete(talkative, claim(talkative, "extract_memories"), calls=[{**CALL, "context_tokens": 4096}], memories=[])
    assert talkative.value("select context_tokens from memory.models where name = 'gpt'") == 4096
    talkative.extract_memories(**ANA)
    job = claim(talkative, "extract_memories")
    assert job.payload["model"]["settings"]["context_tokens"] == 4096
    assert len(job.payload["messages"]) < before
    activate(talkative, base_url=OWN, context_tokens=6000)
    assert talkative.value("select context_tokens from memory.models where name = 'gpt'") is None


@pytest.mark.feature("F7")
@pytest.mark.parametrize(("name", "kept"), [("gpt-4.1-2025-04-14", "gpt-4.1-2025-04-14"), ("Ana is ill", None)])
def test_the_ledger_names_the_model_that_replied(api: Api, name: str, kept: str | None) -> None:
    complete(api, claimed(api), calls=[{**CALL, "reply_model": name}], memories=[])
    assert ledger(api, "reply_model") == {(kept,)}
