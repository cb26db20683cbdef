"""Two users who become one."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from types import NoneType
from typing import Any

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.errors import NotFoundError

from tests.erasure.conftest import ANA, rows
from tests.support.protocol import complete, lease
from tests.support.sqlapi import TABLES, Api, refused

pytestmark = pytest.mark.feature("F25")


def merge(api: Api, source: str = "ana", target: str = "bob") -> dict[str, Any]:
    merged: dict[str, Any] = api.merge_users(from_user_id=source, into_user_id=target)
    return merged


def texts(api: Api, user_id: str, thread_id: str) -> list[str]:
    return [row.content for row in api.get_messages(user_id=user_id, thread_id=thread_id)]


def memories(api: Api, user_id: str = "bob", **arguments: Any) -> list[str]:
    return sorted(row.content for row in api.list_memories(user_id=user_id, **arguments))


WRONG_COUNTERS = """
    select t.thread_id from memory.threads as t cross join lateral (
      select count(*) as messages, coalesce(sum(m.token_count), 0) as tokens from memory.messages as m
      where m.user_id = t.user_id and m.thread_id = t.thread_id and m.is_active) as c
    where (t.message_count, t.active_tokens) <> (c.messages, c.tokens)
    union all
    select s.agent_id from memory.memory_scopes as s where s.memory_count <> (
      select count(*) from memory.memories as m where m.user_id = s.user_id and m.agent_id = s.agent_id
        and m.superseded_at is null and m.deleted_at is null)"""


def test_every_row_of_every_table_becomes_the_other_s(filled: Api) -> None:
    filled.connection.execute("delete from memory.secrets")  # sealed with no key
    before, others = rows(filled, ANA), rows(filled, "bo")
    before.pop("audit"), others.pop("audit")
    before.pop("shown_rounds")  # which name threads that get new names, and are made again
    merged = merge(filled, ANA, "bo")
    left = rows(filled, ANA)
    assert left == {}
    after = rows(filled, "bo")
    # What both have under one key is one row, and the profile is made anew of both.
    as_one = "jobs summaries marks moved_users query_embeddings gone_jobs policies due_deletions audit spaces"
    for name in as_one.split():
        for counts in (before, others, after):
            counts.pop(name, None)
    others["new_changes"] += 1  # that the user is another one now
    assert after == {name: before.get(name, 0) + others.get(name, 0) for name in {*before, *others}}
    assert merged["left_out"] == 0
    for [table] in filled.query(TABLES):
        if table in ("audit", "role_grants"):
            continue
        found = filled.query(f"select t::text from memory.{table} as t where t::text like %(user)s", user=f"%{ANA}%")
        assert found == [], table
    assert filled.query(WRONG_COUNTERS) == []


def test_equal_memories_are_one_and_the_stated_one_stays(api: Api) -> None:
    for user in ("ana", "bob"):
        api.add_memory(user_id=user, content="Likes tea")
    api.add_memory(user_id="ana", content="Lives in Bergen")
    api.add_memory(user_id="bob", content="Lives in Bergen", source="extraction")
    expired = api.add_memory(user_id="bob", content="Has a dog").memory_id
    api.add_memory(user_id="ana", content="Has a dog")
    gone = datetime.now(timezone.utc) - timedelta(seconds=1)
    api.update_memory(user_id="bob", memory_id=expired, expires_at=gone)
    merge(api)
    assert memories(api) == ["Has a dog", "Likes tea", "Lives in Bergen"]
    kept = {row.content: row.source for row in api.list_memories(user_id="bob")}
    assert kept["Lives in Bergen"] == "user"
    everything = api.list_memories(user_id="bob", include_superseded=True)
    hidden = [row for row in everything if row.superseded_by]
    assert sorted(row.content for row in hidden) == ["Likes tea", "Lives in Bergen"]
    assert {row.supersede_reason for row in hidden} == {"duplicate"}
    assert {row.superseded_by for row in hidden} <= {row.memory_id for row in everything}


def test_the_limit_holds_for_both_together(api: Api) -> None:
    api.set_policy(settings={"memories": {"max_per_agent": 5}})
    for user in ("ana", "bob"):
        for number in range(4):
            api.add_memory(user_id=user, content=f"Fact {number} of {user}")
    merge(api)
    assert api.count_memories(user_id="bob") == 5


def test_the_second_user_s_policies_win_and_the_others_come_along(api: Api) -> None:
    api.set_policy(user_id="ana", settings={"context": {"max_memories": 7, "max_tokens": 900}})
    api.set_policy(user_id="ana", agent_id="b", settings={"context": {"max_memories": 3}})
    api.set_policy(user_id="bob", settings={"context": {"max_memories": 9}})
    merge(api)
    assert api.get_policy(user_id="bob")["context"]["max_memories"] == 9
    assert api.get_policy(user_id="bob")["context"]["max_tokens"] == 900
    assert api.get_policy(user_id="bob", agent_id="b")["context"]["max_memories"] == 3


def test_a_running_job_loses_its_lease_and_begins_anew(api: Api) -> None:
    api.set_policy(settings={"cadence": {"fact_extraction_every_n": 2}})
    api.talk("ana", "t1", rounds=1)
    api.talk("bob", "t1", rounds=1)
    running = api.claim_jobs(worker="test", kinds="{extract_memories}", max_jobs=10)
    assert {job.user_id for job in running} == {"ana", "bob"}
    merge(api)
    for job in running:
        with pytest.raises(psycopg.Error) as lost:
            api.complete_job(**lease(job), result={"memories": []})
        assert lost.value.sqlstate == "AM001"
    again = api.claim_jobs(worker="test", kinds="{extract_memories}", max_jobs=10)
    assert [job.user_id for job in again] == ["bob", "bob"]
    for job in again:
        complete(api, job, memories=[])


@pytest.mark.feature("F5")
def test_what_either_forgot_stays_forgotten(api: Api) -> None:
    for user, said in (("ana", "Was in prison in Oslo"), ("bob", "Has a secret twin")):
        memory_id = api.add_memory(user_id=user, content=said).memory_id
        api.forget_memory(user_id=user, memory_id=memory_id)
    api.add_memory(user_id="ana", content="Has a secret twin")
    merged = merge(api)
    assert merged["left_out"] == 1
    assert memories(api) == []
    texts_said = [{"content": text} for text in ("Was in prison in Oslo", "Has a secret twin", "Likes tea")]
    assert api.was_forgotten(user_id="bob", messages=texts_said) == [True, True, False]
    api.add_memory(user_id="bob", content="Likes coffee")
    merge(api, "bob", "cleo")
    assert api.was_forgotten(user_id="cleo", messages=texts_said) == [True, True, False]
    api.forget_user(user_id="ana")
    assert api.was_forgotten(user_id="cleo", messages=texts_said)[0]


@pytest.mark.feature("F5")
def test_nothing_of_what_the_other_had_forgotten_comes_along(api: Api) -> None:
    said = "Has a secret twin in Tromsø"
    memory_id = api.add_memory(user_id="bob", content=said).memory_id
    api.forget_memory(user_id="bob", memory_id=memory_id)
    api.register_model(name="m", kind="embedding", provider="openai", model="m")
    api.activate_model(name="m")
    api.set_policy(settings={"search": {"embed_messages": True}})
    for content in (said, "Likes tea"):
        api.add_memory(user_id="ana", content=content)
        api.add_message(user_id="ana", thread_id="t", role="user", content=content, idempotency_key=content)
    while api.finish_jobs():
        pass
    assert api.value("select count(*) from memory.texts where model is not null") == 4
    assert merge(api)["left_out"] == 2
    assert api.value("select count(*) from memory.texts where model is not null") == 2
    assert [row[0] for row in api.query("select digest from memory.idempotency_keys")] == [""]
    again = {"thread_id": "t", "role": "user", "content": said, "idempotency_key": said}
    assert api.add_message(user_id="bob", **again).seq == 0
    assert texts(api, "bob", "t") == ["Likes tea"]


@pytest.mark.feature("F5")
def test_the_former_user_is_forgotten_and_named_nowhere(filled: Api) -> None:
    filled.connection.execute("delete from memory.secrets")
    memory_id = filled.add_memory(user_id=ANA, content="Was in prison in Oslo").memory_id
    filled.forget_memory(user_id=ANA, memory_id=memory_id)
    merge(filled, ANA, "bo")
    filled.forget_user(user_id=ANA)
    for [table] in filled.query(TABLES):
        if table != "role_grants":
            assert filled.query(f"select from memory.{table} as t where t::text like %(u)s", u=f"%{ANA}%") == [], table
    assert filled.was_forgotten(user_id="bo", messages=[{"content": "Was in prison in Oslo"}]) == [True]


def test_what_is_refused(api: Api) -> None:
    api.add_memory(user_id="bob", content="Likes tea")
    with refused("from_user_id", "P0002"):
        merge(api)
    with refused("into_user_id"):
        merge(api, "bob", "bob")
    assert memories(api) == ["Likes tea"]


def test_a_user_without_rows_may_be_the_second(api: Api) -> None:
    api.add_memory(user_id="bob", content="Likes tea")
    merge(api, "bob", "ünï' \\ $1")
    assert memories(api, "ünï' \\ $1") == ["Likes tea"]
    assert [row.user_id for row in api.list_users()] == ["ünï' \\ $1"]


def test_another_memory_of_one_id_is_refused_and_the_same_is_one(api: Api) -> None:
    memory_id = api.add_memory(user_id="bob", content="Likes tea").memory_id
    api.add_memory(user_id="ana", content="Likes tea", memory_id=memory_id)
    merge(api)
    assert memories(api, include_superseded=True) == ["Likes tea"]
    api.add_memory(user_id="ana", content="Likes coffee", memory_id=memory_id)
    with refused("from_user_id", "23505"):
        merge(api)
    assert memories(api, "ana") == ["Likes coffee"]


def test_it_is_audited_and_a_bound_role_follows(api: Api) -> None:
    api.add_memory(user_id="ana", content="Likes tea")
    merge(api)
    [row] = api.query("select user_id, details from memory.audit where function = 'merge_users'")
    assert (row.user_id, row.details) == ("bob", {"from_user_id": "ana"})


def test_writers_of_both_lose_nothing(dsn: str) -> None:
    with Memory(dsn) as memory, ThreadPoolExecutor(6) as workers:
        for user in ("ana", "bob"):
            for place in range(20):
                memory.add_message(user, f"t{place % 4}", "user", f"early {user} {place}")
                memory.add_memory(user, f"Early {user} {place}", agent_id=f"a{place % 3}")

        def write(place: int) -> None:
            user = ("ana", "bob")[place % 2]
            memory.add_message(user, f"t{place % 6}", "user", f"late {user} {place}")
            memory.add_memory(user, f"Late {user} {place}", agent_id=f"a{place % 4}")
            memory.add_document(user, f"Document {place}")

        writes = [workers.submit(write, place) for place in range(200)]
        done = [workers.submit(memory.admin.merge_users, "ana", "bob") for _ in range(4)]
        for each in writes:
            each.result()
        failed = [each.exception() for each in done]
        assert None in failed
        assert all(isinstance(error, (NoneType, NotFoundError)) for error in failed)
        memory.add_message("ana", "last", "user", "The last one")
        memory.admin.merge_users("ana", "bob")
        said = [
            message.content
            for thread in memory.list_threads("bob", row_limit=1000)
            for message in memory.get_messages("bob", thread.thread_id)
        ]
        assert len(said) == len(set(said)) == 241
        assert sum(thread.message_count for thread in memory.list_threads("bob", row_limit=1000)) == 241
        assert memory.count_memories("bob") + memory.count_memories("ana") == 240
        assert (
            len(memory.list_documents("bob", row_limit=1000)) + len(memory.list_documents("ana", row_limit=1000)) == 200
        )


def test_two_merges_in_both_directions_do_not_deadlock(dsn: str) -> None:
    with Memory(dsn) as memory, ThreadPoolExecutor(4) as workers:
        memory.add_memory("ana", "Likes tea")
        memory.add_memory("bob", "Likes coffee")

        pairs = [("ana", "bob"), ("bob", "ana")] * 6
        done = [workers.submit(memory.admin.merge_users, *pair) for pair in pairs]
        failed = [each.exception() for each in done]
        assert all(isinstance(error, (NoneType, NotFoundError)) for error in failed)
        assert memory.count_memories("ana") + memory.count_memories("bob") == 2


def test_secrets_are_sealed_anew_and_one_name_gets_a_suffix(api: Api) -> None:
    api.connection.execute("create extension if not exists pgcrypto")
    key = base64.b64encode(bytes(32)).decode()
    api.connection.execute("select set_config('agent_memory.secret_key', %s, true)", [key])
    for user, name, value in (("ana", "mail", "hers"), ("ana", "bank", "1234"), ("bob", "mail", "his")):
        api.set_secret(user_id=user, name=name, value=value)
    assert merge(api)["secrets"] == {"mail": "mail-2"}
    opened = {name: api.get_secret(user_id="bob", name=name) for name in ("mail", "mail-2", "bank")}
    assert opened == {"mail": "his", "mail-2": "hers", "bank": "1234"}
    assert api.list_secrets(user_id="ana") == []
