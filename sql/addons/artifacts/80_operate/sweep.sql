-- Deletes artifacts that have expired or that nothing names any more, and uploads that nobody has stored as an artifact
-- within a day after their last piece.
create or replace function memory._artifacts_sweep(p_batch_size int)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  removed bigint;
begin
  delete from memory.artifacts as a where a.ctid = any (array(
    select d.ctid from memory.artifacts as d where d.expires_at <= statement_timestamp()
    order by d.expires_at limit p_batch_size for update skip locked));
  get diagnostics removed = row_count;
  removed := removed + memory._sweep_unnamed_artifacts(p_batch_size);
  with due as (
    delete from memory.artifact_uploads as u where u.ctid = any (array(
      select d.ctid from memory.artifact_uploads as d where d.updated_at < statement_timestamp() - interval '1 day'
      order by d.updated_at limit p_batch_size for update skip locked))
    returning u.user_id, u.upload_id
  )
  delete from memory.artifact_parts as p using due as d where p.user_id = d.user_id and p.content_id = d.upload_id;
  return jsonb_build_object('artifacts', removed);
end;
$$;
