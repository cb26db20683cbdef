-- The seqs of the instructions that begin a thread: its first messages as long as their role is system or developer. A
-- context shows them first, and no summary takes their place. The function passes over up to a thousand cleared
-- messages, so a thread that was cleared may begin with new instructions. A compressed message ends the beginning.
-- Callers should read these messages by the range from the first to the last seq, because "= any" may read the whole
-- thread.
create or replace function memory._opening(p_user_id text, p_thread_id text)
returns bigint[]
language plpgsql stable parallel safe
-- The scan follows the primary key from the thread's first message on and stops at the first that is no instruction.
set enable_sort = off
as $$
declare
  message record;
  seqs bigint[] := array[]::bigint[];
begin
  for message in
    select m.seq, m.role, m.is_active, m.expires_at
    from (select f.* from memory.messages as f
          where f.user_id = p_user_id and f.thread_id = p_thread_id order by f.seq limit 1000) as m
    where memory._is_kept_message(m.is_active, m.summary_id)
    order by m.seq
  loop
    exit when message.role not in ('system', 'developer') or not message.is_active;
    if memory._is_current_message(message.is_active, message.expires_at) then
      seqs := seqs || message.seq;
    end if;
  end loop;
  return seqs;
end;
$$;

-- The seq after the instructions that begin a thread; 0 for a thread without them.
create or replace function memory._seq_after_opening(p_user_id text, p_thread_id text)
returns bigint
language plpgsql stable parallel safe
as $$
begin
  return coalesce(max(b.seq) + 1, 0) from unnest(memory._opening(p_user_id, p_thread_id)) as b (seq);
end;
$$;
