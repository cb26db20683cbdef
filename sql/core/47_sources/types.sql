-- The filters of a search, passed as one value.
create type memory._search_filters as (
  thread_id text, exclude_thread_id text, memory_types text[], tags_all text[], tags_any text[],
  exclude_tags text[], filter jsonb, min_confidence double precision, created_after timestamptz,
  created_before timestamptz, as_of timestamptz, include_superseded boolean, doc_types text[], namespaces text[],
  time_asked text
);
comment on type memory._search_filters is
'The filters of memory.search() by the names of its arguments, null where a filter is not set. include_superseded '
'is true or null, time_asked the result of memory._time_asked().';
