-- Queues a job for a caller who wants its id. While one of the same kind and scope is pending, that one will do; while
-- one is running, it is marked to be followed by another, because it may have read its input already.
create or replace function memory._enqueue(p_user_id text, p_kind text, p_scope text, p_request jsonb default '{}')
returns bigint
language plpgsql volatile parallel unsafe
as $$
#variable_conflict use_column
declare
  queued bigint;
begin
  insert into memory.jobs as j (user_id, kind, scope, request)
  values (p_user_id, p_kind, p_scope, p_request)
  on conflict (user_id, kind, scope) where status in ('pending', 'running') do update
  set request = case j.status when 'pending' then memory._wider_request(j.request, excluded.request) else j.request end,
      next_request = case j.status when 'running' then memory._wider_request(coalesce(j.next_request, excluded.request), excluded.request) else j.next_request end,
      run_after = least(j.run_after, statement_timestamp())
  returning j.job_id into queued;
  return queued;
end;
$$;

-- Of two requests in one job the wider one counts: what recent_k leaves out is never read.
create or replace function memory._wider_request(p_a jsonb, p_b jsonb)
returns jsonb
language plpgsql immutable parallel safe
as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'recent_k', case when p_a ? 'recent_k' and p_b ? 'recent_k' then greatest((p_a ->> 'recent_k')::int, (p_b ->> 'recent_k')::int) end,
    'n', case when p_a ? 'n' or p_b ? 'n' then greatest(coalesce((p_a ->> 'n')::int, 50), coalesce((p_b ->> 'n')::int, 50)) end,
    'is_forced', case when p_a ? 'is_forced' or p_b ? 'is_forced' then true end));
end;
$$;

create or replace function memory._is_queued(p_user_id text, p_kind text, p_scope text)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (
    select from memory.jobs as j
    where j.user_id = p_user_id and j.kind = p_kind and j.scope = p_scope and j.status in ('pending', 'running'));
end;
$$;

-- Queues a job unless one is open; whether it did. Looks first: nearly every message comes here, and an insert that meets
-- a conflict costs four times the look.
create or replace function memory._enqueue_due(p_user_id text, p_kind text, p_scope text)
returns boolean
language plpgsql volatile parallel unsafe
as $$
begin
  if memory._is_queued(p_user_id, p_kind, p_scope) then
    return false;
  end if;
  return memory._insert_job(p_user_id, p_kind, p_scope);
end;
$$;

-- Somebody may be queueing the same job in a transaction that is still open. Nobody who writes waits for that one.
create or replace function memory._insert_job(p_user_id text, p_kind text, p_scope text)
returns boolean
language plpgsql volatile parallel unsafe
set lock_timeout = '10ms'
as $$
begin
  insert into memory.jobs (user_id, kind, scope) values (p_user_id, p_kind, p_scope)
  on conflict do nothing;
  return found;
exception
  when lock_not_available then
    return false;
end;
$$;

-- Queues the embedding of a thread's messages, or of what a user has besides, where a model is there to do it.
create or replace function memory._enqueue_embedding(p_user_id text, p_scope text default '')
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if exists (select from memory.models as m where m.kind = 'embedding' and m.is_active) then
    perform memory._enqueue_due(p_user_id, 'embed', p_scope);
  end if;
end;
$$;

-- A job for each user who has anything to be found; it embeds what a model lacks.
create or replace function memory._enqueue_backfill()
returns void
language plpgsql volatile parallel unsafe
as $$
#variable_conflict use_column
begin
  insert into memory.jobs as j (user_id, kind, scope)
  select u.user_id, 'backfill', ''
  from memory._users_with_texts() as u (user_id)
  order by u.user_id
  -- One that is running may be about to end without having seen what is new.
  on conflict (user_id, kind, scope) where status in ('pending', 'running') do update
  set next_request = case j.status when 'running' then '{}' else j.next_request end,
      run_after = least(j.run_after, statement_timestamp()); -- nor does a new model wait because the one before failed
end;
$$;
