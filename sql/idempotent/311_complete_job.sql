create or replace function memory.complete_job(user_id text, job_id bigint, lease_token uuid, result jsonb)
returns void
language plpgsql volatile parallel unsafe security definer -- workers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  job memory.jobs;
  outcome jsonb;
begin
  -- Not locked yet: the job's row comes last, so that a job holds no lock that an append waits for while it applies its
  -- result. Two completions of one lease are told apart by the update at the end, which undoes the loser.
  job := memory._leased_job(user_id, job_id, lease_token);
  if jsonb_typeof(result) is distinct from 'object' then
    perform memory._refuse('result', 'must be a JSON object', 'See docs/jobs.md for the result of each kind.');
  end if;
  case job.kind
    when 'extract_memories' then outcome := memory._apply_extraction(job, result);
    when 'summarize_thread' then outcome := memory._apply_summary(job, result);
  end case;
  update memory.jobs as j
  set status = 'completed', result = outcome, error = null, finished_at = clock_timestamp(), lease_token = null, lease_expires_at = null
  where j.user_id = complete_job.user_id and j.job_id = complete_job.job_id and j.lease_token = complete_job.lease_token and j.status = 'running'
  returning j.* into job;
  if not found then
    perform memory._refuse_lease(job_id);
  end if;
  perform memory._enqueue_next(job);
end;
$$;
comment on function memory.complete_job(text, bigint, uuid, jsonb) is
'Stores the result of a job: validated whole, applied in this transaction, once. Error AM001 when the lease was lost to another worker, 22023 when the result is not what the job''s kind asks for (then call fail_job).';

create or replace function memory._refuse_lease(job_id bigint)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._refuse('lease_token', format('job %s is not yours (any more)', coalesce(job_id::text, 'null')),
    'Its lease ran out or it was finished; drop the result and claim again.', 'AM001');
end;
$$;

create or replace function memory._leased_job(user_id text, job_id bigint, lease_token uuid)
returns memory.jobs
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  job memory.jobs;
begin
  perform memory._check_id('user_id', user_id);
  select j.* into job from memory.jobs as j
  where j.user_id = _leased_job.user_id and j.job_id = _leased_job.job_id and j.lease_token = _leased_job.lease_token and j.status = 'running';
  if not found then
    perform memory._refuse_lease(job_id);
  end if;
  return job;
end;
$$;

-- What should follow a finished job: the run that was asked for meanwhile, or the messages that it did not read.
create or replace function memory._enqueue_next(job memory.jobs)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  every_n int;
  waiting bigint;
