-- Summaries of every kind form chains: each summary is made from the summary before and from new messages. Jobs of
-- several kinds make them with these functions.

-- Creates the row of a summary that a job is about to make. A job that is tried again takes over the row that its
-- earlier attempt left unfinished, with the range of messages as it is now.
create or replace function memory._start_summary(
  p_user_id text, p_thread_id text, p_kind text, p_start_seq bigint, p_end_seq bigint, p_base memory.summaries,
  p_new_agent_ids text[], p_job memory.jobs
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
      created_at = statement_timestamp(), status = 'processing'
  where s.user_id = p_user_id and s.summary_id = (
    select u.summary_id from memory.summaries as u
    where u.user_id = p_user_id and u.thread_id = p_thread_id and u.kind = p_kind
      and (u.status = 'processing'
           -- A failed attempt of this job left this row. After memory.retry_job() of a dead job a new row is made.
           or u.status = 'failed' and u.summary_id = (p_job.input ->> 'summary_id')::uuid)
    order by u.status desc limit 1)
  returning s.summary_id into processing;
  if processing is null then
    processing := memory._uuid_v7();
    insert into memory.summaries (user_id, summary_id, kind, thread_id, start_seq, end_seq, base_summary_id, agent_ids)
    values (p_user_id, processing, p_kind, p_thread_id, p_start_seq, p_end_seq, p_base.summary_id, agents);
  end if;
  return processing;
end;
$$;

-- Puts a job off while another job continues the same summary of a thread, which can happen because jobs of two kinds
-- write the summary of a whole thread. No two claims make this test at the same time, because the claims of one user
-- exclude each other (memory._room()).
create or replace function memory._check_summary_is_free(p_job memory.jobs, p_chain text)
returns void
language plpgsql volatile parallel unsafe -- volatile, so that a claim sees the jobs that it has handed out itself
as $$
begin
  if exists (select from memory.jobs as j
             where j.user_id = p_job.user_id and j.scope = p_job.scope
               and j.kind in ('summarize_thread', 'compress_thread') and j.status = 'running'
               and j.job_id <> p_job.job_id and j.input ->> 'chain' = p_chain) then
    raise debug 'Summarization already in progress for %', memory._in_a_line(p_job.scope);
    raise lock_not_available using message = 'another job is summarising this thread';
  end if;
end;
$$;

-- Refuses an unknown kind of summary of a thread. Null passes. p_default says in the hint which kind null stands for.
create or replace function memory._check_summary_kind(p_kind text, p_default text)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if p_kind not in ('thread', 'rolling') then
    perform memory._refuse('kind', format('unknown kind "%s"', left(p_kind, 50)),
      format('Use thread or rolling, or leave it out for %s.', p_default));
  end if;
end;
$$;

-- The tokens of the messages since the newest summary of a thread, added up from these messages.
create or replace function memory._tokens_since_summary(p_user_id text, p_thread_id text)
returns bigint
language plpgsql stable parallel safe
as $$
begin
  return memory._tokens_between(p_user_id, p_thread_id, coalesce(greatest(
    (memory._latest_summary(p_user_id, p_thread_id, 'rolling')).end_seq,
    (memory._latest_summary(p_user_id, p_thread_id, 'thread')).end_seq) + 1, 0), 9223372036854775807);
end;
$$;

-- Refuses a result that is no summary, or in which a rule finds signs of an attack, because a message may have talked
-- the model into writing an attack. The rule judges a summary with the trust of an assistant. Until another attempt
-- succeeds, contexts show the messages and the former summary. Summaries of the built-in model are not judged: this
-- model copies sentences, which were judged as messages, and would make the same summary in each attempt.
create or replace function memory._check_summary(p_job memory.jobs, p_result jsonb)
returns void
language plpgsql stable parallel safe
as $$
declare
  signs text;
begin
  perform memory._check_result_text('summary', p_result -> 'summary');
  if jsonb_typeof(coalesce(p_result -> 'metadata', '{}')) <> 'object' then
    perform memory._refuse_result('metadata', 'must be an object');
  -- An archived conversation copies the metadata and adds ids, dates and numbers; together they may have 1 MiB.
  elsif pg_column_size(p_result -> 'metadata') > 1000000 then
    perform memory._refuse_result('metadata',
      format('has %s bytes, at most 1000000 are allowed', pg_column_size(p_result -> 'metadata')));
  -- A comparison with two numbers lets only numbers pass, because jsonb sorts each type apart from the others.
  elsif p_result -> 'token_count' not between jsonb '1' and jsonb '10000000'
    or (p_result ->> 'token_count')::numeric <> floor((p_result ->> 'token_count')::numeric) then
    perform memory._refuse_result('token_count', 'must be a whole number of tokens');
  elsif p_result -> 'generation_time_ms' not between jsonb '0' and jsonb '2147483647' then
    perform memory._refuse_result('generation_time_ms', 'must be a number of milliseconds');
  end if;
  signs := memory._verdict(p_result ->> 'summary', memory._source_trust('assistant'));
  if signs is not null and (memory._policy_section(p_job.user_id, null, 'trust') ->> 'rules')::boolean
    and not exists (
      select from memory.models as m
      where m.kind = 'chat' and m.name = p_job.input ->> 'model' and m.provider = 'local') then
    perform memory._refuse_result('summary', format('looks like an attack on a model (%s)', signs));
  end if;
end;
$$;

-- Stores the text of a summary whose row memory._start_summary() has created.
create or replace function memory._store_summary(p_job memory.jobs, p_result jsonb)
returns memory.summaries
language plpgsql volatile parallel unsafe
as $$
declare
  stored memory.summaries;
begin
  -- The job is locked before its summary, in the order of delete_thread(); no append waits for either.
  perform from memory.jobs as j where j.user_id = p_job.user_id and j.job_id = p_job.job_id for update;
  update memory.summaries as s
  set status = 'completed', summary = p_result ->> 'summary', metadata = coalesce(p_result -> 'metadata', '{}'),
      token_count = (p_result ->> 'token_count')::int,
      generation_time_ms = (p_result ->> 'generation_time_ms')::numeric::int
  where s.user_id = p_job.user_id and s.summary_id = (p_job.input ->> 'summary_id')::uuid and s.status = 'processing'
  returning s.* into stored;
  if not found then -- the thread was cleared, and its summaries and jobs with it
    perform memory._refuse_lease(p_job.job_id);
  end if;
  perform memory._log_summary(stored);
  return stored;
end;
$$;

-- Logs which messages a summary covers and how long it took: the time that the model reports, or else the time since
-- the claim. PostgreSQL sends lines at level INFO to the client that runs the statement, such as a worker, and writes
-- them into the server's log only if log_min_messages is info or lower. Otherwise the function writes them at level
-- LOG, the level at which the server reports its own work.
create or replace function memory._log_summary(p_summary memory.summaries)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  thread constant text := memory._in_a_line(p_summary.thread_id);
  line text;
begin
  raise debug 'Memory % status updated to %', p_summary.summary_id, p_summary.status;
  if p_summary.kind not in ('rolling', 'thread') then
    return;
  end if;
  foreach line in array array_remove(array[
    case when p_summary.kind = 'rolling'
        and p_summary.start_seq > memory._seq_after_opening(p_summary.user_id, p_summary.thread_id)
      then format('Sliding window: dropping seq 0-%s for %s', p_summary.start_seq - 1, thread) end,
    format('Summarized messages %s-%s for %s in %sms', p_summary.start_seq, p_summary.end_seq, thread,
      coalesce(p_summary.generation_time_ms,
               round(extract(epoch from clock_timestamp() - p_summary.created_at) * 1000)))], null)
  loop
    raise info '%', line;
    if current_setting('log_min_messages') in ('notice', 'warning', 'error', 'log') then
      raise log '%', line;
    end if;
  end loop;
end;
$$;
