create or replace function memory.claim_jobs(
  worker text, kinds text[] default null, max_jobs int default 1, lease interval default '5 minutes'
)
returns setof memory.claimed_job
language plpgsql volatile parallel unsafe security definer -- workers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  known constant text[] := array['extract_memories', 'summarize_thread', 'compress_thread', 'summarize_user', 'reconcile_memories', 'consolidate', 'embed'];
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

  -- Workers that died: their jobs go back to the queue, or to the dead ones when this was the last attempt. What they
  -- called may have been paid for, so the ledger shows it.
  for claimed in
    update memory.jobs as j
    set status = case when j.attempts < j.max_attempts then 'pending' else 'dead' end,
        finished_at = case when j.attempts < j.max_attempts then null else moment end,
        error = format('the lease of worker "%s" ran out in attempt %s', j.worker, j.attempts),
        tokens_reserved = 0, lease_token = null, lease_expires_at = null
    from (select e.user_id, e.job_id from memory.jobs as e
          where e.status = 'running' and e.lease_expires_at <= moment
          order by e.lease_expires_at limit 100 for update skip locked) as expired
    where j.user_id = expired.user_id and j.job_id = expired.job_id
    returning j.*
  loop
    perform memory._enter_calls(claimed, jsonb_build_array(jsonb_build_object('error', claimed.error)));
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
      set status = 'running', attempts = j.attempts + 1, next_request = null, worker = claim_jobs.worker,
          lease_token = gen_random_uuid(), lease_expires_at = moment + lease
      from next where j.user_id = next.user_id and j.job_id = next.job_id
      returning j.*
    loop
      taken := taken + 1;
      if (claimed.run_after, claimed.job_id) > (last_run_after, last_job_id) then
        last_run_after := claimed.run_after;
        last_job_id := claimed.job_id;
      end if;
      payload := memory._hand_out(claimed);
      if payload is not null then
        handed_out := handed_out + 1;
        return next row(claimed.job_id, claimed.kind, claimed.user_id, claimed.lease_token, claimed.attempts, payload)::memory.claimed_job;
      end if;
    end loop;
    exit when taken = 0 or handed_out = max_jobs;
  end loop;
end;
$$;
comment on function memory.claim_jobs(text, text[], int, interval) is
'Hands up to max_jobs due jobs to a worker, with all the input a model needs. Commit before calling the model; then complete_job, fail_job or release_job with the lease_token. A job whose lease runs out is handed out again; one whose budget is spent waits for the next day. See docs/jobs.md for payloads and results.';

-- The payload of a job just claimed, read with a snapshot younger than the claim. Null when it is not handed out: there
-- is nothing to do, the budget is spent, its thread is being summarised by another job, or its input cannot be read.
create or replace function memory._hand_out(job memory.jobs)
returns jsonb
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  handed record;
  wait_until timestamptz;
  reason text;
