-- Every room queues jobs by these functions. The name of a job has four parts: its user, its kind, its scope (a thread,
-- or '' for the user as a whole) and its variant, which only summarize_thread and dry runs have.

-- The variant of a dry run, which only reports what it would change (memory._apply_result()), or of any other job.
create or replace function memory._variant_of(p_dry_run boolean)
returns text
language plpgsql immutable parallel unsafe
as $$
begin
  if p_dry_run is null then
    perform memory._refuse('dry_run', 'must not be null', 'Pass true to see what would change, and false to do it.');
  end if;
  return case when p_dry_run then 'dry_run' else '' end;
end;
$$;

-- Queues a job for a caller who wants its id. If a job of the same name is pending, this job takes the request in. If
-- one is running, it is marked to be followed by another job, because it may have read its input already.
create or replace function memory._enqueue(
  p_user_id text, p_kind text, p_scope text, p_request jsonb default '{}', p_variant text default ''
)
returns bigint
language plpgsql volatile parallel unsafe
as $$
#variable_conflict use_column
declare
  queued bigint;
begin
  insert into memory.jobs as j (user_id, kind, scope, variant, request)
  values (p_user_id, p_kind, p_scope, p_variant, memory._traced(p_request))
  on conflict (user_id, kind, scope, variant) where status in ('pending', 'running') do update
  set request = case j.status when 'pending' then memory._wider_request(j.request, excluded.request)
                              else j.request end,
      next_request = case j.status when 'running'
                       then memory._wider_request(coalesce(j.next_request, excluded.request), excluded.request)
                       else j.next_request end,
      run_after = least(j.run_after, statement_timestamp())
  returning j.job_id into queued;
  return queued;
end;
$$;

-- The request that covers two requests. A job without recent_k reads all new messages, but a job with recent_k never
-- reads older ones, so recent_k stays only if both have it. A job without n looks at 50 rows. A job with is_forced
-- ignores thresholds.
create or replace function memory._wider_request(p_a jsonb, p_b jsonb)
returns jsonb
language plpgsql immutable parallel safe
as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'recent_k', case when p_a ? 'recent_k' and p_b ? 'recent_k'
                  then greatest(memory._seq_or_null(p_a -> 'recent_k'), memory._seq_or_null(p_b -> 'recent_k')) end,
    'n', case when p_a ? 'n' or p_b ? 'n'
           then greatest(coalesce(memory._seq_or_null(p_a -> 'n'), 50),
                         coalesce(memory._seq_or_null(p_b -> 'n'), 50)) end,
    'is_forced', case when p_a ? 'is_forced' or p_b ? 'is_forced' then true end,
    'traceparent', coalesce(p_a -> 'traceparent', p_b -> 'traceparent')));
end;
$$;

-- Adds the trace of the caller to a request, unless the request has one. A caller sets its traceparent (W3C Trace
-- Context) for its transaction as agent_memory.traceparent. Anybody can set anything there, so a value of another form
-- counts as not set. A worker links the span of the job to the trace (docs/tracing.md).
create or replace function memory._traced(p_request jsonb)
returns jsonb
language sql stable parallel safe
begin atomic
  select case
    when current_setting('agent_memory.traceparent', true)
        ~ '^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$'
      then jsonb_build_object('traceparent', current_setting('agent_memory.traceparent', true)) || p_request
    else p_request
  end;
end;

-- Whether a job is pending or running.
create or replace function memory._is_queued(
  p_user_id text, p_kind text, p_scope text, p_variant text default ''
)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (
    select from memory.jobs as j
    where j.user_id = p_user_id and j.kind = p_kind and j.scope = p_scope and j.variant = p_variant
      and j.status in ('pending', 'running'));
end;
$$;

