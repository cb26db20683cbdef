-- Functions that the kinds of summaries share.

-- Ends the summary that attempts of a job began. If the job is dead, the status of the summary becomes failed. If the
-- job is tried again (p_goes_on), the status is failed until the next attempt takes the summary up. Otherwise the row
-- is deleted, unless another running job has taken it over.
create or replace function memory._end_unfinished_summary(p_job memory.jobs, p_goes_on boolean)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  begun uuid := (p_job.input ->> 'summary_id')::uuid;
begin
  if p_goes_on or p_job.status = 'dead' then
    update memory.summaries as s set status = 'failed'
    where s.user_id = p_job.user_id and s.summary_id = begun and s.status = 'processing';
    if found then
      raise debug 'Memory % status updated to failed', begun;
    end if;
  else
    delete from memory.summaries as s
    where s.user_id = p_job.user_id and s.summary_id = begun and s.status in ('processing', 'failed')
      and not exists (
        select from memory.jobs as j
        where j.user_id = p_job.user_id and j.scope = p_job.scope and j.status = 'running'
          and j.job_id <> p_job.job_id and j.input ->> 'summary_id' = p_job.input ->> 'summary_id');
  end if;
end;
$$;

-- The newest current message of a thread; null when it has none.
create or replace function memory._newest_seq(p_user_id text, p_thread_id text)
returns bigint
language plpgsql stable parallel safe
as $$
begin
  return m.seq from memory._active_messages(p_user_id, p_thread_id, null) as m order by m.seq desc limit 1;
end;
$$;

-- Refuses a summary that does not rest on its messages and on the former summary (memory._problem_of()). Returns the
-- result without the entries of its lists that do not rest on them. A summary of the whole thread takes the place of
-- messages, so it must have a twentieth of their words, or ten words.
create or replace function memory._evident_summary(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  kind constant text := case p_job.input ->> 'chain' when 'rolling' then 'summarize_thread'
    when 'user' then 'summarize_user' else 'compress_thread' end;
  evidence constant memory._evidence := memory._evidence_of(p_job, kind, concat_ws(e'\n', memory._summarised(p_job), (
    select concat_ws(e'\n', b.summary, b.metadata - 'method') -- the summary that this one continues
    from memory.summaries as s
    join memory.summaries as b on b.user_id = s.user_id and b.summary_id = s.base_summary_id
    where s.user_id = p_job.user_id and s.summary_id = (p_job.input ->> 'summary_id')::uuid)));
  words constant int := cardinality(evidence.words);
  reason text;
  reasons text[] := array[]::text[];
  list record;
  entry jsonb;
  kept jsonb;
begin
  -- The function does not compare the marks of the points of a rolling summary, nor lines that end with a colon: such
  -- lines are headings, which the built-in model writes in English.
  reason := memory._problem_of(
    evidence, regexp_replace(p_result ->> 'summary', '^(\[seq [0-9-]+\] |[^\n]*:$)', '', 'gn'),
    case when kind = 'compress_thread' then least(ceil(words / 20.0), 10) else least(words, 1) end::int);
  if reason is not null then
    perform memory._refuse_text('summary', reason);
  end if;
  for list in
    select l.key, l.value from jsonb_each(p_result -> 'metadata') as l
    where l.key in ('topics', 'entities', 'decisions', 'questions') and jsonb_typeof(l.value) = 'array'
  loop
    kept := '[]';
    for entry in select e from jsonb_array_elements(list.value) as e limit 1000 loop
      reason := case when jsonb_typeof(entry) <> 'string' then 'malformed'
        -- A topic names its subject in words of its own, so its words are not compared.
        else memory._problem_of(evidence, entry #>> '{}', 0, list.key <> 'topics') end;
      if reason is null then
        kept := kept || jsonb_build_array(entry);
      else
        reasons := reasons || reason;
      end if;
    end loop;
    p_result := jsonb_set(p_result, array['metadata', list.key], kept);
  end loop;
  return p_result || jsonb_build_object('refusals', memory._counted_refusals(reasons));
end;
$$;

-- The text of the messages that a job's summary covers and the former summary did not. For a profile, the marks still
-- say how far each thread was read before this job.
create or replace function memory._summarised(p_job memory.jobs)
returns text
language plpgsql stable parallel safe
as $$
begin
  if p_job.input ? 'through' then
    return string_agg(memory._said_in(p_job.user_id, t.key, coalesce(k.position, -1) + 1, t.value::bigint, true), e'\n')
    from jsonb_each_text(p_job.input -> 'through') as t
    left join memory.marks as k on k.user_id = p_job.user_id and k.scope = t.key and k.kind = 'summarize_user';
  end if;
  return memory._said_in(p_job.user_id, p_job.scope, (p_job.input ->> 'from_seq')::bigint,
    coalesce(p_job.input ->> 'covers_through', p_job.input ->> 'read_through')::bigint, false);
end;
$$;
