create or replace function memory._message_before_insert()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may insert need not have rights on counters and jobs
set search_path = pg_catalog, pg_temp
as $$
declare
  appended record;
begin
  -- Only memory.add_messages() brings numbers along, and does not come here: it has checked its rows and reserved the
  -- numbers for them all at once.
  if new.seq is not null then
    perform memory._refuse('seq', 'is assigned by the database', 'Leave it out of the insert.');
  end if;
  if new.role = 'agent' then
    new.role := 'assistant';
  end if;
  new.metadata := coalesce(new.metadata, '{}');
  if not memory._is_plain_message(new.user_id, new.thread_id, new.agent_id, new.role, new.content, new.metadata,
    new.created_at, new.idempotency_key) then
    perform memory._check_message(new.user_id, new.thread_id, new.agent_id, new.role, new.content, new.metadata,
      new.created_at, new.idempotency_key);
  end if;
  new.token_count := memory._estimate_tokens(new.content);
  if new.metadata ? 'tool_calls' then
    new.token_count := new.token_count + memory._estimate_tokens(new.metadata ->> 'tool_calls');
  end if;
  new.created_at := coalesce(new.created_at, statement_timestamp());
  new.updated_at := statement_timestamp();
  new.is_active := true;

  if not memory._is_real_moment(new.expires_at) then
    perform memory._check_bound('expires_at', new.expires_at);
  end if;

  appended := memory._append(new.user_id, new.thread_id, new.agent_id, 1, new.token_count, new.created_at, new.created_at,
                             new.role = 'assistant' and not new.metadata ? 'tool_calls');
  new.seq := appended.first_seq;
  new.expires_at := coalesce(new.expires_at, appended.expires_at);
  -- The thread is locked now, so nobody can add the same key between this test and the insert. Refusing here keeps
  -- seq gapless even for "on conflict do nothing".
  if new.idempotency_key is not null then
    if exists (select from memory._messages_by_keys(new.user_id, new.thread_id, array[new.idempotency_key])) then
      perform memory._refuse('idempotency_key', format('"%s" is used in this thread already', new.idempotency_key),
        'memory.add_message() returns the stored message instead.', '23505');
    end if;
  end if;
  return new;
end;
$$;
