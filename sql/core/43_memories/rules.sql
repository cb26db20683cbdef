-- The rules of memories. A trigger applies them, so "insert into memory.memories ..." from psql obeys them, too.

-- The greatest number of bytes of the content, and of the embedding_text, of a memory.
create or replace function memory._max_memory_bytes()
returns int
language sql immutable parallel safe
begin atomic
  select 262144;
end;

-- The type of a stored memory that somebody states again with the type p_said. A memory of type "fact" takes the new
-- type; any other type stays, because a caller who names no type gets "fact".
create or replace function memory._finer_type(p_stored text, p_said text)
returns text
language sql immutable parallel safe
begin atomic
  select case p_stored when 'fact' then p_said else p_stored end;
end;

-- The argument that breaks a rule of memories; null when none does. Without p_has_new_tags the tags are not checked.
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

-- The memory with one spelling for values that mean the same: infinity becomes null, which every driver can read.
-- Refuses a memory that breaks a rule, and names the rule.
create or replace function memory._checked_memory(p_candidate memory.memories, p_has_new_tags boolean)
returns memory.memories
language plpgsql stable parallel safe
as $$
declare
  problem text;
  value text;
begin
  p_candidate.metadata := coalesce(p_candidate.metadata, '{}');
  p_candidate.tags := coalesce(p_candidate.tags, '{}');
  p_candidate.valid_from := nullif(p_candidate.valid_from, 'infinity');
  p_candidate.valid_to := nullif(p_candidate.valid_to, 'infinity');
  problem := memory._memory_problem(p_candidate, p_has_new_tags);
  value := case when problem is not null then to_jsonb(p_candidate) ->> problem end;
  case
    when problem is null then
      null; -- nothing is wrong
    when problem in ('user_id', 'agent_id', 'thread_id', 'source', 'subject', 'attribute') then
      perform memory._check_id(problem, value);
    when problem = 'content' then
      perform memory._check_text(p_candidate.content, memory._max_memory_bytes(),
        'A memory is a sentence worth keeping, such as "Prefers email over phone calls".');
    when problem = 'embedding_text' then
      perform memory._refuse('embedding_text',
        format('has %s bytes, at most %s are allowed', octet_length(p_candidate.embedding_text),
          memory._max_memory_bytes()),
        'A few sentences are enough to find a memory by.', '54000');
    when problem = 'metadata' then
      perform memory._check_metadata(p_candidate.metadata);
    when problem = 'memory_type' then
      perform memory._check_memory_types('memory_type', array[p_candidate.memory_type]);
    when problem in ('confidence', 'importance') then
      perform memory._refuse(problem, format('%s is not between 0 and 1', coalesce(value, 'null')),
        case problem when 'confidence' then '1 means certain.'
                     else format('%s is the default.', memory._default_importance()) end);
    when problem = 'created_at' then
      perform memory._check_moment('created_at', p_candidate.created_at);
    when problem = 'valid_to' and memory._is_bound(p_candidate.valid_to) then
      perform memory._refuse('valid_to',
        format('%s is before valid_from %s', p_candidate.valid_to, p_candidate.valid_from),
        'Leave valid_to out while it still holds.');
    when problem in ('valid_from', 'valid_to', 'expires_at') then
      perform memory._check_bound(problem, value::timestamptz);
    when problem = 'tags' then
      perform memory._check_list('tags', p_candidate.tags);
    when problem = 'operation' then
      perform memory._refuse('operation',
        format('"%s" is unknown', coalesce(left(value, 50), 'null')),
        'Leave operation out: what happens to a memory says which one it is.');
    when problem = 'quarantined_at' then
      perform memory._refuse('quarantined_at', 'does not go with quarantine_reason and deleted_at',
        'Call memory.quarantine_memory() or memory.release_memory(), which change all three.');
  end case;
  return p_candidate;
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
