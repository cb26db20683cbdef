create or replace function memory.forget_user(user_id text, reason text default null)
returns jsonb
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  gone jsonb;
begin
  perform memory._check_id('user_id', user_id);
  reason := memory._reason_without(reason, array[user_id]);
  perform memory._lock_user(user_id);
  perform memory._begin_whole_user_change();
  for attempt in 1 .. 100 loop
    begin
      gone := memory._forget_all_rows(user_id);
      exit;
    exception when serialization_failure then -- this has given back all locks that the attempt took
      if attempt = 100 then
        raise;
      end if;
    end;
  end loop;
  -- The mark that kept workers from claiming jobs of this user.
  delete from memory.marks as k where k.user_id = forget_user.user_id;
  perform memory._end_whole_user_change();
  perform memory._bury_user(user_id);
  return memory._receipt('user', user_id, reason, gone);
end;
$$;
comment on function memory.forget_user(text, text) is
'Removes everything that is stored about a user, in this transaction, and returns a receipt: receipt_id, forgotten_at '
'and the rows by table. The ledger keeps what calls cost, without the user. A tombstone (keyed hash) keeps out what is '
'imported of the user later; who writes under this user_id again is a new user.';

-- Removes all rows of a user, and returns how many there were by table. Error 40001 when others write all the time.
create or replace function memory._forget_all_rows(p_user_id text)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  gone jsonb;
  all_gone jsonb := jsonb '{}';
begin
  -- Each statement of a pass sees what was committed before it. A pass that finds nothing proves that no transaction
  -- was removed in part: what others committed before is gone, and what they commit from now on is of a new user.
  for pass in 1 .. 1000 loop
    gone := memory._forget_rows(p_user_id, pass = 1);
    exit when gone = '{}';
    all_gone := memory._added(all_gone, gone);
  end loop;
  if gone <> '{}' then
    perform memory._refuse_busy_user();
  end if;
  return all_gone;
end;
$$;

create or replace function memory._refuse_busy_user()
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._refuse('user_id', 'is being written to all the time', 'Stop who writes, or call this again.',
    '40001');
end;
$$;

-- Removes all rows of a user that this transaction sees, and returns how many there were by table. The order is that of
-- docs/architecture.md: threads and counters are locked first, then rows are removed, those that jobs lock in the order
-- in which jobs lock them. Which tables there are says the catalog.
--
-- Threads and counters that others create after the first statements are not locked here. Whoever locks one of them may
-- wait for a row that is removed here. So nothing here may wait for that session: this pass leaves rows of such threads
-- and counters alone. A later pass, which holds locks already, locks them without waiting, or gives up with 40001.
create or replace function memory._forget_rows(p_user_id text, p_may_wait boolean)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  -- Artifacts and their parts before jobs: a job that parses parts holds some of them when it ends its lease.
  first_tables constant text[] :=
    array['artifacts', 'artifact_parts', 'memory_history', 'memories', 'marks', 'jobs', 'summaries'];
  threads text[];
  agents text[];
  seen bigint; -- threads and counters, locked or not
  name text;
  key text; -- the column that says to which thread or counter a row belongs
  removed bigint;
  gone jsonb := jsonb '{}';
