-- The filters of a search as one value; a filter that is not set is null. include_superseded is true or null.
create or replace function memory._filters(
  p_thread_id text default null, p_exclude_thread_id text default null, p_memory_types text[] default null,
  p_tags_all text[] default null, p_tags_any text[] default null, p_exclude_tags text[] default null,
  p_filter jsonb default null, p_min_confidence double precision default null,
  p_created_after timestamptz default null, p_created_before timestamptz default null,
  p_as_of timestamptz default null, p_include_superseded boolean default null, p_doc_types text[] default null,
  p_namespaces text[] default null
)
returns memory._search_filters
language sql immutable parallel safe
begin atomic
  select row(
    p_thread_id, p_exclude_thread_id, p_memory_types, p_tags_all, p_tags_any, p_exclude_tags, p_filter,
    p_min_confidence, p_created_after, p_created_before, p_as_of, nullif(p_include_superseded, false), p_doc_types,
    p_namespaces)::memory._search_filters;
end;

-- The sources among p_sources whose texts can pass the filters: only memories pass some filters, only documents others.
create or replace function memory._sources_that_pass(p_sources text[], p_filters memory._search_filters)
returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return array(
    select s.source
    from unnest(p_sources) as s (source)
    where (s.source = 'memory' or num_nonnulls(
             p_filters.memory_types, p_filters.tags_all, p_filters.tags_any, p_filters.min_confidence) = 0)
      and (s.source = 'document' or num_nonnulls(p_filters.doc_types, p_filters.namespaces) = 0));
end;
$$;

-- The sources among p_sources that the policy gives to the agent: documents need the resource knowledge_base, all other
-- sources the resource memory. The function raises a notice if no source is left.
create or replace function memory._sources_of_agent(p_agent_id text, p_policy jsonb, p_sources text[])
returns text[]
language plpgsql stable parallel safe
as $$
declare
  resources constant jsonb := p_policy -> 'resources';
  sources constant text[] := array(
    select s.source from unnest(p_sources) as s (source)
    where (resources ->> case s.source when 'document' then 'knowledge_base' else 'memory' end)::boolean);
begin
  if sources = '{}' and p_sources = '{document}' then
    perform memory._note_missing_resource(p_agent_id, 'knowledge_base', 'no documents are searched');
  elsif sources = '{}' then
    perform memory._note_missing_resource(p_agent_id, 'memory', 'nothing is recalled');
  end if;
  return sources;
end;
$$;
