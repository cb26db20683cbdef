"""The counters of memories equal the rows after every change."""

from __future__ import annotations

import psycopg
import pytest

from tests.memories.steps import add, contents
from tests.support.sqlapi import Api

COUNTERS = """
select s.user_id, s.agent_id, s.memory_count, count(m.memory_id) as stored
from memory.memory_scopes as s
left join memory.memories as m
  on m.user_id = s.user_id and m.agent_id = s.agent_id and m.superseded_at is null and m.deleted_at is null
group by s.user_id, s.agent_id
"""


DELETE = "select memory.delete_memory(user_id => 'ana', memory_id => %(first)s);"
EXPIRE = "select memory.update_memory(user_id => 'ana', memory_id => %(first)s, expires_at => '2020-01-01');"
RESTORE = "select memory.restore_memory(user_id => 'ana', memory_id => %(first)s);"
SUPERSEDE = (
    "select memory.supersede_memory('ana', old_memory_id => %(first)s, new_memory_id => %(second)s, reason => 'x');"
)
LIMIT = """select memory.set_policy('{"memories": {"max_per_agent": 3}}');"""
INSERT = "insert into memory.memories (user_id, agent_id, content)"
CHANGES = {
    "nothing": "",
    "add": "select memory.add_memory('ana', 'one more')",
    "add a repetition": "select memory.add_memory('ana', 'no. 0')",
    "add for another agent": "select memory.add_memory('ana', 'no. 0', agent_id => 'other')",
    "add over the limit": LIMIT + "select memory.add_memory('ana', 'over')",
    "replace": "select memory.add_memory('ana', 'NO. 0', on_conflict => 'replace')",
    "expire": EXPIRE,
    "add again after expiry": EXPIRE + "select memory.add_memory('ana', 'no. 0')",
    "update": "select memory.update_memory('ana', %(first)s, content => 'changed')",
    "delete": DELETE,
    "delete twice": DELETE + DELETE,
    "supersede": SUPERSEDE,
    "delete a superseded one": SUPERSEDE + DELETE,
    "restore a deleted one": DELETE + RESTORE,
    "restore a superseded one": SUPERSEDE + RESTORE,
    "restore one that was there": RESTORE,
    "sweep": DELETE + "update memory.memories set expires_at = '2020-01-01'; select memory.sweep()",
    "bulk insert": INSERT + "select 'ana', 'agent ' || n %% 3, n::text from generate_series(1, 50) as n",
    "bulk insert over the limit": LIMIT + INSERT + "select 'ana', 'default', n::text from generate_series(1, 50) as n",
    "bulk insert with repetitions": INSERT
    + "select 'ana', 'default', 'no. ' || n %% 9 from generate_series(1, 50) as n on conflict do nothing",
    "plain delete": "delete from memory.memories where content in ('no. 1', 'no. 3')",
    "plain soft delete": "update memory.memories set deleted_at = now()",
    "plain insert of a deleted one": "insert into memory.memories (user_id, content, deleted_at) "
    "values ('ana', 'x', now())",
}


@pytest.mark.feature("E14")
@pytest.mark.parametrize("change", CHANGES)
def test_the_counter_equals_the_rows_after(api: Api, change: str) -> None:
    compare_after(api, CHANGES[change])


@pytest.mark.feature("E14")
@pytest.mark.usefixtures("db")
def test_the_counter_equals_the_rows_after_a_rollback(api: Api) -> None:
    compare_after(api, f"begin; {DELETE} {INSERT} values ('ana', 'default', 'x'); rollback")


def compare_after(api: Api, statements: str) -> None:
    ids = [add(api, f"no. {number}") for number in range(5)]
    psycopg.ClientCursor(api.connection).execute(statements, {"first": ids[0], "second": ids[1]})
    scopes = api.query(COUNTERS)
    assert scopes
    assert all(scope.memory_count == scope.stored for scope in scopes), scopes


def test_deleting_a_thread_takes_what_was_extracted_from_it_out_of_the_counter(api: Api) -> None:
    api.talk("ana", "t1", 5)
    assert api.finish_jobs(memory="Likes tea") == 1
    add(api, "Stated by the user", thread_id="t1")
    api.delete_thread(user_id="ana", thread_id="t1")
    assert contents(api) == ["Stated by the user"]
    assert api.query(COUNTERS) == [("ana", "default", 1, 1)]
