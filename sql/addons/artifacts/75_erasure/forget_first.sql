-- Removes uploads that have these wordings in them, which no artifact names yet, and returns the rows by table. Uploads
-- go before artifacts, the order of memory.store_artifact(). The pieces go in a statement of their own, because it sees
-- the piece for which the one before has waited.
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
