-- place among the sources: 4
-- A source of search: the messages of conversations. id is thread_id/seq.

-- A message is embedded with its date and its speaker, because search finds that text far better than the content
-- alone. The content is cut twice, so that PostgreSQL fetches only the beginning of 10 MiB that are stored compressed.
create or replace function memory._message_texts(p_user_id text, p_ids text[])
returns setof memory._source_text
language sql stable parallel safe
begin atomic
  select i.id, (f.m).thread_id, (f.m).seq, (f.m).agent_id, (f.m).created_at, (f.m).expires_at,
    memory._said_in_message((f.m).content, (f.m).metadata, (f.m).created_at),
    case when (f.m).content <> '' then left(
      format('[%s] %s: %s',
        to_char(memory._day_of((f.m).created_at), 'YYYY-MM-DD'),
        coalesce((f.m).metadata ->> 'name', (f.m).role),
        left((f.m).content, 24000)),
      24000) end
  from unnest(p_ids) as i (id)
  cross join lateral (
    select m from memory.messages as m
    where m.user_id = p_user_id and m.thread_id = memory._thread_of(i.id) and m.seq = memory._seq_of(i.id)
      and memory._is_kept_message(m.is_active, m.summary_id)
    offset 0) as f; -- so that each message is looked up by its key
end;

-- The messages that pass those filters that memory.texts does not know.
create or replace function memory._message_passing(p_user_id text, p_filters memory._search_filters)
returns setof text
language sql stable parallel safe
begin atomic
  select m.thread_id || '/' || m.seq from memory.messages as m
  where m.user_id = p_user_id and m.metadata @> (p_filters).filter;
end;

create or replace function memory._message_shown(
  p_user_id text, p_id text, p_thread_id text, p_number bigint, p_filters memory._search_filters, p_query text
)
returns table (id text, thread_id text, content text, metadata jsonb, details jsonb, valid_from timestamptz)
language sql stable parallel safe
begin atomic
  select p_id, m.thread_id, m.content, m.metadata,
    jsonb_build_object('seq', m.seq, 'role', m.role, 'agent_id', m.agent_id, 'is_active', m.is_active,
                       'trust', memory._message_trust(m.role, m.metadata)), m.created_at
  from memory.messages as m
  where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq = p_number
    and not memory._is_held_back(m.user_id, m.thread_id, m.seq, m.role, m.metadata, m.content)
    and not memory._awaits_verdict(m.user_id, m.thread_id, m.seq, m.role, m.metadata);
end;

-- Keeps the text of a message whose content, metadata, agent or times change. A message that no job has read yet stays
-- unread if only its agent or its times change.
create or replace function memory._message_text_after_update()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  text_id constant text := new.thread_id || '/' || new.seq;
begin
  if (new.content, new.metadata) is distinct from (old.content, old.metadata)
    or memory._is_parsed(new.user_id, 'message', text_id) then
    perform memory._store_texts(new.user_id, 'message', array[text_id]);
    if (memory._policy(new.user_id, new.agent_id) #>> '{search,embed_messages}')::boolean then
      perform memory._enqueue_embedding(new.user_id, new.thread_id);
    end if;
  end if;
  return null;
end;
$$;

-- Removes the texts of messages that were cleared or deleted.
create or replace function memory._message_texts_after_change()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._drop_texts(g.user_id, 'message', g.ids)
  from (select c.user_id, array_agg(c.thread_id || '/' || c.seq) as ids
        from changed_rows as c where tg_op = 'DELETE' or not memory._is_kept_message(c.is_active, c.summary_id)
        group by c.user_id, c.thread_id, c.seq / 10000) as g;
  return null;
end;
$$;
