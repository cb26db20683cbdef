-- Removes uploads that contain these wordings and that no artifact names yet, and returns the number of rows by table.
-- Uploads are removed before artifacts, in the order of memory.store_artifact(). A second statement removes the pieces,
-- so that it sees pieces that were stored while the first one waited.
create or replace function memory._artifacts_forget_first(p_user_id text, p_wordings text[])
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  uploads uuid[] := memory._stating_contents(p_user_id,
    array(select u.upload_id from memory.artifact_uploads as u where u.user_id = p_user_id), p_wordings);
begin
  with deleted as (
    delete from memory.artifact_uploads as u where u.user_id = p_user_id and u.upload_id = any (uploads)
    returning u.upload_id
  )
  select array_agg(d.upload_id) into uploads from deleted as d;
  delete from memory.artifact_parts as p where p.user_id = p_user_id and p.content_id = any (uploads);
  return memory._counting('{}', 'artifact_uploads', cardinality(uploads));
end;
$$;
