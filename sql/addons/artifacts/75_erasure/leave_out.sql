-- Removes the artifacts that were made of forgotten messages from an import. Triggers ignore these rows.
create or replace function memory._artifacts_leave_out(p_user_id text, p_keys text[])
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  with gone as (
    delete from memory.artifacts as a where a.user_id = p_user_id and a.key = any (p_keys) returning a.content_id
  )
  delete from memory.artifact_parts as p
  where p.user_id = p_user_id and p.content_id in (select g.content_id from gone as g);
end;
$$;
