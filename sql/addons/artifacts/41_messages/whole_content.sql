-- The whole content for which a placeholder in a message stands; null if nobody may read it.
create or replace function memory._whole_content(p_user_id text, p_artifact_key text)
returns text
language plpgsql stable parallel safe
as $$
declare
  content_id constant uuid := memory._readable_content(p_user_id, p_artifact_key);
begin
  return case when content_id is not null then memory._content_slice(p_user_id, content_id) end;
end;
$$;
