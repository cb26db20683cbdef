"""Texts to embed: what a job costs follows its own texts, and nothing that has to be embedded is lost."""

from __future__ import annotations

import psycopg
import pytest

from tests.embeddings.steps import embed, embedded, hand_in, know, texts
from tests.support.protocol import activate, claim, open_jobs
from tests.support.sqlapi import Api


@pytest.mark.feature("E6")
def test_a_job_reads_its_own_texts_and_not_those_that_the_user_has(db: psycopg.Connection) -> None:
    db.autocommit = True
    api = Api(db)
    activate(api, "ada", "embedding")

    def read(content: str) -> int:
        know(api, content, source="user")
        return api.entries_read(lambda: hand_in(api, claim(api, "embed")))

    read("the first")
    few = read("likes tea")
    db.execute(
        "insert into memory.memories (user_id, content) select 'ana', 'fact ' || n from generate_series(1, 500) n"
    )
    embed(api)
    db.execute("vacuum memory.texts, memory.jobs")
    assert read("likes coffee") < few + 200  # two looks at all texts read 2,000
    assert len(embedded(api)) == 503


@pytest.mark.feature("E6", "F4")
def test_a_memory_that_comes_back_as_another_goes_is_embedded(active: Api) -> None:
    [memory] = know(active, "likes tea")
    embed(active)
    active.delete_memory(user_id="ana", memory_id=memory)
    activate(active, "eve", "embedding")
    know(active, "likes coffee")
    embed(active)
    active.connection.execute(
        "update memory.memories set deleted_at = case when deleted_at is null then now() end, operation = 'update'"
    )
    assert texts(active) == ["likes tea"]


@pytest.mark.feature("E6", "F4")
def test_a_sweep_queues_what_a_dead_backfill_has_left_over(active: Api) -> None:
    know(active, "likes tea")
    embed(active)
    active.connection.execute("update memory.texts set model = null, embedding = null, code = null")
    active.activate_model(name="ada")
    active.register_model(name="ada", kind="embedding", provider="openai", model="ada", settings={"dimensions": 3})
    active.connection.execute("update memory.jobs set max_attempts = 1 where kind = 'backfill'")
    job = claim(active, "backfill")
    active.fail_job(user_id="ana", job_id=job.job_id, lease_token=job.lease_token, error="the server is down")
    assert open_jobs(active) == []
    active.sweep()
    assert texts(active) == ["likes tea"]
