create or replace function memory.forget_user(
  user_id text, reason text default null, spaces text default 'keep'
)
returns jsonb
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan -- a plan made for an empty table would read the rows of all users
as $$
declare
  gone jsonb; -- the removed rows, by all passes
  gone_now jsonb; -- the removed rows, by one pass
  in_spaces jsonb;
  receipt jsonb;
  lifted bigint;
begin
  if (spaces in ('keep', 'forget')) is not true then
    perform memory._refuse('spaces', coalesce('unknown value "' || left(spaces, 50) || '"', 'must not be null'),
      'Use keep or forget.');
  end if;
  -- If the user is a space, the call waits here for the transactions that write in it, before it locks anything else.
  -- Later writers wait for this transaction.
  perform memory._lock_space(user_id);
  perform memory._check_id('user_id', user_id);
  reason := memory._reason_without(reason, array[user_id]);
  perform memory._lock_user(user_id);
  in_spaces := memory._leave_spaces(user_id, spaces = 'forget');
  perform memory._begin_whole_user_change();
  for attempt in 1 .. 100 loop
    begin
      -- Each statement of a pass sees everything that was committed before. If a pass finds no row, all rows that
      -- others had committed are removed, and none of their transactions was removed only in part. Rows that others
      -- commit from then on belong to a new user.
      gone := jsonb '{}';
      for pass in 1 .. 1000 loop
        gone_now := memory._forget_rows(user_id, pass = 1);
        exit when gone_now = '{}';
        gone := memory._added(gone, gone_now);
      end loop;
      if gone_now <> '{}' then
        perform memory._refuse_busy_user();
      end if;
      exit;
    exception when serialization_failure then -- the error has released all locks that the attempt took
      if attempt = 100 then
        raise;
      end if;
    end;
  end loop;
  -- Removes the row of memory.marks that kept workers from claiming jobs of this user. Any other row there belongs to a
  -- new user by now, and the writer of such a row may wait for this transaction.
  delete from memory.marks as k where k.user_id = forget_user.user_id and (k.scope, k.kind) = ('', 'claims');
  update memory.audit as a set details = '{}'
  where a.function = 'merge_users' and a.details ->> 'from_user_id' = forget_user.user_id;
  perform memory._end_whole_user_change();
  -- The sequences of turns keep the place of the user who had the last turn, and anybody can compute this place from a
  -- user_id. If it is the place of this user, the turns go on from a random place. No claim returns to the old place,
  -- because the user has no jobs.
  perform setval(c.oid, hashtextextended(gen_random_uuid()::text, 0) / 2)
  from pg_class as c
  where c.relnamespace = 'memory'::regnamespace and c.relkind = 'S' and starts_with(c.relname, 'turn_of_')
    and pg_sequence_last_value(c.oid) = hashtextextended(user_id, 0) / 2;
  gone := memory._added(gone, in_spaces);
  lifted := memory._bury_user(user_id);
  gone := memory._counting(gone, 'tombstones', lifted);
  receipt := memory._receipt('user', user_id, reason, gone);
  perform memory._note_change(null, 'user', receipt ->> 'receipt_id', 'forgotten');
  return receipt;
end;
$$;
comment on function memory.forget_user(text, text, text) is
'Removes everything that is stored about a user, in this transaction, and returns a receipt: receipt_id, forgotten_at '
'and the rows by table. The ledger keeps the costs of calls, without the user. A tombstone (keyed hash) keeps older '
'rows of the user out of later imports. Later writes under this user_id are those of a new user. What the user wrote '
'in spaces stays, without the user; with spaces => ''forget'' it goes as well, as far as sessions of tenants wrote it: '
'in others nobody knows who writes.';

-- Removes all rows of a user that this transaction sees, and returns their number by table. The order is that of
-- docs/architecture.md: the function stops claims, locks threads and counters, then removes rows; it removes the rows
-- that jobs lock in the order in which jobs lock them. The catalog names the tables.
--
-- Threads and counters that others create after the first statements are not locked here. A session that locks one of
-- them may wait for a row that is removed here, so nothing here may wait for that session: this pass leaves rows of
-- such threads and counters unchanged. A later pass, which already holds locks, locks them without waiting, or gives up
-- with 40001.
create or replace function memory._forget_rows(p_user_id text, p_may_wait boolean)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  locked record;
  documents uuid[];
  item record;
  -- Rows of gone_jobs are counted before jobs are deleted, because a trigger then adds rows
  -- (memory._jobs_after_delete()).
  gone_jobs constant bigint := (select count(*) from memory.gone_jobs as g where g.user_id = p_user_id);
  had_mark boolean; -- a row of kind claims, which memory.forget_user() removes at the end
  removed bigint;
  gone jsonb := jsonb '{}';
