-- needs pgvector on the search_path

-- Whether a text passes the filters for which memory.texts has columns. as_of is compared with created_at here, but not
-- for memories and summaries: memory._passing() tells which of them held at as_of.
create or replace function memory._is_asked_for(
  p_source text, p_thread_id text, p_agent_id text, p_created_at timestamptz, p_for_agent text,
  p_filters memory._search_filters
)
returns boolean
language sql immutable parallel safe
begin atomic
  select (p_for_agent is null or p_agent_id is null or p_agent_id = p_for_agent)
    and ((p_filters).thread_id is null or p_thread_id = (p_filters).thread_id)
    and ((p_filters).exclude_thread_id is null or p_thread_id is distinct from (p_filters).exclude_thread_id)
    and ((p_filters).created_after is null or p_created_at > (p_filters).created_after)
    and ((p_filters).created_before is null or p_created_at < (p_filters).created_before)
    and ((p_filters).as_of is null or p_source in ('memory', 'summary') or p_created_at <= (p_filters).as_of);
end;

-- The texts of a user and of spaces that a search may see. Every filter is applied here, so no filter comes after a
-- limit. If p_messages or p_memories is given, only the messages or memories that it names are candidates. A search
-- reads memories and documents of spaces, as far as these can pass the filters: a filter of threads names those of the
-- user. matched is null for a text without a word of the query. PostgreSQL puts this statement into that of
-- memory._ranked(), because returning a thousand rows from a function takes a tenth of a search.
create or replace function memory._candidates(
  p_user_id text, p_spaces text[], p_agent_id text, p_agent_of_spaces text, p_sources text[],
  p_filters memory._search_filters, p_looked_up text[], p_passing text[], p_queries tsquery[], p_any_word tsquery,
  p_model text, p_target halfvec, p_are_behind boolean, p_messages text[], p_memories text[]
)
returns setof memory._candidate
language sql stable parallel safe
begin atomic
  select t.user_id, t.source, t.id, t.thread_id, t.number, t.created_at,
    case
      when t.model = p_model then memory._cosine_similarity(t.embedding, p_target)
      when p_are_behind then (
        select memory._cosine_similarity(b.embedding, p_target) from memory.embeddings as b
        where b.user_id = t.user_id and b.source = t.source and b.id = t.id and b.model = p_model) end,
    case when t.words @@ p_any_word then array(
      select n from generate_subscripts(p_queries, 1) as n where t.words @@ p_queries[n]) end,
    case when p_any_word is not null then length(t.words) end
  from (
    select t.* from memory.texts as t
    where t.user_id = any (p_user_id || p_spaces) and t.source = any (array(
      select s from unnest(p_sources) as s
      where case s when 'message' then p_messages is null when 'memory' then p_memories is null else true end))
    union all
    select t.*
    from (select 'message', m from unnest(p_messages) as m
          union all select 'memory', m from unnest(p_memories) as m) as i (source, id)
    cross join lateral ( -- finds each text by its key
      select t.* from memory.texts as t
      where t.user_id = p_user_id and t.source = i.source and t.id = i.id offset 0) as t) as t
  where (t.user_id = p_user_id or t.source in ('memory', 'document'))
    and case when p_agent_id is null and p_agent_of_spaces is null and p_filters is null -- also true for a row of nulls
      then t.valid_until > statement_timestamp()
      else (t.valid_until > statement_timestamp()
            or t.source in ('memory', 'summary') and t.source = any (p_looked_up))
        and memory._is_asked_for(
          t.source, case t.user_id when p_user_id then t.thread_id end, t.agent_id, t.created_at,
          case t.user_id when p_user_id then p_agent_id else p_agent_of_spaces end, p_filters)
        and (t.source <> all (coalesce(p_looked_up, '{}'))
             or t.source || ' ' || t.id in (select p from unnest(p_passing) as p)) end;
end;

-- For the filters for which memory.texts has no column: the sources whose texts must be looked up for them (looked_up),
-- and the texts of these sources that pass (passing), each as its source, a blank and its id.
-- The first of p_user_ids is the user: of spaces a search reads memories and documents alone.
create or replace function memory._passing(
  p_user_ids text[], p_sources text[], p_filters memory._search_filters, out looked_up text[], out passing text[]
)
language plpgsql stable parallel safe
as $$
declare
  owner text;
begin
  looked_up := array(
    select s from unnest(p_sources) as s
    where p_filters.filter is not null
      or case s
        when 'memory' then num_nonnulls(
          p_filters.memory_types, p_filters.tags_all, p_filters.tags_any, p_filters.exclude_tags,
          p_filters.min_confidence, p_filters.as_of, p_filters.include_superseded) > 0
        when 'summary' then p_filters.as_of is not null
        when 'document' then num_nonnulls(p_filters.doc_types, p_filters.namespaces) > 0
        else false end);
  passing := array[]::text[];
  {{each source:
  if '<source>' = any (looked_up) then
    -- One user at a time: a join with the users could read the rows of all users.
    foreach owner in array case when '<source>' in ('memory', 'document') then p_user_ids else p_user_ids[:1] end loop
      passing := passing || array(select '<source> ' || p from memory._<source>_passing(owner, p_filters) as p);
    end loop;
  end if;}}
end;
$$;
