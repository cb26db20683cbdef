create or replace function memory.claim_jobs(
  worker text, kinds text[] default null, max_jobs int default 1, lease interval default '5 minutes'
)
returns setof memory.claimed_job
language plpgsql volatile parallel unsafe security definer -- workers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  known constant text[] := array['extract_memories', 'summarize_thread'];
  -- Not the statement's time: a runner that claims again and again within one CALL would never see what became due since.
  moment constant timestamptz := clock_timestamp();
  claimed memory.jobs;
  payload jsonb;
  taken int;
  handed_out int := 0;
  last_run_after timestamptz := timestamptz '-infinity';
  last_job_id bigint := 0;
begin
  perform memory._check_id('worker', worker);
  if (kinds <@ known) is false then
    perform memory._refuse('kinds', format('%s is not a choice of kinds', kinds), 'Known kinds: ' || array_to_string(known, ', ') || '; leave it out for all.');
  end if;
  if (max_jobs between 1 and 1000) is not true then
    perform memory._refuse('max_jobs', format('%s is not between 1 and 1000', coalesce(max_jobs::text, 'null')), 'Claim what you can work on at once.');
  end if;
  if (lease > '0') is not true then
    perform memory._refuse('lease', 'must be a positive interval', 'It should outlast one model call; memory.extend_job() prolongs it.');
  end if;

  -- Workers that died: their jobs go back to the queue, or to the dead ones when this was the last attempt.
  for claimed in
    update memory.jobs as j
    set status = case when j.attempts < j.max_attempts then 'pending' else 'dead' end,
        finished_at = case when j.attempts < j.max_attempts then null else moment end,
        error = format('the lease of worker "%s" ran out in attempt %s', j.worker, j.attempts),
        lease_token = null, lease_expires_at = null
    from (select e.user_id, e.job_id from memory.jobs as e
          where e.status = 'running' and e.lease_expires_at <= moment
          order by e.lease_expires_at limit 100 for update skip locked) as expired
    where j.user_id = expired.user_id and j.job_id = expired.job_id
    returning j.*
  loop
    perform memory._after_failure(claimed);
  end loop;

  -- Until there are enough or none is left: a worker may take an empty answer for an empty queue, so jobs that turn out
  -- to have nothing to do do not count.
  loop
    taken := 0;
    for claimed in
      with next as materialized (
        select p.user_id, p.job_id from memory.jobs as p
        where p.status = 'pending' and p.run_after <= moment and (kinds is null or p.kind = any (kinds))
          and (p.run_after, p.job_id) > (last_run_after, last_job_id) -- not over the dead entries of those already taken
        order by p.run_after, p.job_id limit max_jobs - handed_out for update skip locked
      )
      update memory.jobs as j
      set status = 'running', attempts = j.attempts + 1, rerun = false, worker = claim_jobs.worker,
          lease_token = gen_random_uuid(), lease_expires_at = moment + lease
      from next where j.user_id = next.user_id and j.job_id = next.job_id
      returning j.*
    loop
      taken := taken + 1;
      if (claimed.run_after, claimed.job_id) > (last_run_after, last_job_id) then
        last_run_after := claimed.run_after;
        last_job_id := claimed.job_id;
      end if;
      -- A fresh statement, hence a fresh snapshot: the input is read after the job was claimed.
      payload := case claimed.kind when 'extract_memories' then memory._extraction_payload(claimed)
                                   when 'summarize_thread' then memory._summary_payload(claimed) end;
      if payload is null then -- nothing new to work on: done without a model
        delete from memory.summaries as s
        where s.user_id = claimed.user_id and s.summary_id = (claimed.arguments ->> 'summary_id')::uuid and s.status = 'processing';
        update memory.jobs as j
        set status = 'completed', result = '{"skipped": "nothing new"}', error = null, finished_at = moment, lease_token = null, lease_expires_at = null
        where j.user_id = claimed.user_id and j.job_id = claimed.job_id;
      else
        handed_out := handed_out + 1;
        return next row(claimed.job_id, claimed.kind, claimed.user_id, claimed.lease_token, claimed.attempts, payload)::memory.claimed_job;
      end if;
    end loop;
    exit when taken = 0 or handed_out = max_jobs;
  end loop;
end;
$$;
comment on function memory.claim_jobs(text, text[], int, interval) is
'Hands up to max_jobs due jobs to a worker, with all the input a model needs. Commit before calling the model; then complete_job, fail_job or release_job with the lease_token. A job whose lease runs out is handed out again. See docs/jobs.md for payloads and results.';

-- The chat model for a job: the one a policy names, else the active one.
create or replace function memory._chat_model(name text)
returns jsonb
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('name', m.name, 'provider', m.provider, 'model', m.model, 'settings', m.settings)
  from memory.models as m where m.kind = 'chat' and (m.name = _chat_model.name or m.is_active)
  order by m.name is distinct from _chat_model.name limit 1;
end;
$$;

