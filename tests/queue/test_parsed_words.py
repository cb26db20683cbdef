"""The words of the messages that a job has read are parsed and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.support.jobs import ANA, claim, queued, say, settings
from tests.support.protocol import lease
from tests.support.sqlapi import NO_WAIT, Api, result_of
from tests.support.texts import read_messages as parsed


@pytest.mark.usefixtures("db")
@pytest.mark.feature("E4", "A5")
@pytest.mark.parametrize(
    ("kind", "counts"),
    [
        ("extract_memories", {"token_counts": {"0": 7, "1": 8}, "token_counter": "dice"}),
        ("summarize_thread", {}),
        ("compress_thread", {"token_counts": {"0": 7, "1": 8}, "token_counter": "dice"}),
    ],
)
def test_a_job_keeps_the_words_of_the_messages_it_read_where_it_keeps_token_counts(
    api: Api, kind: str, counts: dict[str, Any]
) -> None:
    settings(api, cadence={"fact_extraction_every_n": 0}, compression={"recent_messages_to_keep": 1})
    api.talk(**ANA, rounds=1)
    getattr(api, kind)(**ANA)
    job = claim(api)
    say(api, "user")
    before = api.list_threads(user_id="ana")[0].active_tokens
    result = {"skipped": "below"} if kind == "compress_thread" else result_of(job)
    updated = "select pg_stat_get_xact_tuples_updated('memory.messages'::regclass)"
    with api.connection.transaction():
        api.complete_job(**lease(job), result=result | counts)
        assert api.value(updated) == len(counts.get("token_counts", {}))
    assert parsed(api) == [0, 1]
    exact = [row.seq for row in api.query("select seq from memory.messages where is_counted order by seq")]
    assert exact == (parsed(api) if counts else [])
    assert (api.list_threads(user_id="ana")[0].active_tokens != before) == bool(counts)


@pytest.mark.feature("E4", "F6")
def test_a_job_skips_the_words_of_messages_that_someone_is_changing(
    api: Api, connect: Callable[..., psycopg.Connection]
) -> None:
    queued(api, messages=3)
    job = claim(api)
    hasty = Api(connect(options=NO_WAIT))
    with api.connection.transaction():
        api.connection.execute("update memory.messages set metadata = '{\"a\": 1}' where seq = 1")
        hasty.complete_job(**lease(job), result={"memories": []})
        assert parsed(hasty) == [0, 2]
    assert parsed(api) == [0, 1, 2]