begin
  if job.kind = 'extract_memories' and not job.rerun and job.status = 'completed' then
    select (memory._policy(m.user_id, m.agent_id) #>> '{cadence,fact_extraction_every_n}')::int into every_n
    from memory.messages as m where m.user_id = job.user_id and m.thread_id = job.scope order by m.seq desc limit 1;
    select t.next_seq - 1 - (job.arguments ->> 'through_seq')::bigint into waiting
    from memory.threads as t where t.user_id = job.user_id and t.thread_id = job.scope;
    job.rerun := coalesce(waiting > 0 and (job.arguments ->> 'is_partial')::boolean or every_n > 0 and waiting >= every_n, false);
  end if;
  if job.rerun then
    perform memory._enqueue(job.user_id, job.kind, job.scope);
  end if;
end;
$$;

-- A part of a model's reply that is not what was asked for: the whole reply is refused.
create or replace function memory._refuse_result(path text, problem text)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._refuse('result', format('%s %s', path, problem), 'Nothing of it was stored; call memory.fail_job() so that the job is tried again.');
end;
$$;

create or replace function memory._apply_extraction(job memory.jobs, result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  from_seq bigint := (job.arguments ->> 'from_seq')::bigint;
  through_seq bigint := (job.arguments ->> 'through_seq')::bigint;
  item record;
  counts record;
begin
  if jsonb_typeof(result -> 'memories') is distinct from 'array' then
    perform memory._refuse_result('memories', 'must be an array');
  end if;
  for item in
    select i.position - 1 as position, i.value from jsonb_array_elements(result -> 'memories') with ordinality as i (value, position)
  loop
    if jsonb_typeof(item.value) <> 'object' then
      perform memory._refuse_result(format('memories[%s]', item.position), 'must be an object');
    elsif (jsonb_typeof(item.value -> 'content') = 'string' and item.value ->> 'content' ~ e'\\S') is not true then
      perform memory._refuse_result(format('memories[%s].content', item.position), 'must be a text that is not empty');
    elsif octet_length(item.value ->> 'content') > 262144 then
      perform memory._refuse_result(format('memories[%s].content', item.position),
        format('has %s bytes, at most 262144 are allowed', octet_length(item.value ->> 'content')));
    elsif jsonb_typeof(item.value -> 'memory_type') is distinct from 'string'
      or not exists (select from memory.memory_types as t where t.memory_type = item.value ->> 'memory_type') then
      perform memory._refuse_result(format('memories[%s].memory_type', item.position),
        'must be one of ' || (select string_agg(t.memory_type, ', ' order by t.position, t.memory_type) from memory.memory_types as t));
    -- Strict, or else an array of numbers would pass for a number.
    elsif jsonb_path_exists(item.value, 'strict $.keyvalue() ? (@.key == "confidence" || @.key == "importance").value ? (@.type() != "number" || @ < 0 || @ > 1)') then
      perform memory._refuse_result(format('memories[%s]', item.position), 'has a confidence or importance that is not a number from 0 to 1');
    elsif jsonb_typeof(item.value -> 'seqs') is distinct from 'array' or item.value -> 'seqs' = '[]'
      or jsonb_path_exists(item.value, 'strict $.seqs[*] ? (@.type() != "number" || @ < $first || @ > $last || @.floor() != @)',
                           jsonb_build_object('first', from_seq, 'last', through_seq)) then
      perform memory._refuse_result(format('memories[%s].seqs', item.position),
        format('must name messages of the job, %s to %s', from_seq, through_seq));
    end if;
  end loop;

  -- Each memory belongs to the agent that heard it. Agents in one order, because storing locks the agent's counter.
  with found as (
    select i.position, i.value, coalesce(m.agent_id, 'default') as agent_id
    from jsonb_array_elements(result -> 'memories') with ordinality as i (value, position)
    left join memory.messages as m
      on m.user_id = job.user_id and m.thread_id = job.scope and m.seq = (i.value #>> '{seqs,0}')::numeric::bigint
  ), stored as (
    insert into memory.memories (user_id, agent_id, memory_type, content, confidence, importance, thread_id, source_seqs, source, valid_from)
    select job.user_id, f.agent_id, f.value ->> 'memory_type', f.value ->> 'content',
      -- Rounded, because a number too small for a real is an error.
      coalesce(round((f.value ->> 'confidence')::numeric, 6)::real, 1.0), coalesce(round((f.value ->> 'importance')::numeric, 6)::real, 0.5), job.scope,
      array(select s::numeric::bigint from jsonb_array_elements_text(f.value -> 'seqs') as s), 'extraction',
      -- Known since it was said, which for an imported conversation is long before it was read.
      (select max(m.created_at) from memory.messages as m
       where m.user_id = job.user_id and m.thread_id = job.scope
         and m.seq in (select s::numeric::bigint from jsonb_array_elements_text(f.value -> 'seqs') as s))
    from found as f order by f.agent_id, f.position
    on conflict do nothing
    returning agent_id
  ), skipped as (
    select f.agent_id, count(*) - (select count(*) from stored as s where s.agent_id = f.agent_id) as duplicates
    from found as f group by f.agent_id
  )
  select (select count(*) from stored) as inserted, coalesce(sum(d.duplicates), 0) as duplicates,
    array_agg(d.agent_id) as agents, array_agg(d.duplicates) as duplicates_of_agents
  into counts from skipped as d;
  -- A statement of its own: the one above does not see the counters that its triggers made.
  update memory.memory_scopes as s set duplicates_skipped = s.duplicates_skipped + d.duplicates
  from unnest(counts.agents, counts.duplicates_of_agents) as d (agent_id, duplicates)
  where s.user_id = job.user_id and s.agent_id = d.agent_id and d.duplicates > 0;

  insert into memory.extraction_marks as e (user_id, thread_id, extracted_seq) values (job.user_id, job.scope, through_seq)
  on conflict on constraint extraction_marks_pkey do update set extracted_seq = greatest(e.extracted_seq, excluded.extracted_seq);
  return jsonb_build_object('inserted', counts.inserted, 'duplicates', counts.duplicates, 'through_seq', through_seq);
end;
$$;

create or replace function memory._apply_summary(job memory.jobs, result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  stored memory.summaries;
begin
  if (jsonb_typeof(result -> 'summary') = 'string' and result ->> 'summary' ~ e'\\S') is not true then
    perform memory._refuse_result('summary', 'must be a text that is not empty');
  elsif octet_length(result ->> 'summary') > 262144 then
    perform memory._refuse_result('summary', format('has %s bytes, at most 262144 are allowed', octet_length(result ->> 'summary')));
  elsif jsonb_typeof(coalesce(result -> 'metadata', '{}')) <> 'object' then
    perform memory._refuse_result('metadata', 'must be an object');
  elsif pg_column_size(result -> 'metadata') > 1048576 then
    perform memory._refuse_result('metadata', format('has %s bytes, at most 1048576 are allowed', pg_column_size(result -> 'metadata')));
  elsif jsonb_path_exists(result, 'strict $.keyvalue() ? (@.key == "generation_time_ms").value ? (@.type() != "number" || @ < 0 || @ > 2147483647)') then
    perform memory._refuse_result('generation_time_ms', 'must be a number of milliseconds');
  end if;
  -- The job before its summary, in the order of delete_thread(); no append waits for either.
  perform from memory.jobs as j where j.user_id = job.user_id and j.job_id = job.job_id for update;
  update memory.summaries as s
  set status = 'completed', summary = result ->> 'summary', metadata = coalesce(result -> 'metadata', '{}'),
      generation_time_ms = (result ->> 'generation_time_ms')::numeric::int
  where s.user_id = job.user_id and s.summary_id = (job.arguments ->> 'summary_id')::uuid and s.status = 'processing'
  returning s.* into stored;
  return jsonb_build_object('summary_id', stored.summary_id, 'start_seq', stored.start_seq, 'end_seq', stored.end_seq);
end;
$$;
