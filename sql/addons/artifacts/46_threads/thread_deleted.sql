-- Deletes the artifacts of a deleted thread. If an artifact was made of a message, and a copy of the thread has the
-- same message, the artifact goes to the copy instead. Artifacts of other threads that the deleted messages named are
-- checked, because nothing else may name them.
create or replace function memory._artifacts_thread_deleted(p_user_id text, p_thread_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if exists (
    select from memory.artifacts as a
    where a.user_id = p_user_id and a.thread_id = p_thread_id and a.check_at is not null) then
    update memory.artifacts as a set thread_id = c.thread_id
    from (
      select m.artifact_key, min(m.thread_id) as thread_id
      from memory.messages as m
      where m.user_id = p_user_id and m.thread_id <> p_thread_id and m.artifact_key is not null
      group by m.artifact_key) as c
    where a.user_id = p_user_id and a.thread_id = p_thread_id and a.key = c.artifact_key;
  end if;
  delete from memory.artifacts as a where a.user_id = p_user_id and a.thread_id = p_thread_id;
  perform memory._check_artifact_soon(p_user_id, k.artifact_key)
  from (select distinct m.artifact_key from memory.messages as m
        where m.user_id = p_user_id and m.thread_id = p_thread_id and m.artifact_key is not null) as k;
end;
$$;
