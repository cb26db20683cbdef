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
  perform memory._drop_embedding(p_user_id, 'summary', i::text) from unnest(quarantined) as i;
  return coalesce(cardinality(quarantined), 0);
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

-- Puts those of these summaries into quarantine in which a rule finds signs. They have the trust of a model's word.
create or replace function memory._judge_summaries(p_user_id text, p_summary_ids uuid[])
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  poisoned uuid[];
  reasons text[];
begin
  if (memory._policy_section(p_user_id, null, 'trust') ->> 'rules')::boolean then
    select array_agg(s.summary_id), array_agg('rule: ' || s.signs) into poisoned, reasons
    from (
      select m.summary_id, memory._verdict(m.summary, 0.8) as signs from memory.summaries as m
      where m.user_id = p_user_id and m.summary_id = any (p_summary_ids) and m.status = 'completed') as s
    where s.signs is not null;
    perform memory._quarantine_summaries(p_user_id, poisoned, reasons) where poisoned is not null;
  end if;
end;
$$;

-- The summaries of a user that were stored before there were rules, from the newest to the oldest, 200 at once.
create or replace function memory._check_stored_summaries(p_mark memory.marks)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  checked uuid[];
  oldest timestamptz;
begin
  select array_agg(s.summary_id), min(s.created_at) into checked, oldest
  from (
    select m.summary_id, m.created_at from memory.summaries as m
    where m.user_id = p_mark.user_id and m.status = 'completed'
      and m.created_at <= timestamptz 'epoch' + p_mark.position * interval '1 microsecond'
    order by m.created_at desc
    fetch first 200 rows with ties) as s;
  perform memory._judge_summaries(p_mark.user_id, checked);
  perform memory._move_unchecked(p_mark,
    case when cardinality(checked) >= 200 then memory._microseconds(oldest)::bigint - 1 end);
  return coalesce(cardinality(checked), 0);
end;
$$;
