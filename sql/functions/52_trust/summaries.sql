-- Summaries in quarantine have a status of their own, so nobody who reads completed summaries sees them, and the next
-- summary continues the one before. Those that models make are judged before they are stored
-- (memory._check_summary()); these are older ones, and those that somebody puts there.

-- Puts completed summaries into quarantine, has them made anew of the messages that are left, and returns how many they
-- were. The messages of a user's summary are read again from the beginning. Marks, jobs and summaries are locked in
-- this order.
create or replace function memory._quarantine_summaries(p_user_id text, p_summary_ids uuid[], p_reasons text[])
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  quarantined uuid[];
begin
  delete from memory.marks as k
  where k.user_id = p_user_id and k.kind = 'summarize_user' and exists (
    select from memory.summaries as s
    where s.user_id = p_user_id and s.summary_id = any (p_summary_ids) and s.kind = 'user' and s.status = 'completed');
  perform case s.kind
      when 'user' then memory._enqueue(p_user_id, 'summarize_user', '')
      else memory._enqueue(p_user_id, 'summarize_thread', s.thread_id, '{"is_forced": true}', s.kind) end
  from (
    select distinct s.kind, s.thread_id from memory.summaries as s
    where s.user_id = p_user_id and s.summary_id = any (p_summary_ids) and s.status = 'completed') as s;
  with gone as (
    update memory.summaries as s
    set status = 'quarantined', quarantined_at = statement_timestamp(), quarantine_reason = left(r.reason, 1000)
    from unnest(p_summary_ids, p_reasons) as r (summary_id, reason)
    where s.user_id = p_user_id and s.summary_id = r.summary_id and s.status = 'completed'
    returning s.summary_id
  )
  select array_agg(g.summary_id) into quarantined from gone as g;
  perform memory._drop_embeddings(p_user_id, 'summary', quarantined::text[]);
  return coalesce(cardinality(quarantined), 0);
end;
$$;

-- A summary and all summaries that continue it.
create or replace function memory._continued_by(p_user_id text, p_summary_id uuid)
returns uuid[]
language plpgsql stable parallel safe
as $$
begin
  return array(
    with recursive chain as (
      select p_summary_id as summary_id
      union
      select s.summary_id from chain as c
      join memory.summaries as s on s.user_id = p_user_id and s.base_summary_id = c.summary_id
    )
    select c.summary_id from chain as c);
end;
$$;

-- Takes a summary out of quarantine; false when it is not there.
create or replace function memory._release_summary(p_user_id text, p_summary_id uuid)
returns boolean
language plpgsql volatile parallel unsafe
as $$
begin
  update memory.summaries as s set status = 'completed', quarantined_at = null, quarantine_reason = null
  where s.user_id = p_user_id and s.summary_id = p_summary_id and s.status = 'quarantined';
  if found then
    perform memory._enqueue_embedding(p_user_id);
  end if;
  return found;
end;
$$;

-- The summaries of a user that were stored before there were rules, from the newest to the oldest, 200 at once. They
-- have the trust of a model's word.
create or replace function memory._check_stored_summaries(p_mark memory.marks)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  summary memory.summaries;
  signs text;
  poisoned uuid[] := array[]::uuid[];
  reasons text[] := array[]::text[];
  checked bigint := 0;
begin
  for summary in
    select s.* from memory.summaries as s
    where s.user_id = p_mark.user_id and s.status = 'completed'
      and s.created_at <= timestamptz 'epoch' + p_mark.position * interval '1 microsecond'
      and (memory._policy_section(p_mark.user_id, null, 'trust') ->> 'rules')::boolean
    order by s.created_at desc
    fetch first 200 rows with ties
  loop
    signs := memory._verdict(summary.summary, 0.8);
    if signs is not null then
      poisoned := poisoned || summary.summary_id;
      reasons := reasons || ('rule: ' || signs);
    end if;
    checked := checked + 1;
  end loop;
  perform memory._quarantine_summaries(p_mark.user_id, poisoned, reasons);
  perform memory._move_unchecked(p_mark,
    case when checked >= 200 then memory._microseconds(summary.created_at)::bigint - 1 end);
  return checked;
end;
$$;
