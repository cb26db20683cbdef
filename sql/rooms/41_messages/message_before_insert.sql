-- Checks, numbers and books a message that was inserted into memory.messages directly.
create or replace function memory._message_before_insert()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  short memory.shortened_message;
  booked record;
begin
  if new.seq is not null and current_setting('memory.seqs_reserved', true) = 'masked' then
    return memory._masked_booked_message(new);
  end if;
  -- memory.add_message() and memory.add_messages() insert under numbers that they have reserved; the trigger's WHEN
  -- lets their rows pass by.
  if new.seq is not null then
    perform memory._refuse('seq', 'is assigned by the database', 'Leave it out of the insert.');
  end if;
  if new.role = 'agent' then
    new.role := 'assistant';
  end if;
  new.metadata := coalesce(new.metadata, '{}');
  new.created_at := coalesce(new.created_at, statement_timestamp());
  if not memory._is_user(new.user_id) then
    perform memory._check_id('user_id', new.user_id);
  end if;
  if memory._message_problem(new.user_id, new.thread_id, new.agent_id, new.role, new.content, new.metadata,
                             new.created_at, new.idempotency_key) is not null then
    perform memory._refuse_message(new.user_id, new.thread_id, new.agent_id, new.role, new.content, new.metadata,
                                   new.created_at, new.idempotency_key);
  end if;
  perform memory._check_bound('expires_at', new.expires_at);
  new.artifact_key := null;
  new.content_digest := null;
  if memory._may_be_long(new.content) then
    short := memory._shorten(memory._policy_section(new.user_id, new.agent_id, 'artifacts'), new.user_id, new.thread_id,
                             new.agent_id, new.role, new.content, new.metadata, new.idempotency_key is not null);
    if short.artifact_key is not null then
      new.content := short.content;
      new.metadata := short.metadata;
      new.artifact_key := short.artifact_key;
      new.content_digest := short.content_digest;
    end if;
  end if;
  new.token_count := memory._estimated_tokens(new.content, new.metadata);
  new.updated_at := statement_timestamp();
  new.is_active := true;

  booked := memory._append(new.user_id, new.thread_id, new.agent_id, 1, new.token_count, new.created_at,
                           new.created_at, memory._ends_round(new.role, new.metadata));
  if booked.first_seq is null then
    perform memory._note_missing_resource(new.agent_id, 'memory', 'nothing is stored');
    return null;
  end if;
  new.seq := booked.first_seq;
  new.expires_at := coalesce(new.expires_at, booked.expires_at);
  -- The thread is locked now, so nobody can add the same key between this test and the insert. A refusal here keeps
  -- seq without gaps even for "on conflict do nothing".
  if new.idempotency_key is not null
    and exists (select from memory._messages_by_keys(new.user_id, new.thread_id, array[new.idempotency_key])) then
    perform memory._refuse('idempotency_key', format('"%s" is used in this thread already', new.idempotency_key),
      'memory.add_message() returns the stored message instead.', '23505');
  end if;
  if booked.reservation = 'masked' then
    perform set_config('memory.seqs_reserved', '', true);
    new := memory._masked_booked_message(new);
  end if;
  return new;
end;
$$;
