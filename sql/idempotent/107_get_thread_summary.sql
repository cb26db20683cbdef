create or replace function memory.get_thread_summary(user_id text, thread_id text)
returns setof memory.thread_summary
language plpgsql stable parallel safe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  return query
  select s.summary_id, s.summary, s.start_seq, s.end_seq, s.base_summary_id, s.status, s.metadata, s.generation_time_ms, s.created_at
  from memory.summaries as s
  where s.user_id = get_thread_summary.user_id and s.thread_id = get_thread_summary.thread_id and s.status = 'completed'
  order by s.end_seq desc limit 1;
end;
$$;
comment on function memory.get_thread_summary(text, text) is
'The latest completed summary of a thread, or no row while there is none. It covers messages start_seq to end_seq; base_summary_id is the summary it continued.';
