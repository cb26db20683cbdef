create or replace function memory.consolidate(user_id text, dry_run boolean default false)
returns bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  return memory._enqueue(user_id, 'consolidate', '', '{"is_forced": true}', memory._variant_of(dry_run));
end;
$$;
comment on function memory.consolidate(text, boolean) is
'Queues the consolidation of a user''s short-term memories (types context and episodic, older than seven days) and '
'returns the job id. Memories that belong together become an article of the knowledge base that names its sources; '
'the article supersedes the extracted ones. memory.sweep() queues it once ten of them are a week old. With dry_run '
'nothing changes, and the result of the job has the proposal: the articles, and what would end.';
