create or replace function memory.update_memory(
  user_id text, memory_id uuid, content text default null, metadata jsonb default null,
  tags text[] default null, confidence double precision default null, importance double precision default null,
  expires_at timestamptz default null, expected_version int default null
)
returns int
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  current_version int;
  current_metadata jsonb;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._lock_scopes_of(user_id, array[memory_id]);
  select m.version, m.metadata into current_version, current_metadata
  from memory.memories as m
  where m.user_id = update_memory.user_id
    and m.memory_id = update_memory.memory_id
    and memory._is_shown_or_waits(m.deleted_at, m.quarantine_reason)
    and memory._is_unexpired(m.expires_at)
  for no key update;
  if not found then
    perform memory._refuse_unknown_memory(memory_id);
  elsif current_version <> expected_version then
    perform memory._refuse('expected_version',
      format('the memory is at version %s, not %s', current_version, expected_version),
      'Read it again and decide on the new content.', '40001');
  end if;
  if memory._has_memory_attributes(metadata) then
    tags := coalesce(tags, memory._tags_in(metadata, current_metadata));
    confidence := coalesce(confidence, memory._share_in(metadata, 'confidence', current_metadata));
    importance := coalesce(importance, memory._share_in(metadata, 'importance', current_metadata));
  end if;
  update memory.memories as m
  set content = coalesce(update_memory.content, m.content),
      metadata = coalesce( -- with the mark of a memory that waits for a review
        update_memory.metadata || jsonb_strip_nulls(jsonb_build_object('awaits_review', m.metadata -> 'awaits_review')),
        m.metadata),
      tags = coalesce(update_memory.tags, m.tags),
      confidence = coalesce(memory._real(update_memory.confidence), m.confidence),
      importance = coalesce(memory._real(update_memory.importance), m.importance),
      expires_at = coalesce(update_memory.expires_at, m.expires_at),
      said_at = case when update_memory.content <> m.content then statement_timestamp() else m.said_at end,
      operation = 'update'
  where m.user_id = update_memory.user_id and m.memory_id = update_memory.memory_id
  returning m.version into current_version;
  return current_version;
exception
  when unique_violation then
    raise exception 'content: is stored already as another memory of this agent'
      using errcode = '23505', hint = 'Supersede one of the two with memory.supersede_memory().';
end;
$$;
comment on function memory.update_memory(
  text, uuid, text, jsonb, text[], double precision, double precision, timestamptz, int
) is
'Changes the given parts of a memory and returns its new version; the earlier version stays in its history. With '
'expected_version the change is refused (40001) if another session changed the memory first. tags, confidence and '
'importance that are left out are taken from the new metadata where it changes them. expires_at => infinity removes '
'an expiry. A memory that waits for a review (policy extraction.review) can be changed and goes on waiting.';
