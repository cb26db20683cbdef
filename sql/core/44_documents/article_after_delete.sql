-- Releases the memories of which an article was made, when the article is deleted.
create or replace function memory._article_after_delete()
returns trigger
language plpgsql volatile parallel unsafe security definer -- the deleter may lack rights on memories
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._release_hidden(old.user_id, old.document_id, null, true);
  return null;
end;
$$;
