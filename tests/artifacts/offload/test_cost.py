"""What long messages cost others: no statement reads a whole thread for them."""

from __future__ import annotations

from functools import partial

import pytest

from tests.support.search_plans import plans_of, reads
from tests.support.sqlapi import Api


def fill(api: Api, thread_id: str, rows: int, became: str) -> None:
    """That many messages; ``became`` is the artifact that one became, in SQL."""
    api.add_message(user_id="ana", thread_id=thread_id, role="user", content="Hello")
    api.connection.execute("alter table memory.messages disable trigger user")
    api.query(
        "insert into memory.messages (user_id, thread_id, seq, role, content, token_count,"
        " created_at, updated_at, expires_at, artifact_key)"
        f" select 'ana', %(thread_id)s, n, 'tool', format('Output: [MemoryRef: k%%s].', n), 5,"
        f" now(), now(), 'infinity', {became}"
        " from generate_series(1, %(rows)s::int) as n returning 1",
        thread_id=thread_id, rows=rows,
    )  # fmt: skip
    api.connection.execute("alter table memory.messages enable trigger user")


@pytest.mark.feature("C4")
def test_the_artifacts_of_a_thread_without_any_are_found_without_reading_it(api: Api) -> None:
    fill(api, "long", 20_000, "null")
    fill(api, "other", 1000, "'k' || n")
    api.connection.execute("analyze memory.messages")
    api.store_artifact(user_id="ana", content="so that the user has one")
    call = """
    select k.keys from memory._named_artifacts(
      jsonb_populate_record(
        null::memory._asking, jsonb_build_object('user_id', 'ana', 'thread_id', %(thread_id)s::text))) as k
    """
    for thread_id, seen in (("long", 50), ("other", 400)):
        plans = plans_of(api, partial(api.value, call, thread_id=thread_id))
        assert max(step["seen"] for plan in plans for step in reads(plan, "messages")) <= seen


@pytest.mark.feature("C2")
def test_to_clear_a_thread_of_many_outputs_compares_each_with_few_others(api: Api) -> None:
    fill(api, "t1", 1, "'k' || n")
    fill(api, "t2", 1000, "'k' || n")
    api.connection.execute("update memory.messages set metadata = '{\"a\": 1}' where thread_id = 't1' and seq = 1")
    plans = plans_of(api, lambda: api.clear_thread(user_id="ana", thread_id="t2"))
    assert max(step["seen"] for plan in plans for step in plan) <= 5000
