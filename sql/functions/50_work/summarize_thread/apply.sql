create or replace function memory._apply_summary(job memory.jobs, result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  stored memory.summaries;
begin
  perform memory._check_summary(result);
  stored := memory._store_summary(job, result);
  return jsonb_build_object('summary_id', stored.summary_id, 'start_seq', stored.start_seq, 'end_seq', stored.end_seq);
end;
$$;
