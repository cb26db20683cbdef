create or replace function memory.get_thread_summary(user_id text, thread_id text, kind text default null)
returns setof memory.thread_summary
language plpgsql stable parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  latest memory.summaries;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  perform memory._check_summary_kind(kind, 'what there is');
  latest := memory._latest_summary(user_id, thread_id, coalesce(kind, 'thread'));
  if latest.summary_id is null and kind is null then
    latest := memory._latest_summary(user_id, thread_id, 'rolling');
  end if;
  return query select * from memory._shown_summary(latest);
end;
$$;
comment on function memory.get_thread_summary(text, text, text) is
'The latest completed summary of a thread, or no row while there is none. kind is thread (of the whole thread, made by '
'compression or cadence.thread_summary_every_n) or rolling (of its newest messages); without kind it is the first of '
'these that exists. It covers messages start_seq to end_seq and continues the summary base_summary_id.';
