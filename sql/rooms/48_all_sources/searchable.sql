-- The rows that a search may see, before the ranking. This function and the sources apply all filters, so no filter
-- comes after a limit. p_sources are the result of memory._sources_that_pass(). number is the seq of a message and the
-- number of a document's piece. p_unfiltered says that p_filters is null; this one test replaces up to ten tests per
-- row, which would take half of the time of a search. p_compares_words asks for the content and metadata of messages
-- that are not parsed yet. Each source tests p_sources and returns its name itself. If this function did both around
-- each call, the planner could not make one plain Append of all sources, and a search would take 4 % longer.
create or replace function memory._searchable(
  p_user_id text, p_sources text[], p_agent_id text, p_filters memory._search_filters, p_unfiltered boolean,
  p_compares_words boolean
)
returns table (
  source text, id text, thread_id text, number bigint, created_at timestamptz, vector tsvector, content text,
  metadata jsonb
)
language sql stable parallel safe
begin atomic
  select t.*
  from (
    {{each source, union all:
    select s.*
    from memory._<source>_searchable(
      p_user_id, p_sources, p_agent_id, p_filters, p_unfiltered, p_compares_words) as s}}
  ) as t
  where p_unfiltered or (
    ((p_filters).thread_id is null or t.thread_id = (p_filters).thread_id)
    and ((p_filters).exclude_thread_id is null or t.thread_id is distinct from (p_filters).exclude_thread_id)
    and ((p_filters).created_after is null or t.created_at > (p_filters).created_after)
    and ((p_filters).created_before is null or t.created_at < (p_filters).created_before));
end;
