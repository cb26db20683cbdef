-- needs pgvector on the search_path

-- The steps: find the placeholders and the artifacts that they name; choose the artifacts that a query needs
-- (relevant_keys.sql) and put them in the order of relevance (passages.sql); read them in this order, each whole or its
-- passages (expansions.sql), until max_tokens are spent; and put the text together. Each artifact is inserted once, at
-- the first placeholder that names it, because a second copy would only repeat it.
create or replace function memory.expand_refs(
  user_id text, content text, max_tokens int default null, query text default null,
  query_embedding vector default null
)
returns text
-- Volatile, because the function keeps the embedding of the query.
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan -- planning takes three times as long as running
as $$
declare
  -- A placeholder, with or without its description.
  pattern constant text := e'\\[MemoryRef: ([A-Za-z0-9._:/@#=+-]+)(?: - [^][]*)?\\]';
  room int;
  all_refs text[];
  refs text[]; -- the first placeholder of each artifact, in the order in which they get tokens
  keys text[]; -- the keys of the artifacts that refs name
  places int[]; -- the places of refs among all_refs
  passages memory._passage[];
  relevant text[]; -- the keys of the relevant artifacts
  replaced int[]; -- the places of the placeholders that the function replaces
  said text[]; -- the texts that replace the placeholders
  result text;
begin
  perform memory._check_id('user_id', user_id);
  if content is null then
    perform memory._refuse('content', 'must not be null', 'Pass the text in which placeholders stand.');
  elsif max_tokens < 0 then
    perform memory._refuse('max_tokens', format('%s is less than 0', max_tokens), 'Leave it out for no limit.');
  end if;
  if max_tokens = 0 or strpos(content, '[MemoryRef: ') = 0 then
    return content;
  end if;
  all_refs := array(
    select m.groups[1]
    from regexp_matches(content, '(' || pattern || ')', 'g') with ordinality as m (groups, place) order by m.place);
  select array_agg(f.ref order by f.place), array_agg(f.key order by f.place), array_agg(f.place order by f.place)
  into refs, keys, places
  from (
    select distinct on (r.key) r.ref, r.key, r.place
    from (select u.ref, memory._ref_key(u.ref) as key, u.place::int
          from unnest(all_refs) with ordinality as u (ref, place)) as r
    order by r.key, r.place) as f;
  room := max_tokens - memory._tokens_at_most(content);
  query := memory._query_or_null(query);
  if num_nonnulls(query, query_embedding) > 0 then
    select * into passages, relevant from memory._asked_about(
      user_id, keys, query, query_embedding, max_tokens,
      -- Whether all of them surely fit, so that their order does not matter: hardly any text has more than three tokens
      -- for four bytes. The statement reads 1,000 keys at most.
      room is null or cardinality(keys) <= 1000 and (
        select coalesce(sum(3 * a.token_count::bigint), 0) <= room
        from memory._current_artifacts(expand_refs.user_id) as a
        where a.key = any (keys)));
    select array_agg(f.ref order by b.score desc nulls last, f.place),
      array_agg(f.key order by b.score desc nulls last, f.place),
      array_agg(f.place order by b.score desc nulls last, f.place)
    into refs, keys, places
    from unnest(refs, keys, places) as f (ref, key, place)
    left join (select p.key, max(p.score) as score from unnest(passages) as p group by p.key) as b
      on b.key = f.key
    where f.key = any (relevant);
  end if;
  select array_agg(places[e.number] order by e.number), array_agg(e.said order by e.number) into replaced, said
  from memory._expansions(user_id, keys, refs, room, passages) as e;

  -- The sum of the bounds of single texts may be lower than the tokens of the joined text. Then the last texts stay
  -- placeholders.
  loop
    select string_agg(t.text || coalesce(e.said, r.ref, ''), '' order by t.place) into result
    from regexp_split_to_table(content, pattern) with ordinality as t (text, place)
    left join unnest(all_refs) with ordinality as r (ref, place) on r.place = t.place
    left join unnest(replaced, said) as e (place, said) on e.place = t.place;
    exit when max_tokens is null or replaced is null or memory._tokens_at_most(result) <= max_tokens;
    replaced := nullif(trim_array(replaced, 1), '{}');
    said := trim_array(said, 1);
  end loop;
  return result;
end;
$$;
comment on function memory.expand_refs(text, text, int, text, vector) is
'A text with its placeholders replaced by what they stand for, as far as max_tokens (of the whole result) allow; null '
'is no limit, with 0 nothing is replaced. With a query (in words, as query_embedding, or both) a model chooses the '
'artifacts that the query needs: a rerank model, else a chat model, else the embedding model; without a model all are '
'chosen. Those that say most of the query come first, and of one that does not fit the lines that do follow its '
'placeholder, with their numbers and "[...]" where lines are left out; without a query they come in the order of the '
'text, and each whole. A placeholder that is not chosen, that does not fit, that names no artifact of this user, or '
'that stands in an inserted content stays as it is, and so does any further placeholder of the same artifact.';
