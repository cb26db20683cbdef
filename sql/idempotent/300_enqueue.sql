-- Queues a job for a caller who wants its id. While one of the same kind and scope is pending, that one will do; while
-- one is running, it is marked to be followed by another, because it may have read its input already.
create or replace function memory._enqueue(user_id text, kind text, scope text, arguments jsonb default '{}')
returns bigint
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  queued bigint;
begin
  insert into memory.jobs as j (user_id, kind, scope, arguments)
  values (_enqueue.user_id, _enqueue.kind, _enqueue.scope, _enqueue.arguments)
  on conflict (user_id, kind, scope) where status in ('pending', 'running') do update
  set rerun = j.status = 'running',
      -- Of two requests in one job the wider one counts: what recent_k leaves out is never read.
      arguments = case when j.status = 'running' then j.arguments
                       when j.arguments ? 'recent_k' and excluded.arguments ? 'recent_k'
                       then jsonb_build_object('recent_k', greatest((j.arguments ->> 'recent_k')::int, (excluded.arguments ->> 'recent_k')::int))
                       else j.arguments - 'recent_k' end,
      run_after = least(j.run_after, statement_timestamp())
  returning j.job_id into queued;
  return queued;
end;
$$;

create or replace function memory._check_thread(user_id text, thread_id text)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  if not exists (select from memory.threads as t where t.user_id = _check_thread.user_id and t.thread_id = _check_thread.thread_id) then
    perform memory._refuse('thread_id', format('this user has no thread "%s"', thread_id), 'memory.list_threads(user_id) shows what there is.', 'P0002');
  end if;
end;
$$;
