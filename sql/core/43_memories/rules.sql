-- The rules of memories. A trigger applies them, so "insert into memory.memories ..." from psql obeys them, too.

-- The number of bytes that the content and the embedding_text of a memory may each have.
create or replace function memory._max_memory_bytes()
returns int
language sql immutable parallel safe
begin atomic
  select 262144;
end;

-- The type of a memory that somebody states again with the type p_said: a plain fact takes that type, every other type
-- stays. A caller who names no type gets "fact".
create or replace function memory._finer_type(p_stored text, p_said text)
returns text
language sql immutable parallel safe
begin atomic
  select case p_stored when 'fact' then p_said else p_stored end;
end;

-- The argument that breaks a rule of memories; null when none does. memory._refuse_memory() says which rule the
-- argument breaks. A caller that changes no tags skips their check.
create or replace function memory._memory_problem(p_candidate memory.memories, p_has_new_tags boolean)
returns text
language plpgsql stable parallel safe
as $$
begin
  return case
    when not memory._is_id(p_candidate.user_id) then 'user_id'
    when not memory._is_id(p_candidate.agent_id) then 'agent_id'
    when p_candidate.thread_id is not null and not memory._is_id(p_candidate.thread_id) then 'thread_id'
    when not memory._is_id(p_candidate.source) then 'source'
    when p_candidate.subject is not null and not memory._is_id(p_candidate.subject) then 'subject'
    when p_candidate.attribute is not null and not memory._is_id(p_candidate.attribute) then 'attribute'
    when (p_candidate.content ~ e'\\S') is not true
      or octet_length(p_candidate.content) > memory._max_memory_bytes() then 'content'
    when octet_length(p_candidate.embedding_text) > memory._max_memory_bytes() then 'embedding_text'
    when not memory._is_metadata(p_candidate.metadata) then 'metadata'
    when not exists (select from memory.memory_types as t where t.memory_type = p_candidate.memory_type)
      then 'memory_type'
    when (p_candidate.confidence between 0 and 1) is not true then 'confidence'
    when (p_candidate.importance between 0 and 1) is not true then 'importance'
    when not memory._is_real_moment(p_candidate.created_at) then 'created_at'
    when p_has_new_tags and memory._list_problem(p_candidate.tags) is not null then 'tags'
    when (p_candidate.operation in (
      'insert', 'update', 'supersede', 'end', 'delete', 'evict', 'restore', 'quarantine', 'release')) is not true
      then 'operation'
    when (p_candidate.quarantined_at is null) <> (p_candidate.quarantine_reason is null)
      or (p_candidate.quarantined_at is null) <> (p_candidate.deleted_at is distinct from 'infinity')
      then 'quarantined_at'
    when not memory._is_bound(p_candidate.valid_from) then 'valid_from'
    when not memory._is_bound(p_candidate.valid_to) or p_candidate.valid_from > p_candidate.valid_to then 'valid_to'
    when not memory._is_bound(p_candidate.expires_at) then 'expires_at'
  end;
end;
$$;

-- Refuses a memory because of an argument that memory._memory_problem() names.
create or replace function memory._refuse_memory(p_problem text, p_candidate memory.memories)
returns void
language plpgsql stable parallel safe
as $$
begin
  case p_problem
    when 'user_id' then
      perform memory._check_id('user_id', p_candidate.user_id);
    when 'agent_id' then
      perform memory._check_id('agent_id', p_candidate.agent_id);
    when 'thread_id' then
      perform memory._check_id('thread_id', p_candidate.thread_id);
    when 'source' then
      perform memory._check_id('source', p_candidate.source);
    when 'subject' then
      perform memory._check_id('subject', p_candidate.subject);
    when 'attribute' then
      perform memory._check_id('attribute', p_candidate.attribute);
    when 'content' then
      perform memory._check_text(p_candidate.content, memory._max_memory_bytes(),
        'A memory is a sentence worth keeping, such as "Prefers email over phone calls".');
    when 'embedding_text' then
      perform memory._refuse('embedding_text',
        format('has %s bytes, at most %s are allowed', octet_length(p_candidate.embedding_text),
          memory._max_memory_bytes()),
        'A few sentences are enough to find a memory by.', '54000');
    when 'metadata' then
      perform memory._check_metadata(p_candidate.metadata);
    when 'memory_type' then
      perform memory._check_memory_types('memory_type', array[p_candidate.memory_type]);
    when 'confidence' then
      perform memory._refuse('confidence',
        format('%s is not between 0 and 1', coalesce(p_candidate.confidence::text, 'null')), '1 means certain.');
    when 'importance' then
      perform memory._refuse('importance',
        format('%s is not between 0 and 1', coalesce(p_candidate.importance::text, 'null')),
        format('%s is the default.', memory._default_importance()));
    when 'created_at' then
      perform memory._check_moment('created_at', p_candidate.created_at);
    when 'valid_from' then
      perform memory._check_bound('valid_from', p_candidate.valid_from);
    when 'valid_to' then
      perform memory._check_bound('valid_to', p_candidate.valid_to);
      perform memory._refuse('valid_to',
        format('%s is before valid_from %s', p_candidate.valid_to, p_candidate.valid_from),
        'Leave valid_to out while it still holds.');
    when 'expires_at' then
      perform memory._check_bound('expires_at', p_candidate.expires_at);
    when 'tags' then
      perform memory._check_list('tags', p_candidate.tags);
    when 'operation' then
      perform memory._refuse('operation',
        format('"%s" is unknown', coalesce(left(p_candidate.operation, 50), 'null')),
        'Leave operation out: what happens to a memory says which one it is.');
    when 'quarantined_at' then
      perform memory._refuse('quarantined_at', 'does not go with quarantine_reason and deleted_at',
        'Call memory.quarantine_memory() or memory.release_memory(), which change all three.');
  end case;
end;
$$;

-- Refuses an array of types that has an unknown type or a null, and names the known types.
create or replace function memory._check_memory_types(p_argument text, p_memory_types text[])
returns void
language plpgsql stable parallel safe
as $$
declare
  unknown text;
begin
  select coalesce('unknown type "' || left(t, 50) || '"', 'must not be null') into unknown
  from unnest(p_memory_types) as t
  where not exists (select from memory.memory_types as k where k.memory_type = t)
  limit 1;
  if found then
    perform memory._refuse(p_argument, unknown,
      'Known types: '
        || (select string_agg(known.memory_type, ', ' order by known.position, known.memory_type)
            from memory.memory_types as known)
        || '. Add one with: insert into memory.memory_types (memory_type, heading, description) values (...).');
  end if;
end;
$$;
