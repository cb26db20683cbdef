-- Deletes the checkpoints of a deleted thread.
create or replace function memory._checkpoints_thread_deleted(p_user_id text, p_thread_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._delete_checkpoints_of_thread(p_user_id, p_thread_id);
end;
$$;
