-- Makes the codes of p_batch_size embeddings of messages that were stored before there were codes. While one of a user
-- is missing, a search compares all messages of the user. The update sets code to null only to fire the trigger that
-- makes the code (embedding_150_before_message_update).
create or replace function memory._fill_codes(p_batch_size int)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  uncoded constant tid[] := array(
    select e.ctid
    from memory.embeddings as e
    where e.source = 'message' and e.code is null
    order by e.user_id, e.model
    limit p_batch_size
    for update skip locked);
begin
  update memory.embeddings as e set code = null where e.ctid = any (uncoded);
end;
$$;