begin
  begin
    select * into handed from memory._job_input(job);
    if handed.payload is not null then
      perform memory._check_budget(job.user_id, handed.agent_id, handed.payload -> 'model', handed.tokens);
      update memory.jobs as j
      set input = handed.input || jsonb_build_object('model', handed.payload #> '{model,name}'), agent_id = handed.agent_id,
          tokens_reserved = case handed.payload #>> '{model,provider}' when 'local' then 0 else handed.tokens end,
          error = case when j.error not like 'AM002%' then j.error end
      where j.user_id = job.user_id and j.job_id = job.job_id;
      if handed.input ->> 'summary_id' is distinct from job.input ->> 'summary_id' then -- of another kind than in the attempt before
        perform memory._drop_unfinished_summary(job);
      end if;
      return handed.payload;
    end if;
  exception
    when sqlstate 'AM002' then
      wait_until := date_trunc('day', clock_timestamp(), 'UTC') + interval '1 day';
      reason := 'AM002: ' || sqlerrm;
    when lock_not_available or deadlock_detected or serialization_failure or unique_violation or foreign_key_violation then -- the last one: what it goes on from was just cleared
      wait_until := clock_timestamp() + interval '5 seconds';
      reason := sqlerrm;
    when others then -- one bad job must not hold up all others
      perform memory.fail_job(job.user_id, job.job_id, job.lease_token, 'it cannot be handed out: ' || sqlerrm, null, '[]');
      return null;
  end;

  if wait_until is null or reason like 'AM002%' then -- the row of an earlier attempt
    perform memory._drop_unfinished_summary(job);
  end if;
  if wait_until is null then -- nothing to work on: done without a model
    update memory.jobs as j
    set status = 'completed', result = '{"skipped": "nothing new"}', error = null, finished_at = clock_timestamp(), lease_token = null, lease_expires_at = null
    where j.user_id = job.user_id and j.job_id = job.job_id;
  else
    update memory.jobs as j
    set status = 'pending', attempts = j.attempts - 1, run_after = wait_until, error = reason, lease_token = null, lease_expires_at = null
    where j.user_id = job.user_id and j.job_id = job.job_id;
  end if;
  return null;
end;
$$;

-- The row of a summary that an earlier attempt began, unless another job has taken it over.
create or replace function memory._drop_unfinished_summary(job memory.jobs)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from memory.summaries as s
  where s.user_id = job.user_id and s.summary_id = (job.input ->> 'summary_id')::uuid and s.status = 'processing'
    and not exists (select from memory.jobs as j
                    where j.user_id = job.user_id and j.scope = job.scope and j.status = 'running' and j.job_id <> job.job_id
                      and j.input ->> 'summary_id' = job.input ->> 'summary_id');
end;
$$;

-- payload: for the worker. input: what completing the job needs. tokens: what a call needs at least.
create or replace function memory._job_input(job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  found_input record;
begin
  case job.kind
    when 'extract_memories' then select * into found_input from memory._extraction_input(job);
    when 'summarize_thread' then select * into found_input from memory._summary_input(job);
    when 'compress_thread' then select * into found_input from memory._compression_input(job);
    when 'summarize_user' then select * into found_input from memory._user_summary_input(job);
    when 'reconcile_memories' then select * into found_input from memory._reconciliation_input(job);
    when 'consolidate' then select * into found_input from memory._consolidation_input(job);
    when 'embed' then select * into found_input from memory._embedding_input(job);
  end case;
  payload := found_input.payload;
  input := found_input.input;
  agent_id := found_input.agent_id;
  tokens := coalesce(found_input.tokens, 0);
end;
$$;

-- The chat model for a job (the one a policy names, else the active one) and what it is asked. The built-in model asks
-- itself nothing.
create or replace function memory._chat_model(name text, prompt text)
returns jsonb
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
    'model', jsonb_build_object('name', m.name, 'provider', m.provider, 'model', m.model, 'settings', m.settings),
    'prompt', case when m.provider <> 'local' then memory._prompt(prompt) end)
  from memory.models as m where m.kind = 'chat' and (m.name = _chat_model.name or m.is_active)
  order by m.name is distinct from _chat_model.name limit 1;
end;
$$;

-- Messages as jobs hand them out: those that are readable, and those that gave way to a summary before this job could
-- read them. What was recalled from memory is taken out for speakers_only, which also leaves out who does not speak for
-- themselves: system and tool. A jsonb array holds 256 MiB and models read far less, so long contents are cut, and so is
-- the number of messages and of tokens; prompts show 8,000 characters of a message, about 2,000 tokens.
create or replace function memory._message_payload(
  user_id text, thread_id text, from_seq bigint, to_seq bigint, speakers_only boolean, row_limit int, token_limit int,
  out messages jsonb, out last_seq bigint, out is_partial boolean, out agent_ids text[], out tokens int
)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  select jsonb_agg(memory._message_json(r.source, r.said) order by r.seq) filter (where r.fits), max(r.seq) filter (where r.fits),
    coalesce(bool_or(not r.fits), false), array_agg(distinct (r.source).agent_id) filter (where r.fits), sum(least((r.source).token_count, 2000)) filter (where r.fits)
  into messages, last_seq, is_partial, agent_ids, tokens
  from (
    select v.seq, v.source, v.said,
      row_number() over so_far <= coalesce(row_limit, 2147483647)
        and (sum(least((v.source).token_count, 2000)) over so_far <= coalesce(token_limit, 2147483647) or row_number() over so_far = 1) as fits
    from (select m.seq, m as source, case when speakers_only then memory._without_recalled(left(m.content, 65536)) else m.content end as said
          from memory.messages as m
          where m.user_id = _message_payload.user_id and m.thread_id = _message_payload.thread_id and m.seq between from_seq and to_seq
            and (m.is_active or m.summary_id is not null) and m.expires_at > statement_timestamp()
            and (not speakers_only or m.role in ('user', 'assistant') and m.metadata ->> 'recalled' is distinct from 'true')
          order by m.seq) as v
    where not speakers_only or v.said ~ e'\\S'
    window so_far as (order by v.seq)
    limit row_limit + 1
  ) as r;
end;
$$;

create or replace function memory._message_json(message memory.messages, said text)
returns jsonb
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'seq', message.seq, 'role', message.role, 'name', left(message.metadata ->> 'name', 255), 'content', left(said, 65536),
    'created_at', message.created_at, 'token_count', message.token_count,
    'tool_calls', case when octet_length(message.metadata ->> 'tool_calls') <= 65536 then message.metadata -> 'tool_calls' end,
    'is_counted', nullif(message.is_counted, false),
    -- Not countable from here.
    'is_cut', nullif(said <> message.content or length(said) > 65536 or octet_length(message.metadata ->> 'tool_calls') > 65536, false)));
end;
$$;

-- What an application put into a message from memory is not said anew: the memory block, summaries, placeholders.
create or replace function memory._without_recalled(content text)
returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if content !~ '## Your Memories|MemoryRef:|Summary of the conversation so far:|What is known about the user:|Previous context:' then
    return content;
  end if;
  content := replace(content, e'\r\n', e'\n');
  content := regexp_replace(content, e'## Your Memories[ \\t]*(\\n[ \\t]*(\\*\\*[^\\n]*:\\*\\*|\\d+\\. [^\\n]*)?(?=\\n|$))*', '', 'g');
  content := regexp_replace(content, e'\\[MemoryRef: [^\\]]*\\]', '', 'g');
  content := regexp_replace(content, e'(Summary of the conversation so far|What is known about the user):\\n([^\\n]*\\S[^\\n]*(\\n|$))*', '', 'g');
  return regexp_replace(content, e'\\[Previous context: .*?\\](\\n\\n|$)', '', 'g');
end;
$$;
