-- Releases the texts that the model has found harmless, and puts the others into quarantine with the model's reason.
-- Refuses a result without a verdict for each piece. A text that was changed meanwhile waits on, and so do texts after
-- it.
create or replace function memory._screen_texts_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  handed constant jsonb := p_job.input -> 'texts';
  verdicts constant jsonb := case jsonb_typeof(p_result -> 'verdicts') when 'array' then p_result -> 'verdicts'
    else '[]' end;
  judged record;
  accepted bigint := 0;
  refused bigint := 0;
begin
  if exists (
      select from jsonb_array_elements(verdicts) as v
      where jsonb_typeof(v -> 'number') is distinct from 'number'
        or jsonb_typeof(v -> 'is_attack') is distinct from 'boolean')
    or array(select (v ->> 'number')::numeric as n from jsonb_array_elements(verdicts) as v order by n)
      <> array(select generate_series(1, jsonb_array_length(handed))::numeric) then
    perform memory._refuse_result('verdicts', 'must have number and is_attack for each text once');
  end if;
  perform memory._lock_scopes_of(p_job.user_id, array(
    select (h ->> 'id')::uuid from jsonb_array_elements(handed) as h where h ->> 'source' = 'memory'));
  -- If another session holds the thread, this one does not wait: the worker hands the result in again.
  perform from memory.threads as t
  where t.user_id = p_job.user_id and t.thread_id = p_job.scope for no key update nowait;
  for judged in
    select h.text, bool_or((v.verdict -> 'is_attack')::boolean) as is_attack,
      -- The reason is stripped of markup, because a model that was misled may repeat orders in it.
      'screen: ' || coalesce(left(min(regexp_replace(
        left(v.verdict ->> 'reason', 2000), '[^[:alnum:].,;()''-]+', ' ', 'g'))
        filter (where (v.verdict -> 'is_attack')::boolean), 200), 'an attack') as reason
    from jsonb_array_elements(handed) with ordinality as h (text, number)
    join jsonb_array_elements(verdicts) as v (verdict) on (v.verdict ->> 'number')::bigint = h.number
    group by h.text
    order by min(h.number)
  loop
    exit when not memory._take_verdict(p_job, judged.text, case when judged.is_attack then judged.reason end);
    accepted := accepted + (not judged.is_attack)::int;
    refused := refused + judged.is_attack::int;
  end loop;
  return jsonb_build_object('accepted', accepted, 'refused', refused);
end;
$$;

-- Applies a verdict to a text that was handed out. p_reason is the reason for which the text is refused, or null. The
-- result is false if the text was changed or deleted meanwhile.
create or replace function memory._take_verdict(p_job memory.jobs, p_text jsonb, p_reason text)
returns boolean
language plpgsql volatile parallel unsafe
as $$
declare
  the_id constant text := p_text ->> 'id';
  the_seq constant bigint := (p_text ->> 'seq')::bigint;
  waiting memory.memories;
begin
  if not exists (
    select from memory._waiting_texts(p_job.user_id, p_job.scope, 1, the_id) as w
    where w.source = p_text ->> 'source' and md5(w.content) = p_text ->> 'digest') then
    return false;
  end if;
  case p_text ->> 'source'
    when 'message' then
      if p_reason is not null then
        perform memory._quarantine_messages(p_job.user_id, p_job.scope, array[the_seq], p_reason);
      end if;
      perform memory._set_mark(p_job.user_id, p_job.scope, 'screen_texts', the_seq);
    when 'artifact' then
      if p_reason is not null then
        perform memory._quarantine_artifact(p_job.user_id, the_id, p_reason);
      else
        update memory.artifacts as a set released_at = statement_timestamp()
        where a.user_id = p_job.user_id and a.key = the_id;
      end if;
    when 'document' then
      if p_reason is not null then
        update memory.documents as d set quarantine_reason = p_reason
        where d.user_id = p_job.user_id and d.document_id = the_id::uuid;
      else -- a job that cuts a long document has its rest judged, so it does not count as released
        perform memory._release_document(p_job.user_id, the_id::uuid);
        update memory.documents as d set released_at = null
        where d.user_id = p_job.user_id and d.document_id = the_id::uuid;
      end if;
    else
      select m.* into waiting from memory.memories as m
      where m.user_id = p_job.user_id and m.memory_id = the_id::uuid for no key update;
      if p_reason is null and not memory._release_quarantined(waiting) then
        p_reason := 'screen: the same content is stored by now as another memory';
      end if;
      update memory.memories as m
      set quarantine_reason = p_reason, operation = 'quarantine', version = m.version + 1
      where m.user_id = p_job.user_id and m.memory_id = the_id::uuid and p_reason is not null;
  end case;
  return true;
end;
$$;
