-- The least trust of these messages of a thread; null when none is stored any more.
create or replace function memory._least_trust(p_user_id text, p_thread_id text, p_seqs bigint[])
returns double precision
language plpgsql stable parallel safe
as $$
begin
  return min(memory._message_trust(m.role, m.metadata))
  from memory._messages_by_seqs(p_user_id, p_thread_id, p_seqs) as m;
end;
$$;
