-- The rows that the functions of this room return.
create type memory.space as (
  space text, title text, access text, member_count bigint, memory_count bigint, created_at timestamptz,
  total_count bigint, metadata jsonb
);
comment on type memory.space is 'A space, as memory.list_spaces() returns it.';
