-- place among the sources: 4
-- A source of search: the messages of conversations. id is thread_id/seq.

create or replace function memory._message_owners()
returns setof text
language sql stable parallel safe
begin atomic
  select t.user_id from memory.threads as t
  where t.message_count > 0
    -- The compressed messages of a thread may outlive the messages that the thread has kept.
    or t.next_seq > 0 and exists (
      select from memory.messages as m
      where m.user_id = t.user_id and m.thread_id = t.thread_id and m.summary_id is not null);
end;

-- The messages of all threads of a user that are neither cleared nor expired, including messages that compression has
-- taken out of their threads.
create or replace function memory._searchable_messages(p_user_id text)
returns setof memory.messages
language sql stable parallel safe
begin atomic
  select m.* from memory.messages as m
  where m.user_id = p_user_id and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at);
end;

-- Whether a message passes the filters of a search. p_agent is the agent of the message.
create or replace function memory._message_passes(
  p_thread_id text, p_agent text, p_created_at timestamptz, p_metadata jsonb, p_agent_id text,
  p_filters memory._search_filters
)
returns boolean
language sql immutable parallel safe
begin atomic
  select (p_agent_id is null or p_agent = p_agent_id)
    and ((p_filters).thread_id is null or p_thread_id = (p_filters).thread_id)
    and ((p_filters).exclude_thread_id is null or p_thread_id <> (p_filters).exclude_thread_id)
    and ((p_filters).created_after is null or p_created_at > (p_filters).created_after)
    and ((p_filters).created_before is null or p_created_at < (p_filters).created_before)
    and ((p_filters).as_of is null or p_created_at <= (p_filters).as_of)
    and ((p_filters).filter is null or p_metadata @> (p_filters).filter);
end;

-- The text by which a message is embedded, with its date and its speaker, because search finds this text far better
-- than the content alone. The function cuts the content twice, so that PostgreSQL fetches only the beginning of 10 MiB
-- that are stored compressed.
create or replace function memory._embedded_text(p_message memory.messages)
returns text
language sql stable parallel safe
begin atomic
  select left(
    format('[%s] %s: %s',
      to_char(memory._day_of((p_message).created_at), 'YYYY-MM-DD'),
      coalesce((p_message).metadata ->> 'name', (p_message).role),
      left((p_message).content, 24000)),
    24000);
end;

-- The messages of the thread p_scope; for a backfill (p_scope null) those of all threads, if search.embed_messages is
-- on.
create or replace function memory._message_embeddable(p_user_id text, p_scope text)
returns setof text
language sql stable parallel safe
begin atomic
  select m.thread_id || '/' || m.seq from memory._searchable_messages(p_user_id) as m
  where p_scope <> '' and m.thread_id = p_scope and m.content <> ''
  union all
  select m.thread_id || '/' || m.seq from memory._searchable_messages(p_user_id) as m
  where p_scope is null and m.content <> ''
    and (memory._policy(p_user_id, null) #>> '{search,embed_messages}')::boolean;
end;

create or replace function memory._message_texts(p_user_id text, p_sources text[], p_ids text[])
returns table (id text, text text)
language sql stable parallel safe
begin atomic
  select k.id, t.text
  from unnest(p_sources, p_ids) as k (source, id)
  cross join lateral (
    select memory._embedded_text(m) as text from memory._searchable_messages(p_user_id) as m
    where m.thread_id = substring(k.id from '^(.*)/') and m.seq = substring(k.id from '/([0-9]+)$')::bigint
      and m.content <> '' offset 0) as t
  where k.source = 'message';
end;

create or replace function memory._message_lock(p_user_id text, p_ids text[])
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform from memory.messages as m
  where m.user_id = p_user_id and (m.thread_id, m.seq) in (
    select substring(i from '^(.*)/'), substring(i from '/([0-9]+)$')::bigint from unnest(p_ids) as i)
  order by m.thread_id, m.seq for key share nowait;
end;
$$;

-- The messages for a search. If the search compares words, a message that is not parsed yet comes with its content and
-- metadata, so that memory._ranked() can parse the message.
create or replace function memory._message_searchable(
  p_user_id text, p_sources text[], p_agent_id text, p_filters memory._search_filters, p_unfiltered boolean,
  p_compares_words boolean
)
returns table (
  source text, id text, thread_id text, number bigint, created_at timestamptz, vector tsvector, content text,
  metadata jsonb
)
language sql stable parallel safe
begin atomic
  select 'message', m.thread_id || '/' || m.seq, m.thread_id, m.seq, m.created_at, m.search_vector,
    case when m.search_vector is null and p_compares_words then m.content end,
    case when m.search_vector is null and p_compares_words then m.metadata end
  from memory._searchable_messages(p_user_id) as m
  where 'message' = any (p_sources)
    and (p_agent_id is null or m.agent_id = p_agent_id)
    and (p_unfiltered
         or m.created_at <= coalesce((p_filters).as_of, 'infinity')
            and ((p_filters).filter is null or m.metadata @> (p_filters).filter));
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
    and not (m.search_vector is null
             and memory._is_held_back(m.user_id, m.thread_id, m.seq, m.role, m.metadata, m.content));
end;
