-- Deletes what was sent of artifacts that nobody has stored within a day after the last piece.
create or replace function memory._sweep_artifact_uploads(p_batch_size int)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  with due as (
    delete from memory.artifact_uploads as u
    where u.ctid = any (array(
      select d.ctid
      from memory.artifact_uploads as d
      where d.updated_at < statement_timestamp() - interval '1 day'
      order by d.updated_at
      limit p_batch_size
      for update skip locked))
    returning u.user_id, u.upload_id
  )
  delete from memory.artifact_parts as p using due as d where p.user_id = d.user_id and p.content_id = d.upload_id;
end;
$$;