-- Messages as jobs hand them out. A jsonb array holds 256 MiB and models read far less, so long contents are cut.
create or replace function memory._message_payload(user_id text, thread_id text, from_seq bigint, to_seq bigint, row_limit int)
returns table (messages jsonb, last_seq bigint)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('seq', m.seq, 'role', m.role, 'name', left(m.metadata ->> 'name', 255), 'content', left(m.content, 65536), 'created_at', m.created_at))
                   order by m.seq),
    max(m.seq)
  from (select * from memory.messages as v
        where v.user_id = _message_payload.user_id and v.thread_id = _message_payload.thread_id
          and v.seq between from_seq and to_seq and v.is_active and v.expires_at > statement_timestamp()
        order by v.seq limit row_limit) as m;
end;
$$;

-- Messages since the last extraction, at most 200 at a time; complete_job queues the rest.
create or replace function memory._extraction_payload(job memory.jobs)
returns jsonb
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  from_seq bigint;
  input record;
begin
  select coalesce(max(e.extracted_seq), -1) + 1 into from_seq
  from memory.extraction_marks as e where e.user_id = job.user_id and e.thread_id = job.scope;
  if job.arguments ? 'recent_k' then
    select greatest(from_seq, t.next_seq - (job.arguments ->> 'recent_k')::bigint) into from_seq
    from memory.threads as t where t.user_id = job.user_id and t.thread_id = job.scope;
  end if;
  select * into input from memory._message_payload(job.user_id, job.scope, from_seq, 9223372036854775807, 200);
  if input.messages is null then
    return null;
  end if;
  update memory.jobs as j set arguments = j.arguments || jsonb_build_object(
    'from_seq', from_seq, 'through_seq', input.last_seq, 'is_partial', jsonb_array_length(input.messages) = 200)
  where j.user_id = job.user_id and j.job_id = job.job_id;
  return jsonb_build_object(
    'model', memory._chat_model(null), 'thread_id', job.scope, 'messages', input.messages,
    'memory_types', (select jsonb_agg(jsonb_build_object('memory_type', t.memory_type, 'description', t.description) order by t.position, t.memory_type)
                     from memory.memory_types as t));
end;
$$;

-- The window of the rolling summary: the last window_size messages, starting at an even seq so that a question keeps its answer.
create or replace function memory._summary_start(end_seq bigint, window_size bigint)
returns bigint
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select least(start_seq + start_seq % 2, end_seq) from (select greatest(0, end_seq - window_size + 1)) as w (start_seq)
$$;

-- What is new since the previous summary, plus that summary. Writes the summary's row as processing; a retried job
-- takes its row over, with the window as it is now.
create or replace function memory._summary_payload(job memory.jobs)
returns jsonb
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  policy jsonb;
  base memory.summaries;
  ends_round boolean;
  window_start bigint;
  window_end bigint;
  input record;
  agents text[];
  processing uuid;
begin
  -- Up to the last finished round: a question that is being answered right now belongs to the next summary. A thread
  -- that knows no rounds is summarised to its end.
  for ends_round in select unnest('{true,false}'::boolean[]) loop
    select m.seq, memory._policy(m.user_id, m.agent_id) into window_end, policy
    from memory.messages as m
    where m.user_id = job.user_id and m.thread_id = job.scope and m.is_active and m.expires_at > statement_timestamp()
      and (not ends_round or m.role = 'assistant' and not m.metadata ? 'tool_calls')
    order by m.seq desc limit 1;
    exit when found;
  end loop;
  if window_end is null then
    return null;
  end if;
  window_start := memory._summary_start(window_end, (policy #>> '{summary,window_size}')::bigint);
  select s.* into base from memory.summaries as s
  where s.user_id = job.user_id and s.thread_id = job.scope and s.status = 'completed' order by s.end_seq desc limit 1;
  select * into input
  from memory._message_payload(job.user_id, job.scope, greatest(window_start, coalesce(base.end_seq + 1, 0)), window_end, null);
  if input.messages is null then
    return null;
  end if;

  select array_agg(distinct a.agent_id) into agents
  from (select unnest(base.agent_ids) as agent_id
        union all
        select m.agent_id from memory.messages as m
        where m.user_id = job.user_id and m.thread_id = job.scope and m.seq between coalesce(base.end_seq + 1, window_start) and window_end) as a;
  update memory.summaries as s
  set start_seq = window_start, end_seq = window_end, base_summary_id = base.summary_id, agent_ids = agents, created_at = statement_timestamp()
  where s.user_id = job.user_id and s.thread_id = job.scope and s.status = 'processing'
  returning s.summary_id into processing;
  if processing is null then
    processing := memory._uuid_v7();
    insert into memory.summaries (user_id, summary_id, thread_id, start_seq, end_seq, base_summary_id, agent_ids)
    values (job.user_id, processing, job.scope, window_start, window_end, base.summary_id, agents);
  end if;
  update memory.jobs as j set arguments = j.arguments || jsonb_build_object('summary_id', processing)
  where j.user_id = job.user_id and j.job_id = job.job_id;
  return jsonb_build_object(
    'model', memory._chat_model(policy #>> '{summary,model}'), 'thread_id', job.scope, 'messages', input.messages,
    'start_seq', window_start, 'end_seq', window_end, 'previous_summary', base.summary, 'previous_end_seq', base.end_seq);
end;
$$;
