-- needs pgvector on the search_path

-- The texts that stand as placeholders in a thread, as far as a context needs them: one part of the context, fenced as
-- recalled messages are. What the newest messages name is shown as far as it fits, because nobody has read it yet. Of
-- everything else that the thread names the passages are shown that say most of the query, if they say enough of it.

-- The part; null if there is nothing to show. It takes artifacts_share of what the newest messages leave of the context,
-- or half of what the whole thread leaves.
create or replace function memory._kept_texts(
  p_user_id text, p_thread_id text, p_agent_id text, p_query text, p_model text, p_target halfvec, p_policy jsonb,
  p_max_tokens int
)
returns memory.context_part
language plpgsql stable parallel unsafe
as $$
declare
  heading constant text := 'Kept texts, as far as they concern the question, with the numbers of their lines; '
    '[...] stands for what is left out:';
  named record; -- the artifacts that the thread names
  units record; -- of memory._newest_units(): the newest one
  room int;
  passages memory._passage[] := array[]::memory._passage[];
  shown text[] := array[]::text[]; -- artifacts
  blocks text[] := array[]::text[];
  block text;
  found record;
  content text;
begin
  if not (p_policy #>> '{context,expand_artifacts}')::boolean or not memory._has_artifacts(p_user_id) then
    return null;
  end if;
  select * into units from memory._newest_units(p_user_id, p_thread_id, p_agent_id, 1);
  select * into named from memory._artifacts_of_thread(p_user_id, p_thread_id, p_agent_id, units.oldest[1]);
  if cardinality(named.keys) = 0 then
    return null;
  end if;
  room := p_max_tokens - coalesce(units.tokens[1], 0);
  room := greatest(room * memory._share(p_policy #>> '{context,artifacts_share}'), (room - 1.3 * (
      select t.active_tokens from memory.threads as t where t.user_id = p_user_id and t.thread_id = p_thread_id)) / 2)
    - memory._tokens_at_most(memory._fenced(heading));
  if room < 50 then
    return null;
  end if;

  passages := array(
    select p
    from memory._passages_about(
      p_user_id, named.keys, p_query, (p_policy #>> '{search,language}')::regconfig, p_model, p_target, 1000, 12) as p);
  -- What the newest messages name; of what does not fit and has no passage, the beginning and the end.
  for found in
    select e.*, memory._memory_ref(a.key, a.description, a.token_count) as ref
    from memory._expansions(p_user_id, named.newest_keys, null, room,
      passages || memory._ends_of(p_user_id, named.newest_keys, passages)) as e
    join memory._current_artifacts(p_user_id) as a on a.key = e.key
    order by e.number
  loop
    block := case when found.is_whole then found.ref || e'\n' else '' end || btrim(found.said, e'\n');
    room := room - memory._tokens_at_most(block) - 2;
    exit when room < 0;
    blocks := blocks || block;
    shown := shown || found.key;
  end loop;
  -- Else what says something of the query, and not much less than the best.
  passages := array(
    select p
    from (select u as p, max(u.score) over () as best from unnest(passages) as u) as r
    where (r.p).key <> all (shown) and (r.p).score >= r.best / 2
      and ((r.p).score >= 0.15 or (r.p).key = any (named.newest_keys))
    order by (r.p).score desc limit 6);
  block := memory._passages_that_fit(p_user_id, passages, 400, room, true);
  blocks := blocks || block;
  content := memory._fenced(heading || e'\n\n' || nullif(array_to_string(blocks, e'\n\n'), ''));
  if content is null then
    return null;
  end if;
  return row(0, 'system', content, 'recalled', memory._tokens_at_most(content), jsonb_build_object('artifacts', (
    select jsonb_agg(k.key) from (
      select unnest(shown) as key
      union
      select p.key from unnest(passages) as p where strpos(block, '[MemoryRef: ' || p.key || ' - ') > 0) as k))
  )::memory.context_part;
end;
$$;

-- Whether a user has artifacts. Most have none, and then nothing else is looked up.
create or replace function memory._has_artifacts(p_user_id text)
returns boolean
language plpgsql stable parallel safe
set enable_seqscan = off -- as in memory._has_said_more()
set enable_bitmapscan = off
set jit = off
as $$
begin
  return exists (select from memory.artifacts as a where a.user_id = p_user_id);
end;
$$;

-- The artifacts that a thread names: the 200 that its newest messages became, and those that its newest 50 messages
-- name otherwise. newest_keys: those of the messages from p_newest_seq on.
create or replace function memory._artifacts_of_thread(
  p_user_id text, p_thread_id text, p_agent_id text, p_newest_seq bigint, out keys text[], out newest_keys text[]
)
language plpgsql stable parallel safe
set enable_seqscan = off -- as in memory._has_said_more()
set jit = off
as $$
begin
  with became as (
    select m.artifact_key as key, m.seq
    from memory.messages as m
    where m.user_id = p_user_id and m.thread_id = p_thread_id and m.artifact_key is not null
      and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
      and (p_agent_id is null or m.agent_id = p_agent_id)
    order by m.seq desc limit 200
  ), said as (
    select n.key, m.seq
    from (select a.seq, a.content from memory._active_messages(p_user_id, p_thread_id, p_agent_id) as a
          order by a.seq desc limit 50) as m
    cross join lateral unnest(memory._named_keys(m.content)) as n (key)
    where strpos(m.content, '[MemoryRef: ') > 0
  ), named as (
    select n.key, max(n.seq) as seq
    from (select b.* from became as b union all select s.* from said as s) as n
    group by n.key
  )
  select coalesce(array_agg(n.key order by n.seq desc, n.key), '{}'),
    coalesce(array_agg(n.key order by n.seq desc, n.key) filter (where n.seq >= p_newest_seq), '{}')
  into keys, newest_keys
  from named as n;
end;
$$;

-- The beginning and the end of each artifact that has no passage among p_passages.
create or replace function memory._ends_of(p_user_id text, p_keys text[], p_passages memory._passage[])
returns memory._passage[]
language plpgsql stable parallel safe
as $$
begin
  return array(
    select row(a.key, a.content_id, e.first_byte, e.first_byte + 1, e.score)::memory._passage
    from memory._current_artifacts(p_user_id) as a
    cross join lateral memory._content_bytes(p_user_id, a.content_id) as z (bytes)
    cross join lateral (values (0, 0.0::double precision), (z.bytes - 1, 0.1)) as e (first_byte, score)
    where a.key = any (p_keys) and a.key <> all (array(select p.key from unnest(p_passages) as p)));
end;
$$;

-- The parts of a context with one more, after the other parts that do not belong to the thread.
create or replace function memory._with_part(p_parts memory.context_part[], p_part memory.context_part)
returns memory.context_part[]
language plpgsql immutable parallel safe
as $$
begin
  return case when p_part.content is null then p_parts else array(
    select row(row_number() over (order by p.place), p.role, p.content, p.source, p.token_count, p.metadata)::memory.context_part
    from (
      select u.*, case when u.source in ('thread_summary', 'message') then u.ordinal + 1 else u.ordinal end * 2 as place
      from unnest(p_parts) as u
      union all
      select p_part.*, coalesce(min(u.ordinal), 0) * 2 + 1
      from unnest(p_parts) as u where u.source in ('thread_summary', 'message')) as p
    order by 1) end;
end;
$$;