begin
  had_mark := memory._stop_claims(p_user_id) and p_may_wait; -- a later pass finds this transaction's row
  locked := memory._lock_counters(p_user_id, p_may_wait);
  if not p_may_wait and not locked.are_all then
    perform memory._refuse_busy_user();
  end if;
  -- A session that deletes or cuts a document locks the document, then its pieces.
  documents := memory._lock_documents(p_user_id, locked.threads);
  {{each addon with lock_user: perform memory._<addon>_lock_user(p_user_id);}}
  for item in
    select t.* from memory._tables_of_users() as t where not t.stays
  loop
    execute memory._forgetting_delete(item.relation, item.has_thread)
    using p_user_id, locked.threads, locked.agents, documents;
    get diagnostics removed = row_count;
    removed := removed + case when item.name = 'marks' and had_mark then 1 else 0 end;
    gone := memory._counting(gone, item.name, removed);
  end loop;
  return memory._counting((gone || memory._without_user(p_user_id)) - 'gone_jobs', 'gone_jobs', gone_jobs);
end;
$$;

-- The tables with rows of users, in the order in which these rows are locked, and whether the rows belong to threads,
-- too. The catalog names the tables, because somebody may have made other tables in the schema. The registry says more
-- about our own tables (sql/registry.py).
create or replace function memory._tables_of_users()
returns table (
  relation regclass, name text, has_thread boolean, stays boolean, ignored_by_import boolean,
  merged_by_hand boolean, merged jsonb, taken text, joined text, conflict text
)
language plpgsql stable parallel safe
as $$
begin
  return query
  select c.oid::regclass, c.relname::text, h.has_thread,
    coalesce(r.stays, false), coalesce(r.ignored_by_import, false), coalesce(r.merged_by_hand, false),
    r.merged, r.taken, r.joined, r.conflict
  from pg_class as c
  join pg_attribute as a on a.attrelid = c.oid and a.attname = 'user_id' and not a.attisdropped
  cross join lateral (
    select exists (
      select from pg_attribute as h where h.attrelid = c.oid and h.attname = 'thread_id' and not h.attisdropped)
  ) as h (has_thread)
  left join (
    {{each table with user, union all:
    select text '<table>', <locked>::int, <stays> is not null, <ignored_by_import>::boolean,
      <merged_by_hand>::boolean, <merged>::jsonb, <taken>::text, <joined>::text, <conflict>::text}}
  ) as r (name, place, stays, ignored_by_import, merged_by_hand, merged, taken, joined, conflict)
    on r.name = c.relname
  where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  order by r.place, c.relname; -- tables without a place come last
end;
$$;

-- The statement by which a pass removes rows of a table. It does not touch rows of a thread, counter or document that
-- is not locked, nor rows of an artifact or upload that still exists. $1 is the user; $2, $3 and $4 are the locked
-- threads, agents and documents.
create or replace function memory._forgetting_delete(p_table regclass, p_has_thread boolean)
returns text
language plpgsql stable parallel safe
as $$
begin
  return format('delete from %s as t where t.user_id = $1 and (%s) is not true', p_table,
    case (select c.relname from pg_class as c where c.oid = p_table)
      {{each table with left_alone: when '<table>' then <left_alone>}}
      else case when p_has_thread then 't.thread_id in {{unlocked threads}}' else 'false' end
    end);
end;
$$;

-- Locks the documents of a user and returns their ids, except documents of threads that are not locked.
create or replace function memory._lock_documents(p_user_id text, p_threads text[])
returns uuid[]
language plpgsql volatile parallel unsafe
as $$
begin
  return array(
    select d.document_id from memory.documents as d
    where d.user_id = p_user_id and (d.thread_id in (
      select t.thread_id from memory.threads as t where t.user_id = p_user_id
      except
      select unnest(p_threads))) is not true
    order by d.document_id for update);
end;
$$;

-- Removes the user from the rows that stay: the ledger, the rows that memory.record_calls() needs for running calls,
-- and the records of administrative calls. Returns their numbers, and the number of locks of budgets. The id of an
-- agent whom no other user has may name the user, so it is removed too, unless a policy names the agent.
create or replace function memory._without_user(p_user_id text)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  own_agents text[];
  removed bigint;
  gone jsonb;
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
  -- A user who was forgotten and imported again may have calls that stand in the ledger already, without the user.
  delete from memory.model_calls as c
  where c.user_id = p_user_id and exists (
    select from memory.model_calls as n where n.user_id = '' and n.call_id = c.call_id);
  get diagnostics removed = row_count;
  gone := memory._counting('{}', 'model_calls', removed);
  -- A database gives no id of a job twice, but a user who was moved here brought some ids along.
  delete from memory.gone_jobs as g
  where g.user_id = memory._pseudonym(p_user_id) and g.job_id in (
    select n.job_id from memory.gone_jobs as n where n.user_id = p_user_id);
  {{each table with stays:
  update memory.<table> as t set
<emptied as code>
  where t.user_id = p_user_id;
  get diagnostics removed = row_count;
  gone := memory._counting(gone, '<table>', removed);}}
  delete from memory.agent_budgets as b where b.agent_id = any (own_agents);
  get diagnostics removed = row_count;
  return memory._counting(gone, 'agent_budgets', removed);
end;
$$;
