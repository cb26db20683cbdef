create or replace function memory.sweep(batch_size int default 10000)
returns jsonb
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  swept_messages bigint;
  swept_memories bigint;
  swept_jobs bigint;
begin
  if (batch_size >= 1) is not true then
    perform memory._refuse('batch_size', format('%s is less than 1', coalesce(batch_size::text, 'null')), 'It bounds the rows of each kind that one call removes.');
  end if;

  -- Threads and scopes in use are skipped, not waited for: the next call gets them, and a sweep never deadlocks.
  with due as (
    (select m.user_id, m.thread_id, m.seq from memory.messages as m
     where m.expires_at <= statement_timestamp() and m.expires_at < 'infinity' order by m.expires_at limit batch_size)
    union
    (select m.user_id, m.thread_id, m.seq from memory.messages as m where not m.is_active limit batch_size)
  ), free as materialized (
    select t.user_id, t.thread_id from memory.threads as t
    where (t.user_id, t.thread_id) in (select d.user_id, d.thread_id from due as d) for no key update skip locked
  ), swept as (
    delete from memory.messages as m
    using (select d.* from due as d join free as f using (user_id, thread_id) limit batch_size) as d
    where m.user_id = d.user_id and m.thread_id = d.thread_id and m.seq = d.seq returning 1
  )
  select count(*) into swept_messages from swept;

  with due as (
    (select m.user_id, m.agent_id, m.memory_id from memory.memories as m
     where m.expires_at <= statement_timestamp() order by m.expires_at limit batch_size)
    union
    (select m.user_id, m.agent_id, m.memory_id from memory.memories as m where m.deleted_at is not null order by m.deleted_at limit batch_size)
  ), free as materialized (
    select s.user_id, s.agent_id from memory.memory_scopes as s
    where (s.user_id, s.agent_id) in (select d.user_id, d.agent_id from due as d) for no key update skip locked
  ), swept as (
    delete from memory.memories as m
    using (select d.* from due as d join free as f using (user_id, agent_id) limit batch_size) as d
    where m.user_id = d.user_id and m.memory_id = d.memory_id returning 1
  )
  select count(*) into swept_memories from swept;

  -- What went well is kept for a week, what died for a month.
  with swept as (
    delete from memory.jobs as j
    using (select f.user_id, f.job_id from memory.jobs as f
           where f.status in ('completed', 'dead') and f.finished_at < statement_timestamp() - interval '7 days'
             and f.finished_at < statement_timestamp() - case f.status when 'completed' then interval '7 days' else interval '30 days' end
           order by f.finished_at limit batch_size for update skip locked) as old
    where j.user_id = old.user_id and j.job_id = old.job_id returning 1
  )
  select count(*) into swept_jobs from swept;
  return jsonb_build_object('messages', swept_messages, 'memories', swept_memories, 'jobs', swept_jobs);
end;
$$;
comment on function memory.sweep(int) is
'Removes expired and soft-deleted messages and memories and old finished jobs, at most batch_size of each kind, and returns the counts. Run it from cron or pg_cron until the counts are 0; reads never depend on it.';
