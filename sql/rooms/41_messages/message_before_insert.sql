-- Checks, numbers and books a message that was inserted into memory.messages directly.
create or replace function memory._message_before_insert()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  settled jsonb[];
  short memory.shortened_message;
  booked record;
begin
  if new.seq is not null then
    perform memory._refuse('seq', 'is assigned by the database', 'Leave it out of the insert.');
  end if;
  if not memory._is_user(new.user_id) then
    perform memory._check_id('user_id', new.user_id);
  end if;
  new.role := memory._role(new.role);
  settled := memory._settled_metadata(coalesce(new.metadata, '{}'));
  new.metadata := settled[1];
  new.files := settled[2];
  new.content := memory._text_of_message(new.role, new.content, new.metadata);
  new.created_at := coalesce(new.created_at, statement_timestamp());
  short := memory._settle_message(new.user_id, new.thread_id, new.agent_id, new.role, new.content, new.metadata,
                                  new.created_at, new.expires_at, new.idempotency_key);
  new.content := short.content;
  new.metadata := short.metadata;
  new.artifact_key := short.artifact_key;
  new.content_digest := short.content_digest;
  new.token_count := memory._estimated_tokens(new.content, new.metadata);
  new.updated_at := statement_timestamp();
  new.is_active := true;

  booked := memory._append(new.user_id, new.thread_id, new.agent_id, 1, new.token_count, new.created_at,
                           new.created_at, memory._ends_round(new.role, new.metadata));
  if booked.first_seq is null then
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
  if booked.masks is not null then
    select m.* into new.content, new.metadata, new.token_count
    from memory._mask_booked(new.user_id, new.thread_id, new.content, new.metadata, new.token_count,
                             new.artifact_key, booked.masks) as m;
  end if;
  perform memory._note_change(new.user_id, 'message', new.thread_id, 'added', new.seq);
  return new;
end;
$$;
