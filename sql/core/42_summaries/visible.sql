-- The current summaries of a user: for each thread, and for the user as a whole, the newest completed summary of each
-- kind. With p_as_of only summaries count that existed at that time; null stands for now.
create or replace function memory._current_summaries(p_user_id text, p_as_of timestamptz)
returns setof memory.summaries
language sql stable parallel safe
begin atomic
  select distinct on (s.thread_id, s.kind) s.* from memory.summaries as s
  where s.user_id = p_user_id and s.status = 'completed' and s.created_at <= coalesce(p_as_of, 'infinity')
  -- Of two summaries with one end the later has read more (memory._compress_thread_input()). Ids are in order of time.
  order by s.thread_id, s.kind, s.end_seq desc, s.summary_id desc;
end;

-- The current summary of a thread, or of the user as a whole when p_thread_id is empty; null when there is none.
create or replace function memory._latest_summary(p_user_id text, p_thread_id text, p_kind text)
returns memory.summaries
language plpgsql stable parallel safe
as $$
begin
  -- With "limit 1" the planner stops at the first row of summaries_thread_idx instead of reading the whole chain.
  return s from memory._current_summaries(p_user_id, null) as s
  where s.thread_id = p_thread_id and s.kind = p_kind limit 1;
end;
$$;

-- A summary with the columns of the API. A null summary gives no row.
create or replace function memory._shown_summary(p_summary memory.summaries)
returns setof memory.thread_summary
language plpgsql immutable parallel safe
as $$
begin
  if p_summary.summary_id is not null then
    return next row(
      p_summary.summary_id, p_summary.summary, p_summary.start_seq, p_summary.end_seq, p_summary.base_summary_id,
      p_summary.status, p_summary.metadata, p_summary.generation_time_ms, p_summary.created_at,
      p_summary.kind)::memory.thread_summary;
  end if;
end;
$$;
