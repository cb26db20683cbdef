"""A folder of sql/core/50_work is a kind of jobs: the build makes the lists of kinds from the folders."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from tests.support.installer import build_version, install
from tests.support.sqlapi import Api

FOLDER = "core/50_work/tested_kind"
REQUEST = """
create or replace function memory.tested_kind(user_id text, thread_id text)
returns bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return memory._enqueue(user_id, 'tested_kind', thread_id);
end;
$$;
"""
INPUT = """
create or replace function memory._tested_kind_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql stable parallel safe
as $$
declare
  given record;
begin
  select * into given
  from memory._message_payload(p_job.user_id, p_job.scope, 0, 9223372036854775807, false, 1000, 24000);
  agent_id := memory._agent_of_message(p_job.user_id, p_job.scope, given.last_seq);
  tokens := given.tokens;
  payload := memory._chat_model(null, memory._policy_section(p_job.user_id, agent_id, 'agent'), 'tested_kind')
    || jsonb_build_object('messages', given.messages);
  input := jsonb_build_object('through_seq', given.last_seq);
end;
$$;
"""
APPLY = """
create or replace function memory._tested_kind_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
begin
  if jsonb_typeof(p_result -> 'words') is distinct from 'number' then
    perform memory._refuse_result('words', 'must be a number');
  end if;
  perform memory._set_mark(p_job.user_id, p_job.scope, 'tested_kind', (p_job.input ->> 'through_seq')::bigint);
  return jsonb_build_object('words', p_result -> 'words');
end;
$$;
"""
FOLLOW_UP = """
create or replace function memory._tested_kind_follow_up(p_job memory.jobs)
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  return case when t.next_seq - 1 > (p_job.input ->> 'through_seq')::bigint then jsonb '{}' end
  from memory.threads as t where t.user_id = p_job.user_id and t.thread_id = p_job.scope;
end;
$$;
"""
OVERDUE = """
create or replace function memory._tested_kind_overdue(p_row_limit int)
returns table (user_id text, scope text)
language plpgsql stable parallel safe
as $$
begin
  return query
  select t.user_id, t.thread_id from memory.threads as t
  left join memory.marks as k on k.user_id = t.user_id and k.scope = t.thread_id and k.kind = 'tested_kind'
  where t.next_seq > coalesce(k.position, -1) + 1 limit p_row_limit;
end;
$$;
"""
KIND = {
    f"{FOLDER}/tested_kind.sql": REQUEST,
    f"{FOLDER}/input.sql": INPUT,
    f"{FOLDER}/apply.sql": APPLY,
    f"{FOLDER}/follow_up.sql": FOLLOW_UP,
    f"{FOLDER}/overdue.sql": OVERDUE,
    f"{FOLDER}/prompt.txt": "Count the words.\n---\n{{messages}}\n",
    f"{FOLDER}/defaults.json": '{"cadence": {"tested_kind_every_n": 7}}',
}
THREAD = {"user_id": "ana", "thread_id": "t1"}
CONSTRAINT = (
    "select oid, xmin::text, convalidated from pg_constraint where conname = 'kind_is_known' "
    "and conrelid = 'memory.jobs'::regclass"
)


def count_jobs(api: Api) -> list[str]:
    return [
        row.status for row in api.query("select status from memory.jobs where kind = 'tested_kind' order by job_id")
    ]


@pytest.mark.feature("F6")
def test_a_folder_is_a_kind_of_jobs(dsn: str, db: psycopg.Connection, tmp_path: Path) -> None:
    install(dsn, build_version(tmp_path, KIND))
    api = Api(db)
    api.add_message(**THREAD, role="user", content="I like green tea")
    job_id = api.tested_kind(**THREAD)
    [job] = api.claim_jobs(worker="w", kinds=["tested_kind"])
    assert [message["content"] for message in job.payload["messages"]] == ["I like green tea"]
    lease = {"user_id": "ana", "job_id": job_id, "lease_token": job.lease_token}
    with pytest.raises(errors.InvalidParameterValue, match="words must be a number"):
        api.complete_job(**lease, result={})
    api.add_message(**THREAD, role="user", content="and coffee")
    api.complete_job(**lease, result={"words": 4})
    assert api.get_job(user_id="ana", job_id=job_id).result == {"words": 4}
    assert count_jobs(api) == ["completed", "pending"]  # due again, because a message came meanwhile

    db.execute("delete from memory.jobs where kind = 'tested_kind'")
    api.sweep()
    assert count_jobs(api) == ["pending"]
    assert api.value("select count(*) from memory.prompts where name = 'tested_kind' and is_default") == 1
    assert api.query(CONSTRAINT)[0].convalidated
    assert api.get_policy()["cadence"]["tested_kind_every_n"] == 7
    assert api.set_policy(settings={"cadence": {"tested_kind_every_n": 0}})["cadence"]["tested_kind_every_n"] == 0


@pytest.mark.feature("F13")
def test_jobs_of_a_kind_that_is_gone_stay_and_are_not_claimed(dsn: str, db: psycopg.Connection, tmp_path: Path) -> None:
    install(dsn, build_version(tmp_path, KIND))
    db.execute(
        "insert into memory.jobs (user_id, kind, scope, status, is_delayed, worker, lease_token, lease_expires_at) "
        "values ('ana', 'tested_kind', 't1', 'pending', false, null, null, null), "
        "('ana', 'tested_kind', 't2', 'pending', true, null, null, null), "
        "('ana', 'tested_kind', 't3', 'running', false, 'dead', gen_random_uuid(), now() - interval '1 minute')"
    )
    install(dsn)
    api = Api(db)
    api.consolidate(user_id="bob")
    assert api.claim_jobs(worker="w") == []
    assert api.value("select status from memory.jobs where user_id = 'bob'") == "completed"
    assert count_jobs(api) == ["pending", "pending", "running"]
    assert not api.query(CONSTRAINT)[0].convalidated
    db.execute("delete from memory.jobs where kind = 'tested_kind'")
    install(dsn)
    assert api.query(CONSTRAINT)[0].convalidated


@pytest.mark.feature("F13")
def test_a_folder_without_what_the_queue_calls_is_not_built(tmp_path: Path) -> None:
    for missing in ("input", "apply"):
        files = {name: text for name, text in KIND.items() if not name.endswith(f"/{missing}.sql")}
        with pytest.raises(SystemExit, match=rf"tested_kind/{missing}\.sql is missing"):
            build_version(tmp_path, files)
    with pytest.raises(SystemExit, match=r"tested_kind/users\.sql must create memory\._tested_kind_users\(\)"):
        build_version(tmp_path, KIND | {f"{FOLDER}/users.sql": FOLLOW_UP})
