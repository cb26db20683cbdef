-- Summaries of all kinds are chains: each is made from the one before and what is new. What its jobs read, and how their
-- results are stored.

-- The row of a summary that is being made; a retried job takes its row over, with the range as it is now.
create or replace function memory._start_summary(
  p_user_id text, p_thread_id text, p_kind text, p_start_seq bigint, p_end_seq bigint, p_base memory.summaries, p_new_agent_ids text[]
)
returns uuid
language plpgsql volatile parallel unsafe
as $$
declare
  agents text[] := array(select distinct a from unnest(p_base.agent_ids || p_new_agent_ids) as a order by a);
  processing uuid;
begin
  update memory.summaries as s
  set start_seq = p_start_seq, end_seq = p_end_seq, base_summary_id = p_base.summary_id, agent_ids = agents,
      created_at = statement_timestamp()
  where s.user_id = p_user_id and s.thread_id = p_thread_id and s.kind = p_kind and s.status = 'processing'
  returning s.summary_id into processing;
  if processing is null then
    processing := memory._uuid_v7();
    insert into memory.summaries (user_id, summary_id, kind, thread_id, start_seq, end_seq, base_summary_id, agent_ids)
    values (p_user_id, processing, p_kind, p_thread_id, p_start_seq, p_end_seq,
            p_base.summary_id, agents);
  end if;
  return processing;
end;
$$;

-- Two kinds of jobs continue the summary of a whole thread. While one is at it the other waits. No two claims look at
-- once: those of one user exclude each other (memory._room()).
create or replace function memory._check_thread_summary_is_free(p_job memory.jobs)
returns void
language plpgsql volatile parallel unsafe -- a claim has to see what it has handed out itself
as $$
begin
  if exists (select from memory.jobs as j
             where j.user_id = p_job.user_id and j.scope = p_job.scope and j.kind in ('summarize_thread', 'compress_thread')
               and j.status = 'running' and j.job_id <> p_job.job_id and j.input ->> 'chain' = 'thread') then
    raise lock_not_available using message = 'another job is summarising this thread';
  end if;
end;
$$;

create or replace function memory._check_summary(p_result jsonb)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._check_result_text('summary', p_result -> 'summary');
  if jsonb_typeof(coalesce(p_result -> 'metadata', '{}')) <> 'object' then
    perform memory._refuse_result('metadata', 'must be an object');
  -- what an archive says besides, two ids for one, fits beside it
  elsif pg_column_size(p_result -> 'metadata') > 1000000 then
    perform memory._refuse_result('metadata', format('has %s bytes, at most 1000000 are allowed',
      pg_column_size(p_result -> 'metadata')));
  elsif jsonb_path_exists(p_result, 'strict $.keyvalue() ? (@.key == "token_count").value ? (@.type() != "number" || @ < 1 || @ > 10000000 || @ != @.floor())') then
    perform memory._refuse_result('token_count', 'must be a whole number of tokens');
  elsif jsonb_path_exists(p_result, 'strict $.keyvalue() ? (@.key == "generation_time_ms").value ? (@.type() != "number" || @ < 0 || @ > 2147483647)') then
    perform memory._refuse_result('generation_time_ms', 'must be a number of milliseconds');
  end if;
end;
$$;

create or replace function memory._store_summary(p_job memory.jobs, p_result jsonb)
returns memory.summaries
language plpgsql volatile parallel unsafe
as $$
declare
  stored memory.summaries;
begin
  -- The job before its summary, in the order of delete_thread(); no append waits for either.
  perform from memory.jobs as j where j.user_id = p_job.user_id and j.job_id = p_job.job_id for update;
  update memory.summaries as s
  set status = 'completed', summary = p_result ->> 'summary', metadata = coalesce(p_result -> 'metadata', '{}'),
      search_vector = memory._text_vector((memory._policy(p_job.user_id, p_job.agent_id) #>> '{search,language}')::regconfig, p_result ->> 'summary'),
      token_count = (p_result ->> 'token_count')::int,
      generation_time_ms = (p_result ->> 'generation_time_ms')::numeric::int
  where s.user_id = p_job.user_id and s.summary_id = (p_job.input ->> 'summary_id')::uuid and s.status = 'processing'
  returning s.* into stored;
  if not found then -- cleared meanwhile, and the job with it
    perform memory._refuse_lease(p_job.job_id);
  end if;
  perform memory._drop_embedding(p_job.user_id, 'summary', stored.base_summary_id::text);
  perform memory._enqueue_embedding(p_job.user_id);
  return stored;
end;
$$;
