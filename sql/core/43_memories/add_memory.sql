create or replace function memory.add_memory(
  user_id text, content text, memory_type text default 'fact', agent_id text default 'default',
  thread_id text default null, metadata jsonb default '{}', tags text[] default '{}',
  confidence double precision default 1.0, importance double precision default null,
  valid_from timestamptz default null, valid_to timestamptz default null, expires_at timestamptz default null,
  embedding_text text default null, source text default 'user', on_conflict text default 'ignore',
  memory_id uuid default null, subject text default null, attribute text default null, replaces uuid[] default null
)
returns memory.stored_memory
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_on_conflict(on_conflict);
  return w from memory._write_memories(user_id, array[row(
    content, memory_type, agent_id, thread_id, metadata, tags, confidence, importance, valid_from, valid_to, expires_at,
    embedding_text, source, memory_id, subject, attribute, replaces)::memory.new_memory], on_conflict) as w;
end;
$$;
comment on function memory.add_memory(
  text, text, text, text, text, jsonb, text[], double precision, double precision, timestamptz, timestamptz,
  timestamptz, text, text, text, uuid, text, text, uuid[]
) is
'Stores a long-term memory and returns its id. If the agent has the same content already, whatever its type, '
'on_conflict decides: ignore returns the stored memory with inserted = false, replace updates it, error refuses '
'(23505). A stored fact takes the type that the repetition names; every other type stays. '
'subject and attribute say what the memory is about, such as "daughter Lou" and "phone/home". Where the attribute has '
'one value at a time (policy memories.attributes), the memory of the value before ends: its valid_to is the valid_from '
'of the new one, or else now. replaces ends exactly the memories that it names. '
'tags, confidence and importance that are left out are taken from the metadata if it has them. Over '
'max_per_agent the memory of the agent that matters least is evicted, which may be the new one: then inserted is '
'false too. For an agent without the resource memory nothing is stored: memory_id is null; nor is what the user had '
'forgotten, if a model says it again (source extraction). A call that is repeated '
'with the same memory_id stores once: the memory of this id is returned as it is, also if it was changed or deleted '
'since.';
