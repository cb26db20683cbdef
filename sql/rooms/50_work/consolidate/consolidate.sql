create or replace function memory.consolidate(user_id text)
returns bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  return memory._enqueue(user_id, 'consolidate', '', '{"is_forced": true}');
end;
$$;
comment on function memory.consolidate(text) is
'Queues the consolidation of a user''s short-term memories (types context and episodic, older than seven days) and '
'returns the job id. Those that belong together become an article of the knowledge base that names its sources; those '
'that were extracted are superseded by it. memory.sweep() queues it once ten of them are a week old.';
