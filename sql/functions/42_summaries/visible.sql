-- The current summary of a kind, as everyone reads it.
create or replace function memory._latest_summary(user_id text, thread_id text, kind text)
returns memory.summaries
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return s from memory.summaries as s
  where s.user_id = _latest_summary.user_id and s.thread_id = _latest_summary.thread_id and s.kind = _latest_summary.kind
    and s.status = 'completed'
  order by s.end_seq desc limit 1;
end;
$$;

-- A summary with the columns of the API; no row for none.
create or replace function memory._shown_summary(summary memory.summaries)
returns setof memory.thread_summary
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if summary.summary_id is not null then
    return next row(summary.summary_id, summary.summary, summary.start_seq, summary.end_seq, summary.base_summary_id, summary.status,
                    summary.metadata, summary.generation_time_ms, summary.created_at)::memory.thread_summary;
  end if;
end;
$$;

-- The newest of each kind of each thread and of the user. Inlined by the planner, hence no SET clause.
create or replace function memory._current_summaries(user_id text, as_of timestamptz)
returns setof memory.summaries
language sql stable parallel safe
begin atomic
  select distinct on (s.thread_id, s.kind) s.* from memory.summaries as s
  where s.user_id = _current_summaries.user_id and s.status = 'completed' and s.created_at <= coalesce(_current_summaries.as_of, 'infinity')
  order by s.thread_id, s.kind, s.end_seq desc;
end;
