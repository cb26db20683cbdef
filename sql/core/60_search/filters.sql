-- The filters of a search as one value; a filter that is not set is null. include_superseded is true or null.
create or replace function memory._filters(
  p_thread_id text default null, p_exclude_thread_id text default null, p_memory_types text[] default null,
  p_tags_all text[] default null, p_tags_any text[] default null, p_exclude_tags text[] default null,
  p_filter jsonb default null, p_min_confidence double precision default null,
  p_created_after timestamptz default null, p_created_before timestamptz default null,
  p_as_of timestamptz default null, p_include_superseded boolean default null, p_doc_types text[] default null,
  p_namespaces text[] default null, p_time_asked text default null
)
returns memory._search_filters
language sql immutable parallel safe
begin atomic
  select row(
    p_thread_id, p_exclude_thread_id, p_memory_types, p_tags_all, p_tags_any, p_exclude_tags, p_filter,
    p_min_confidence, p_created_after, p_created_before, p_as_of, nullif(p_include_superseded, false), p_doc_types,
    p_namespaces, p_time_asked)::memory._search_filters;
end;
