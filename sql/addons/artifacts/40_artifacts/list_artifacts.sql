create or replace function memory.list_artifacts(
  user_id text, artifact_type text default null, thread_id text default null, row_limit int default 50,
  row_offset int default 0
)
returns setof memory.artifact
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_reader(user_id);
  perform memory._check_id('thread_id', coalesce(thread_id, 'any'));
  perform memory._check_page(row_limit, row_offset);
  return query
  select a.key, memory._memory_ref(a.key, a.description, a.token_count), a.artifact_type, a.description, a.token_count,
    a.agent_id, a.thread_id, a.metadata, a.created_at, memory._real_or_null(a.expires_at), count(*) over ()
  from memory._current_artifacts(user_id) as a
  where (list_artifacts.artifact_type is null or a.artifact_type = list_artifacts.artifact_type)
    and (list_artifacts.thread_id is null or a.thread_id = list_artifacts.thread_id)
  order by a.created_at desc, a.key desc
  limit row_limit offset row_offset;
end;
$$;
comment on function memory.list_artifacts(text, text, text, int, int) is
'A user''s artifacts, newest first, without their contents, which memory.retrieve_artifact() reads. memory_ref is the '
'placeholder; total_count is the number of matches on all pages.';
