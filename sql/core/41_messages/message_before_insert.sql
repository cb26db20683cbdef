-- Checks, numbers and books a message that was inserted into memory.messages directly.
create or replace function memory._message_before_insert()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  policy jsonb;
begin
  if new.seq is not null then
    perform memory._refuse('seq', 'is assigned by the database', 'Leave it out of the insert.');
  end if;
  perform memory._check_id('user_id', new.user_id);
  policy := memory._policy(new.user_id, new.agent_id);
  new := memory._message_in(
    memory._new_message(new.user_id, new.thread_id, new.agent_id, new.role, new.content, new.metadata, new.created_at,
                        new.expires_at, new.idempotency_key, new.utc_offset),
    policy, memory._masks(policy, true));
  if not (policy #>> '{resources,memory}')::boolean then
    perform memory._note_missing_resource(new.agent_id, 'memory', 'nothing is stored');
    return null;
  end if;
  -- Locks the thread before it looks for the key, so that nobody can add the same key before the insert. A refusal here
  -- leaves no gap in seq, even for "on conflict do nothing".
  if new.idempotency_key is not null then
    perform memory._lock_thread(new.user_id, new.thread_id);
    if exists (select from memory._messages_by_keys(new.user_id, new.thread_id, array[new.idempotency_key])) then
      perform memory._refuse('idempotency_key', format('"%s" is used in this thread already', new.idempotency_key),
        'memory.add_message() returns the stored message instead.', '23505');
    end if;
  end if;
  new.seq := memory._book(new.user_id, new.thread_id, policy, 1, new.token_count, new.created_at, new.created_at,
                          memory._ends_round(new.role, new.metadata));
  perform memory._note_change(new.user_id, 'message', new.thread_id, 'added', new.seq);
  return new;
end;
$$;
