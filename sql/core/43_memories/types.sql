-- The rows that the functions of memories return.
create type memory.stored_memory as (memory_id uuid, inserted boolean);
comment on type memory.stored_memory is 'What memory.add_memory() returns.';

create type memory.memory as (
  memory_id uuid, memory_type text, content text, agent_id text, thread_id text, metadata jsonb, tags text[],
  confidence real, importance real, valid_from timestamptz, valid_to timestamptz, created_at timestamptz,
  updated_at timestamptz, expires_at timestamptz, superseded_by uuid, supersede_reason text,
  superseded_at timestamptz, version int, total_count bigint, source text, source_seqs bigint[], trust real,
  quarantined_at timestamptz, quarantine_reason text, space text, subject text, attribute text, state text
);
comment on type memory.memory is 'A memory, as memory.get_memory() and memory.list_memories() return it.';

create type memory.memory_version as (
  version int, operation text, content text, metadata jsonb, changed_at timestamptz, changed_by text
);
comment on type memory.memory_version is 'A version of a memory, as memory.get_memory_history() returns it.';

create type memory.new_memory as (
  content text, memory_type text, agent_id text, thread_id text, metadata jsonb, tags text[],
  confidence double precision, importance double precision, valid_from timestamptz, valid_to timestamptz,
  expires_at timestamptz, embedding_text text, source text, memory_id uuid, subject text, attribute text,
  replaces uuid[]
);
comment on type memory.new_memory is 'The arguments of memory.add_memory(), in their order.';
