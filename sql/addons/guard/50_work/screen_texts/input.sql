-- Texts of low trust that wait for the verdict of the screen model. For a thread these are its messages since the last
-- verdict, for the user as a whole memories, documents and artifacts. The model is given the first 64,000 characters of
-- a text, in pieces of 8,000. Rules judge the whole text.
create or replace function memory._screen_texts_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql volatile parallel unsafe
as $$
declare
  at_most constant int := 20 >> least(p_job.attempts - 1, 4); -- the fifth attempt has only one text
  piece constant int := 8000;
  model memory.models;
  waiting jsonb;
  -- The newest seq is read first, so that a message that comes meanwhile is not passed over.
  newest constant bigint := (
    select t.next_seq - 1 from memory.threads as t where t.user_id = p_job.user_id and t.thread_id = p_job.scope);
  texts jsonb;
begin
  agent_id := null; -- texts of several agents, so only the user's budget pays
  select jsonb_agg(w) into waiting from memory._waiting_texts(p_job.user_id, p_job.scope, at_most) as w;
  if waiting is null then
    perform memory._set_mark(p_job.user_id, p_job.scope, 'screen_texts', newest) where newest >= 0;
    return;
  end if;
  select m.* into model from memory.models as m where m.kind = 'screen' and m.is_active and not m.is_off;
  if not found then
    raise lock_not_available using message = 'no screen model is active';
  end if;
  select jsonb_agg(jsonb_build_object('number', p.number, 'text', p.said) order by p.number),
    jsonb_agg(p.waiting - 'content' || jsonb_build_object('digest', md5(p.waiting ->> 'content')) order by p.number),
    memory._estimate_tokens(string_agg(p.said, '')) + 300
  into texts, input, tokens
  from (
    select w.waiting, substr(w.waiting ->> 'content', s.start, piece) as said,
      row_number() over (order by w.place, s.start) as number
    from jsonb_array_elements(waiting) with ordinality as w (waiting, place)
    cross join lateral generate_series(1, least(length(w.waiting ->> 'content'), 8 * piece), piece) as s (start)) as p;
  payload := jsonb_build_object('model', memory._model_json(model), 'texts', texts,
    'prompt', case when model.provider <> 'local' then memory._prompt('screen_texts') end);
  input := jsonb_build_object('texts', input, 'is_partial', jsonb_array_length(waiting) >= at_most);
end;
$$;

-- The texts that wait for a verdict, in the order in which they came. seq is the number of a message: the watermark
-- says up to which seq every message was judged. An artifact is given to the model when rules have judged all of its
-- parts. With p_id only this text is returned.
create or replace function memory._waiting_texts(
  p_user_id text, p_thread_id text, p_at_most int, p_id text default null
)
returns table (source text, id text, seq bigint, content text)
language plpgsql stable parallel safe
as $$
begin
  if p_thread_id <> '' then
    return query
    select 'message', m.thread_id || '/' || m.seq, m.seq, m.content
    from memory.messages as m
    where m.user_id = p_user_id and m.thread_id = p_thread_id
      and m.seq > memory._screened_up_to(p_user_id, p_thread_id)
      and (p_id is null or m.thread_id || '/' || m.seq = p_id)
      and memory._awaits_verdict(m.user_id, m.thread_id, m.seq, m.role, m.metadata)
    order by m.seq limit p_at_most;
    return;
  end if;
  return query
  select w.source, w.id, null::bigint, w.content
  from (
    select 'memory' as source, m.memory_id::text as id, m.created_at, m.content
    from memory.memories as m
    where m.user_id = p_user_id and m.quarantined_at is not null and m.quarantine_reason = memory._waiting_reason()
      and (p_id is null or m.memory_id::text = p_id)
    union all
    select 'document', d.document_id::text, d.created_at, concat_ws(e'\n', d.title, d.content)
    from memory.documents as d
    where d.user_id = p_user_id and d.quarantined_at is not null and d.quarantine_reason = memory._waiting_reason()
      and (p_id is null or d.document_id::text = p_id)
    union all
    select 'artifact', a.key, a.created_at,
      concat_ws(e'\n', a.description, memory._content_slice(a.user_id, a.content_id, 0, 64000))
    from memory.artifacts as a
    where a.user_id = p_user_id and a.quarantined_at is null and (p_id is null or a.key = p_id)
      and memory._artifact_awaits_verdict(a)
      and not exists (select from memory._unjudged_parts(a.user_id, a.content_id, '{(,)}'))
  ) as w
  order by w.created_at, w.source, w.id limit p_at_most;
end;
$$;