begin
  if p_may_wait then
    perform from memory.threads as t where t.user_id = p_user_id order by t.thread_id for update;
    perform from memory.memory_scopes as s where s.user_id = p_user_id order by s.agent_id for update;
  end if;
  select
    array(select t.thread_id from memory.threads as t where t.user_id = p_user_id for update skip locked),
    array(select s.agent_id from memory.memory_scopes as s where s.user_id = p_user_id for update skip locked),
    (select count(*) from memory.threads as t where t.user_id = p_user_id)
      + (select count(*) from memory.memory_scopes as s where s.user_id = p_user_id)
  into threads, agents, seen;
  if not p_may_wait and cardinality(threads || agents) < seen then
    perform memory._refuse_busy_user();
  end if;
  perform memory._stop_claims(p_user_id);
  for name, key in
    select c.relname, case
      when c.relname in ('memories', 'memory_scopes') then 'agent_id'
      when c.relname in ('marks', 'jobs') then 'scope'
      else (select h.attname from pg_attribute as h
            where h.attrelid = c.oid and h.attname = 'thread_id' and not h.attisdropped) end
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and a.attname = 'user_id' and not a.attisdropped
    where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not in ('model_calls', 'gone_jobs', 'audit')
    order by array_position(first_tables, c.relname::text), c.relname -- the others come after
  loop
    execute format('delete from memory.%I as t where t.user_id = $1%s%s', name,
                   case name when 'marks' then ' and (t.scope, t.kind) <> ('''', ''claims'')' end,
                   case
                     when key = 'agent_id' then ' and t.agent_id not in ('
                       'select s.agent_id from memory.memory_scopes as s where s.user_id = $1 except select unnest($3))'
                     when key is not null then format(' and coalesce(t.%I, '''') not in ('
                       'select h.thread_id from memory.threads as h where h.user_id = $1 '
                       'except select unnest($2))', key)
                   end)
    using p_user_id, threads, agents;
    get diagnostics removed = row_count;
    gone := gone || case when removed > 0 then jsonb_build_object(name, removed) else jsonb '{}' end;
  end loop;
  removed := memory._forget_in_audit(p_user_id);
  return gone || case when removed > 0 then jsonb_build_object('audit', removed) else jsonb '{}' end
    || memory._forget_in_ledger(p_user_id);
end;
$$;

-- Takes the user out of the ledger and out of what memory.record_calls() needs for calls that are still running, and
-- returns how many rows that were. An agent that nobody else has may name the user, so its id goes too, unless a policy
-- names the agent.
create or replace function memory._forget_in_ledger(p_user_id text)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  own_agents text[];
  doubled bigint;
  entered bigint;
  gone bigint;
begin
  own_agents := array(
    select a.agent_id
    from (
      select c.agent_id from memory.model_calls as c where c.user_id = p_user_id
      union
      select g.agent_id from memory.gone_jobs as g where g.user_id = p_user_id) as a
    where a.agent_id <> 'default'
      and not exists (select from memory.policies as p where p.user_id = '' and p.agent_id = a.agent_id)
      and not exists (
        select from memory.model_calls as o where o.agent_id = a.agent_id and o.user_id <> p_user_id));
  -- A user who was forgotten and imported again has calls that the ledger has already without the user.
  delete from memory.model_calls as c
  where c.user_id = p_user_id and exists (
    select from memory.model_calls as n where n.user_id = '' and n.call_id = c.call_id);
  get diagnostics doubled = row_count;
  update memory.model_calls as c
  set user_id = '', job_id = null, error = case when c.error is not null then 'forgotten' end,
      agent_id = case when c.agent_id <> all (own_agents) then c.agent_id end
  where c.user_id = p_user_id;
  get diagnostics entered = row_count;
  -- Ids of jobs are not given twice, but a user who was moved here brought some along.
  delete from memory.gone_jobs as g
  where g.user_id = memory._pseudonym(p_user_id) and g.job_id in (
    select n.job_id from memory.gone_jobs as n where n.user_id = p_user_id);
  update memory.gone_jobs as g
  set user_id = memory._pseudonym(p_user_id),
      agent_id = case when g.agent_id <> all (own_agents) then g.agent_id end
  where g.user_id = p_user_id;
  get diagnostics gone = row_count;
  delete from memory.agent_budgets as b where b.agent_id = any (own_agents);
  return case when doubled + entered > 0 then jsonb_build_object('model_calls', doubled + entered) else jsonb '{}' end
    || case when gone > 0 then jsonb_build_object('gone_jobs', gone) else jsonb '{}' end;
end;
$$;
