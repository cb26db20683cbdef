-- A placeholder's replacement is the artifact, or, if the artifact does not fit, the passages that say most about the
-- query. Inserted content is never expanded itself, so an artifact that names itself does no harm.

-- The artifacts of these keys that fit into p_room tokens (null: no limit but 200 MiB in all), in the order of the
-- keys; number is the place of the key. p_refs: the placeholders that the artifacts replace, whose tokens they may use;
-- null if the artifacts' own placeholders are meant. If an artifact does not fit, its passages among p_passages stand
-- after the placeholder, as many as fit.
create or replace function memory._expansions(
  p_user_id text, p_keys text[], p_refs text[], p_room int, p_passages memory._passage[]
)
returns table (number int, key text, ref text, said text, is_whole boolean)
language plpgsql stable parallel safe
set enable_sort = off -- as in memory._passages_about()
set enable_nestloop = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  room int := p_room;
  artifact record;
  used int;
begin
  for artifact in
    with named as materialized (
      select k.number, a.key, a.content_id, a.token_count, a.description,
        -- Hardly any text has fewer than seven tokens for forty bytes. A replaced placeholder frees at most 500 tokens.
        p_room is null or a.token_count * 0.7 <= greatest(p_room, 0)::bigint + 500 as is_short
      from unnest(p_keys) with ordinality as k (key, number)
      cross join lateral (
        select c.* from memory._current_artifacts(p_user_id) as c
        where c.key between k.key and k.key order by c.key limit 1) as a
    ), readable as materialized (
      -- The statement reads as many artifacts as could fit if a few of them turn out to be too long.
      select n.*, n.is_short and sum(case when n.is_short then n.token_count::bigint end) over (order by n.number)
        <= case when p_room is null then 52428800 else 3 * greatest(p_room, 0)::bigint + 1000 end as is_read
      from named as n
    )
    select r.*, t.content
    from readable as r
    cross join lateral (
      select case when r.is_read then (
        select string_agg(q.content, '' order by q.first_byte) from memory.artifact_parts as q
        where q.user_id = p_user_id and q.content_id = r.content_id) end as content
      offset 0) as t
    where r.is_read or r.key in (select p.key from unnest(p_passages) as p)
    order by r.number
  loop
    continue when memory._is_held_back_artifact(p_user_id, artifact.key, case
      when artifact.content is null then memory._bytes_shown(p_passages, artifact.key, 600) else '{(,)}' end);
    number := artifact.number;
    key := artifact.key;
    ref := coalesce(p_refs[number], memory._memory_ref(key, artifact.description, artifact.token_count));
    used := case when p_room is not null and artifact.content is not null
      then memory._tokens_at_most(artifact.content) - memory._tokens_at_most(ref) end;
    is_whole := artifact.content is not null and (p_room is null or used <= room);
    if is_whole then
      said := artifact.content;
    else
      said := (memory._passages_that_fit(p_user_id, array(
        select p from unnest(p_passages) as p where p.key = artifact.key order by p.score desc), 600, room)).said;
      continue when said is null;
      used := memory._tokens_at_most(said);
      said := ref || e'\n' || said || e'\n';
    end if;
    room := room - used;
    return next;
  end loop;
end;
$$;

-- The number of bytes of an artifact that these passages show with p_around bytes around each passage, including the
-- bytes of the artifact's first 500 characters, where a table has the names of its columns. A character has four bytes
-- at most.
create or replace function memory._bytes_shown(p_passages memory._passage[], p_key text, p_around int)
returns int4multirange
language plpgsql immutable parallel safe
as $$
begin
  return range_agg(int4range(greatest(p.first_byte - p_around, 0), p.end_byte + p_around))
    + int4multirange(int4range(0, 2000))
  from unnest(p_passages) as p
  where p.key = p_key;
end;
$$;

-- The best of these passages, as many as fit into p_room tokens with p_around bytes around each. If only the best
-- passage fits, it may have fewer bytes around it; if not even that fits, the result is null. keys names the artifacts
-- of the passages. p_has_refs: each artifact begins with its placeholder.
create or replace function memory._passages_that_fit(
  p_user_id text, p_passages memory._passage[], p_around int, p_room int, p_has_refs boolean default false,
  out said text, out keys text[]
)
language plpgsql stable parallel safe
as $$
declare
  passages memory._passage[] := p_passages;
  around int := p_around;
  tokens int;
begin
  while cardinality(passages) > 0 and p_room > 10 loop
    select array_agg(s.key order by s.score desc),
      string_agg(case when p_has_refs then s.ref || e'\n' else '' end || s.said, e'\n\n' order by s.score desc)
    into keys, said
    from memory._passages_shown(p_user_id, passages, around) as s;
    tokens := memory._tokens_at_most(said);
    if tokens <= p_room then
      return;
    end if;
    if cardinality(passages) > 1 then
      passages := passages[:greatest(
        least(cardinality(passages) - 1, cardinality(passages) * p_room::bigint / tokens), 1)];
    else
      exit when around < 10;
      around := around / 3;
    end if;
  end loop;
  said := null;
  keys := null;
end;
$$;
