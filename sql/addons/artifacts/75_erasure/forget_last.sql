-- Removes the artifacts that were made of forgotten messages of these threads, if no message names them any more, and
-- the artifacts that contain these wordings. Returns the number of rows by table.
create or replace function memory._artifacts_forget_last(
  p_user_id text, p_wordings text[], p_threads text[], p_keys text[]
)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  removed bigint;
  gone jsonb;
  contents uuid[];
begin
  delete from memory.artifacts as a
  using unnest(p_threads, p_keys) as t (thread_id, key)
  where a.user_id = p_user_id and a.key = t.key and a.thread_id = t.thread_id
    and not exists (
      select from memory.messages as m
      where m.user_id = a.user_id and m.thread_id = a.thread_id and m.artifact_key = a.key);
  get diagnostics removed = row_count;
  gone := memory._counting('{}', 'artifacts', removed);
  contents := memory._stating_contents(p_user_id,
    array(select a.content_id from memory.artifacts as a where a.user_id = p_user_id), p_wordings);
  delete from memory.artifacts as a where a.user_id = p_user_id and a.content_id = any (contents);
  get diagnostics removed = row_count;
  return memory._counting(gone, 'artifacts', removed);
end;
$$;
