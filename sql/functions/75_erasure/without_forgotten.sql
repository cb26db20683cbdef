-- An export without what was forgotten here: rows that were stored before the user was forgotten, statements that were
-- forgotten, and what was made of them.
create or replace function memory._without_forgotten(p_user_id text, p_export jsonb)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  forgotten_at constant timestamptz := memory._user_forgotten_at(p_user_id);
  memories jsonb;
  messages jsonb;
  summaries jsonb;
begin
  if forgotten_at is not null then
    p_export := memory._since(p_export, forgotten_at);
  end if;
  if not exists (select from memory.tombstones) then
    return p_export;
  end if;
  -- What goes of these three kinds says what goes of the others.
  memories := coalesce(jsonb_path_query_array(
    memory._forgotten_rows(p_user_id, p_export -> 'memories'), '$[*].memory_id'), '[]');
  messages := coalesce(memory._forgotten_rows(p_user_id, p_export -> 'messages'), '[]');
  if memories = '[]' and messages = '[]' then
    return p_export;
  end if;
  select coalesce(jsonb_agg(s.value -> 'summary_id'), '[]') into summaries
  from jsonb_array_elements(p_export -> 'summaries') as s
  where s.value ->> 'thread_id' = '' or exists (
    select from jsonb_array_elements(messages) as m
    where m.value -> 'thread_id' = s.value -> 'thread_id' and m.value -> 'seq' <= s.value -> 'end_seq');
  return p_export
    || jsonb_build_object('memories', memory._others(p_export -> 'memories', 'memory_id', memories))
    || jsonb_build_object('memory_history', (
      select coalesce(jsonb_agg(h.value order by h.place), '[]')
      from jsonb_array_elements(memory._others(p_export -> 'memory_history', 'memory_id', memories))
        with ordinality as h (value, place)
      where not memory._is_forgotten(p_user_id, h.value ->> 'content')))
    || jsonb_build_object('summaries', memory._others(p_export -> 'summaries', 'summary_id', summaries))
    || jsonb_build_object('messages', (
      -- What was put away for a summary that stays out is not summed up by anything.
      select coalesce(jsonb_agg(
        case when summaries @> coalesce(m.value -> 'summary_id', '{}')
          then m.value || '{"summary_id": null, "is_active": true}' else m.value end order by m.place), '[]')
      from jsonb_array_elements(p_export -> 'messages') with ordinality as m (value, place)
      where not memory._is_forgotten(p_user_id, m.value ->> 'content')))
    || jsonb_build_object('quarantined_messages', (
      select coalesce(jsonb_agg(q.value order by q.place), '[]')
      from jsonb_array_elements(p_export -> 'quarantined_messages') with ordinality as q (value, place)
      where not memory._is_forgotten(p_user_id, q.value ->> 'content')))
    || jsonb_build_object('documents', (
      select coalesce(jsonb_agg(d.value order by d.place), '[]')
      from jsonb_array_elements(p_export -> 'documents') with ordinality as d (value, place)
      where case d.value ->> 'source'
        when 'consolidation' then not exists (
          select from jsonb_array_elements(memories) as m where d.value #> '{metadata,memory_ids}' @> m.value)
        when 'archive' then not summaries @> coalesce(d.value #> '{metadata,summary_id}', '{}')
        when 'closed_archive' then not summaries @> coalesce(d.value #> '{metadata,summary_id}', '{}')
        else true end))
    || jsonb_build_object('artifacts', memory._others(p_export -> 'artifacts', 'key',
      jsonb_path_query_array(messages, '$[*].artifact_key ? (@ != null)')))
    || '{"jobs": []}'; -- which may show any of it
end;
$$;

-- The rows of an export that were stored after a moment. Marks, counters and keys of before go, too: they are about
-- rows that stay out.
create or replace function memory._since(p_export jsonb, p_moment timestamptz)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  kind text;
begin
  for kind in select k.kind from memory._export_kinds() as k loop
    p_export := p_export || jsonb_build_object(kind, (
      select coalesce(jsonb_agg(r.value order by r.place), '[]')
      from jsonb_array_elements(p_export -> kind) with ordinality as r (value, place)
      where memory._time_or_null(coalesce(
        r.value ->> 'updated_at', r.value ->> 'changed_at', r.value ->> 'finished_at', r.value ->> 'called_at',
        r.value ->> 'read_at', r.value ->> 'quarantined_at', r.value ->> 'last_at', r.value ->> 'created_at'
      )) > p_moment));
  end loop;
  return p_export;
end;
$$;

-- The rows whose content was forgotten.
create or replace function memory._forgotten_rows(p_user_id text, p_rows jsonb)
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  return jsonb_agg(r.value)
  from jsonb_array_elements(p_rows) as r
  where memory._is_forgotten(p_user_id, r.value ->> 'content');
end;
$$;

-- The rows that do not have one of these values under a key.
create or replace function memory._others(p_rows jsonb, p_key text, p_values jsonb)
returns jsonb
language plpgsql immutable parallel safe
as $$
begin
  return coalesce(jsonb_agg(r.value order by r.place), '[]')
  from jsonb_array_elements(p_rows) with ordinality as r (value, place)
  where not p_values @> coalesce(r.value -> p_key, '{}');
end;
$$;
