-- Every room queues jobs by these functions. A job is named by its user, its kind, its scope (a thread, or '' for the
-- user as a whole) and its variant, which only summarize_thread has.

-- Queues a job for a caller who wants its id. A pending job of the same name takes the request in; a running one is
-- marked to be followed by another job, because it may have read its input already.
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
  values (p_user_id, p_kind, p_scope, p_variant, p_request)
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

-- The request that covers two requests. A job without recent_k reads all new messages; a job with recent_k never reads
-- older ones. A job without n looks at 50 rows. A job with is_forced ignores thresholds.
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
    'is_forced', case when p_a ? 'is_forced' or p_b ? 'is_forced' then true end));
end;
$$;

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

-- Queues a job unless one is open, and returns whether it did. It looks before it inserts: nearly every message calls
-- this, and an insert that meets a conflict takes four times as long as the look.
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

-- Inserts a job; false when one is open, or when an open transaction is queueing one: no writer waits for that
-- transaction.
create or replace function memory._insert_job(p_user_id text, p_kind text, p_scope text, p_variant text)
returns boolean
language plpgsql volatile parallel unsafe
set lock_timeout = '10ms'
as $$
begin
  insert into memory.jobs (user_id, kind, scope, variant) values (p_user_id, p_kind, p_scope, p_variant)
  on conflict do nothing;
  return found;
exception
  when lock_not_available then
    return false;
end;
$$;

-- Queues a job of a kind for each user that the kind names, in two statements: memory._enqueue() for each of 100,000
-- users took four times as long (6 s, 23 s; two busy cores). A running job may end without having seen the newest
-- texts, so another job follows it. A job that waits after a failure becomes due. A job that an open transaction holds
-- stays as it is, so that nobody waits; for a backfill an entry says that texts may be left out, and memory.sweep()
-- queues another job.
create or replace function memory._enqueue_for_everyone(p_kind text)
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
    returning j.user_id
  )
  insert into memory.texts_to_embed (user_id, source, id)
  select held.user_id, '', ''
  from (select o.user_id from memory.jobs as o
        where o.kind = p_kind and o.scope = '' and o.variant = '' and o.status in ('pending', 'running')
        except
        select f.user_id from followed as f) as held
  where p_kind = 'backfill';
  -- "except" and not "not exists", for which a session may keep a plan that was made for an empty queue.
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
