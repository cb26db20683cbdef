-- place among the sources: 2
-- A source of search: the current summaries of threads and of the user.

-- A summary is valid as long as it is the newest of its chain.
create or replace function memory._summary_texts(p_user_id text, p_ids text[])
returns setof memory._source_text
language sql stable parallel safe
begin atomic
  select i.id, nullif(s.thread_id, ''), null::bigint, memory._agent_of_several(s.agent_ids), s.created_at,
    case when (memory._latest_summary(p_user_id, s.thread_id, s.kind)).summary_id = s.summary_id
      then 'infinity' else '-infinity' end::timestamptz,
    s.summary, left(s.summary, 24000)
  from unnest(p_ids) as i (id)
  cross join lateral (
    select s.* from memory.summaries as s
    where s.user_id = p_user_id and s.summary_id = i.id::uuid and s.status = 'completed' offset 0) as s;
end;

-- The summaries that pass those filters that memory.texts does not know, of now or of the time that is asked for.
create or replace function memory._summary_passing(p_user_id text, p_filters memory._search_filters)
returns setof text
language sql stable parallel safe
begin atomic
  select s.summary_id::text from memory._current_summaries(p_user_id, (p_filters).as_of) as s
  where (p_filters).filter is null or s.metadata @> (p_filters).filter;
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

-- Keeps the texts of summaries that were stored or deleted, and of the newest two of each chain, because one takes the
-- place of the other.
create or replace function memory._summary_texts_after_change()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may delete need not have rights on memory.texts
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._store_texts(g.user_id, 'summary', g.ids)
  from (
    select u.user_id, array_agg(distinct u.id) as ids
    from (
      select c.user_id, c.summary_id::text as id from changed_rows as c
      union all
      select c.user_id, s.summary_id::text
      from (select distinct r.user_id, r.thread_id, r.kind from changed_rows as r) as c
      cross join lateral (
        select s.summary_id from memory.summaries as s
        where s.user_id = c.user_id and s.thread_id = c.thread_id and s.kind = c.kind and s.status = 'completed'
        order by s.end_seq desc, s.summary_id desc limit 2) as s) as u
    group by u.user_id order by 1) as g;
  return null;
end;
$$;