-- Queues a job unless one is open, and returns whether it did. The function looks before it inserts, because nearly
-- every message calls it, and an insert that meets a conflict takes four times as long as the look.
create or replace function memory._enqueue_due(
  p_user_id text, p_kind text, p_scope text, p_variant text default ''
)
returns boolean
language plpgsql volatile parallel unsafe
as $$
begin
  if memory._is_queued(p_user_id, p_kind, p_scope, p_variant) then
    return false;
  end if;
  return memory._insert_job(p_user_id, p_kind, p_scope, p_variant);
end;
$$;

-- Inserts a job. The result is false when a job is open, or when another transaction is inserting one, because no
-- writer waits for such a transaction.
create or replace function memory._insert_job(p_user_id text, p_kind text, p_scope text, p_variant text)
returns boolean
language plpgsql volatile parallel unsafe
set lock_timeout = '10ms'
as $$
begin
  insert into memory.jobs (user_id, kind, scope, variant, request)
  values (p_user_id, p_kind, p_scope, p_variant, memory._traced('{}'))
  on conflict do nothing;
  return found;
exception
  when lock_not_available then
    return false;
end;
$$;

-- Queues a job of a kind for each user whom the kind names, in two statements, which take 6 s for 100,000 users;
-- memory._enqueue() for each would take 23 s (two busy cores). A running job may end without having seen the newest
-- texts, so the function has another job follow it. A job that waits after a failure becomes due. A job that an open
-- transaction holds stays unchanged, so that nobody waits. The function does not see texts of open transactions: its
-- mark makes memory.sweep() queue backfills once more when these transactions have ended.
create or replace function memory._enqueue_for_everyone(p_kind text, p_again boolean default false)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  with followed as (
    update memory.jobs as j
    set next_request = case j.status when 'running' then '{}' else j.next_request end,
        run_after = least(j.run_after, statement_timestamp())
    from (
      select o.user_id, o.job_id from memory.jobs as o
      where o.kind = p_kind and o.scope = '' and o.variant = '' and o.status in ('pending', 'running')
      order by o.user_id for update skip locked) as free
    where j.user_id = free.user_id and j.job_id = free.job_id
    returning j.user_id, j.job_id
  )
  insert into memory.marks (user_id, scope, kind, position)
  select '', pg_current_xact_id(), 'backfill', 0
  where p_kind = 'backfill' and (not p_again or exists (
    select o.user_id, o.job_id from memory.jobs as o
    where o.kind = p_kind and o.scope = '' and o.variant = '' and o.status = 'running'
    except
    select f.user_id, f.job_id from followed as f))
  on conflict do nothing;
  -- The statement uses "except", because for "not exists" a session may keep a plan that was made for an empty queue.
  insert into memory.jobs (user_id, kind, scope)
  select n.user_id, p_kind, ''
  from (
    {{each kind with users, union all:
    select u.user_id from memory._<kind>_users() as u (user_id) where p_kind = '<kind>'}}
    except
    select o.user_id from memory.jobs as o
    where o.kind = p_kind and o.scope = '' and o.variant = '' and o.status in ('pending', 'running')) as n
  order by n.user_id
  on conflict do nothing;
end;
$$;

-- Queues backfills again for the marks of memory._enqueue_for_everyone(). A first call writes the number of its own
-- transaction into a mark. A transaction that still works with the former models began before the mark was visible, so
-- its number is lower. A later call queues the backfills when all transactions with lower numbers have ended. It does
-- so at once if the number of the mark is yet to come: the mark is then from the server of which a backup was made.
create or replace function memory._enqueue_backfills_again()
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  delete from memory.marks as k where k.ctid = any (array(
    select d.ctid from memory.marks as d
    where d.user_id = '' and d.kind = 'backfill' and d.position > 0
      and d.position::text::xid8 not between pg_snapshot_xmin(pg_current_snapshot()) and pg_current_xact_id()
    for update skip locked));
  if found then
    perform memory._enqueue_for_everyone('backfill', true);
  end if;
  update memory.marks as k set position = pg_current_xact_id()::text::bigint where k.ctid = any (array(
    select d.ctid from memory.marks as d
    where d.user_id = '' and d.kind = 'backfill' and d.position = 0
    for update skip locked));
end;
$$;
