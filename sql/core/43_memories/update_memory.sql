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
  present memory.memories;
  said record;
begin
  perform memory._check_id('user_id', user_id);
  present := memory._locked_memory(user_id, memory_id);
  if not memory._is_shown_or_waits(present.deleted_at, present.quarantine_reason) then
    perform memory._refuse_unknown_memory(memory_id);
  elsif present.version <> expected_version then
    perform memory._refuse('expected_version',
      format('the memory is at version %s, not %s', present.version, expected_version),
      'Read it again and decide on the new content.', '40001');
  end if;
  said := memory._said_in_metadata(metadata, present.metadata);
  update memory.memories as m
  set content = coalesce(update_memory.content, m.content),
      metadata = coalesce( -- keeps the mark of a memory that awaits a review
        update_memory.metadata || jsonb_strip_nulls(jsonb_build_object('awaits_review', m.metadata -> 'awaits_review')),
        m.metadata),
      tags = coalesce(update_memory.tags, said.tags, m.tags),
      confidence = coalesce(memory._real(coalesce(update_memory.confidence, said.confidence)), m.confidence),
      importance = coalesce(memory._real(coalesce(update_memory.importance, said.importance)), m.importance),
      expires_at = coalesce(update_memory.expires_at, m.expires_at),
      said_at = case when update_memory.content <> m.content then statement_timestamp() else m.said_at end,
      operation = 'update'
  where m.user_id = update_memory.user_id and m.memory_id = update_memory.memory_id
  returning m.* into present;
  return present.version;
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
