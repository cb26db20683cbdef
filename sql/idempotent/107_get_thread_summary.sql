create or replace function memory.get_thread_summary(user_id text, thread_id text, kind text default null)
returns setof memory.thread_summary
language plpgsql stable parallel safe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  if kind not in ('thread', 'rolling') then
    perform memory._refuse('kind', format('unknown kind "%s"', kind), 'Use thread or rolling, or leave it out for what there is.');
  end if;
  return query
  select * from memory._latest_summary(get_thread_summary.user_id, get_thread_summary.thread_id,
    case when get_thread_summary.kind is null then array['thread', 'rolling'] else array[get_thread_summary.kind] end);
end;
$$;
comment on function memory.get_thread_summary(text, text, text) is
'The latest completed summary of a thread, or no row while there is none. kind thread: of the whole thread, as compression or cadence.thread_summary_every_n makes it; rolling: of its newest messages. Without kind the first of these that exists. It covers messages start_seq to end_seq; base_summary_id is the summary it continued.';

-- The current summary of the first of these kinds that has one.
create or replace function memory._latest_summary(user_id text, thread_id text, kinds text[])
returns setof memory.thread_summary
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select s.summary_id, s.summary, s.start_seq, s.end_seq, s.base_summary_id, s.status, s.metadata, s.generation_time_ms, s.created_at
  from memory.summaries as s
  where s.user_id = _latest_summary.user_id and s.thread_id = _latest_summary.thread_id and s.kind = any (kinds) and s.status = 'completed'
  order by array_position(kinds, s.kind), s.end_seq desc limit 1;
end;
$$;
