-- place among the sources: 2
-- A source of search: the current summaries of threads and of the user.

-- Users who have a finished summary.
create or replace function memory._summary_owners()
returns setof text
language sql stable parallel safe
begin atomic
  select s.user_id from memory.summaries as s where s.status = 'completed';
end;

create or replace function memory._summary_embeddable(p_user_id text, p_scope text)
returns setof text
language sql stable parallel safe
begin atomic
  select s.summary_id::text from memory._current_summaries(p_user_id, null) as s where coalesce(p_scope, '') = '';
end;

create or replace function memory._summary_texts(p_user_id text, p_sources text[], p_ids text[])
returns table (id text, text text)
language sql stable parallel safe
begin atomic
  select k.id, left(t.summary, 24000)
  from unnest(p_sources, p_ids) as k (source, id)
  join memory.summaries as s on s.user_id = p_user_id and s.summary_id = k.id::uuid
  cross join lateral (
    select c.summary_id, c.summary from memory._current_summaries(p_user_id, null) as c
    where c.thread_id = s.thread_id and c.kind = s.kind offset 0) as t
  where k.source = 'summary' and t.summary_id = s.summary_id;
end;

create or replace function memory._summary_lock(p_user_id text, p_ids text[])
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform from memory.summaries as s
  where s.user_id = p_user_id and s.summary_id = any (p_ids::uuid[])
  order by s.summary_id for key share nowait;
end;
$$;

create or replace function memory._summary_searchable(
  p_user_id text, p_sources text[], p_agent_id text, p_filters memory._search_filters, p_unfiltered boolean,
  p_compares_words boolean
)
returns table (
  source text, id text, thread_id text, number bigint, created_at timestamptz, vector tsvector, content text,
  metadata jsonb
)
language sql stable parallel safe
begin atomic
  select 'summary', s.summary_id::text, nullif(s.thread_id, ''), null::bigint, s.created_at, s.search_vector,
    null::text, null::jsonb
  from memory._current_summaries(p_user_id, (p_filters).as_of) as s
  where 'summary' = any (p_sources)
    and (p_agent_id is null or s.agent_ids <@ array[p_agent_id])
    and ((p_filters).filter is null or s.metadata @> (p_filters).filter);
end;

-- The columns of one result. valid_from is the time of the newest message that the summary covers, as long as that
-- message is stored.
create or replace function memory._summary_shown(
  p_user_id text, p_id text, p_thread_id text, p_number bigint, p_filters memory._search_filters, p_query text
)
returns table (id text, thread_id text, content text, metadata jsonb, details jsonb, valid_from timestamptz)
language sql stable parallel safe
begin atomic
  select p_id, nullif(s.thread_id, ''), s.summary, s.metadata,
    jsonb_build_object('kind', s.kind, 'start_seq', s.start_seq, 'end_seq', s.end_seq), m.created_at
  from memory.summaries as s
  left join memory.messages as m on m.user_id = s.user_id and m.thread_id = s.thread_id and m.seq = s.end_seq
  where s.user_id = p_user_id and s.summary_id = p_id::uuid and s.status = 'completed';
end;
