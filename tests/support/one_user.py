"""Shows that no statement of a call reads or writes a row of another user: ``--one-user``.

The owner of the functions becomes a role that is no superuser, row security is forced on it, and a further policy
raises an error as soon as a statement meets a row of another user than that of the call. ``Api`` says before each call
whose call it is. Calls without a user, such as sweep(), claims and views, may meet all users. PostgreSQL evaluates
"user_id =" of a statement before the policy, because the operator leaks nothing and the policy's function is said to
cost much. The few rows of memory.policies are joined, after the policy, with those whom they apply to: others are
hidden there. The trigger of deleted messages asks whether there are quarantined messages of anybody, before it looks
for those of the user, so these are hidden as well. What is left of a forgotten user stands under a pseudonym, which is
the same user.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import psycopg
import pytest

from tests.support.sqlapi import Api

SERVER_SETTINGS = {"jit": "off"}
"""The function of the policy is said to cost so much that PostgreSQL would compile each statement."""
SETTING = "agent_memory_test.user"
_PLANS = "the policy costs, and keeps PostgreSQL from some indexes"
_INSTALLS = "installs again, which only the owner of the functions may"
DIFFERENT = {
    "test_jobs_with_nothing_to_do_cost_the_same_however_many_there_are": _PLANS,
    "test_a_unique_word_among_thousands_of_messages_is_found": _PLANS,
    "test_a_fresh_table_is_read_once_for_each_thing_to_know": _PLANS,
    "test_what_a_search_reads_does_not_grow_with_what_is_unparsed": _PLANS,
    "test_a_page_of_a_long_log_is_read_without_the_rest": _PLANS,
    "test_the_ledger_keeps_the_costs_without_the_user": "an erasure asks which agents other users have, and must",
    "test_what_either_forgot_stays_forgotten": "an erasure asks whether the user was merged into another, and must",
    "test_explaining_a_thousand_results_does_not_read_all_matches_for_each": _PLANS,
    "test_another_key_is_made_when_one_is_taken": "has a function draw from a sequence that its owner may not use",
    "test_a_folder_is_a_kind_of_jobs": _INSTALLS,
    "test_jobs_of_a_kind_that_is_gone_stay_and_are_not_claimed": _INSTALLS,
}
"""Tests that cannot run so, and why."""
SEEN = "a statement has met the user"
FORCE = f"""
do $force$
declare
  object text;
begin
  if to_regrole('owner_under_row_security') is null then
    create role owner_under_row_security;
  end if;
  create function public.is_user_of_call(user_id text, relation text) returns boolean
  language plpgsql stable cost 1000000 security definer as $policy$
  begin
    if user_id is null or user_id in ('', current_setting('{SETTING}', true))
      or coalesce(current_setting('{SETTING}', true), '') = '' then
      return true;
    elsif relation in ('memory.policies', 'memory.quarantined_messages') then
      return false;
    elsif starts_with(user_id, 'forgotten:') and user_id = memory._pseudonym(current_setting('{SETTING}')) then
      return true;
    end if;
    raise exception '{SEEN} % in %', user_id, relation;
  end $policy$;
  -- The keys of words, agents and metadata contain the user, so a message with the same keys is a message of the user.
  alter function arrayoverlap(anyarray, anyarray) leakproof;
  alter function arraycontains(anyarray, anyarray) leakproof;
  for object in
    select format('%s %s', case when p.prokind = 'p' then 'procedure' else 'function' end, p.oid::regprocedure)
    from pg_proc as p where p.pronamespace = 'memory'::regnamespace
    union all
    select format('%s %s',
      case c.relkind when 'v' then 'view' when 'S' then 'sequence' when 'c' then 'type' else 'table' end,
      c.oid::regclass)
    from pg_class as c
    where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p', 'v', 'S', 'c')
      and not exists (select from pg_depend as d where d.objid = c.oid and d.deptype in ('a', 'i') and c.relkind = 'S')
    union all
    select 'schema memory'
  loop
    execute format('alter %s owner to owner_under_row_security', object);
  end loop;
  for object in
    select c.oid::regclass
    from pg_class as c
    where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r'
      and exists (select from pg_attribute as a where a.attrelid = c.oid and a.attname = 'user_id')
      and exists (select from pg_policy as p where p.polrelid = c.oid)
  loop
    execute format('alter table %s force row level security', object);
    execute format('create policy one_user on %s as restrictive using (public.is_user_of_call(user_id, %L))',
      object, object);
  end loop;
end $force$
"""


def skip_different(items: Iterable[pytest.Item]) -> None:
    """Skip the tests that cannot run so."""
    for item in items:
        name = item.name.partition("[")[0]
        if name in DIFFERENT:
            item.add_marker(pytest.mark.skip(reason=DIFFERENT[name]))


def force(connection: psycopg.Connection[Any]) -> None:
    """Let the calls of ``Api`` meet one user each, in this database and its copies."""
    connection.execute(FORCE.encode())
    Api.before = staticmethod(say)


def say(connection: psycopg.Connection[Any], user_id: str | None) -> None:
    connection.execute("select set_config(%s, %s, false)", [SETTING, user_id or ""])
