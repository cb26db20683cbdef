-- needs pgvector on the search_path

-- The kept texts of a context: texts that stand as placeholders in the thread, in one part, fenced like recalled
-- messages. The part shows the artifacts that the newest messages name, as far as they fit, because the model has not
-- read them yet. Of all other artifacts that the thread names, the part shows the passages that say most about the
-- query (passages.sql).
--
-- bench/passages measures this part: a conversation with forty outputs of 3,000 tokens, and questions about one line of
-- one output. The part shows a passage if its score is at least 0.15 and at least half of the best score. With lower
-- limits, questions about other subjects bring more passages, and hardly any question gets more answers.

-- The part of kept texts, which stands last before the thread; null if no text is to be shown. The part takes at most
-- artifacts_share of the tokens that the newest messages leave, or half of the tokens that the whole thread leaves.
create or replace function memory._kept_texts(
  p_user_id text, p_thread_id text, p_agent_id text, p_query text, p_model text, p_target halfvec, p_policy jsonb,
  p_max_tokens int
)
returns memory.context_part
language plpgsql stable parallel unsafe
as $$
declare
  heading constant text := 'Kept texts, as far as they concern the question, with the numbers of their lines. '
    '[...] stands for lines that are left out:';
  named record; -- of memory._artifacts_of_thread()
  newest record; -- of memory._newest_units()
  newest_keys text[];
  rest int; -- tokens that the newest messages leave
  room int;
  passages memory._passage[];
  best double precision;
  expansion record;
  block text;
  blocks text[] := array[]::text[];
  shown jsonb := jsonb '[]';
  content text;
begin
  if not (p_policy #>> '{context,expand_artifacts}')::boolean or not memory._has_artifacts(p_user_id) then
    return null;
  end if;
  select * into named from memory._artifacts_of_thread(p_user_id, p_thread_id, p_agent_id);
  if named.keys = '{}' then
    return null;
  end if;
  select * into newest from memory._newest_units(p_user_id, p_thread_id, p_agent_id, 1);
  newest_keys := array(
    select n.key from unnest(named.keys, named.seqs) with ordinality as n (key, seq, place)
    where n.seq >= newest.oldest[1] order by n.place);
  rest := p_max_tokens - coalesce(newest.tokens[1], 0);
  room := greatest(rest * memory._share(p_policy #>> '{context,artifacts_share}'), (
      -- The counter of the thread reckons four bytes per token; a context counts up to 1.3 times as many tokens.
      select (p_max_tokens - 1.3 * t.active_tokens) / 2
      from memory.threads as t where t.user_id = p_user_id and t.thread_id = p_thread_id))
    - memory._tokens_at_most(memory._fenced(heading));
  if room < 50 then
    return null;
  end if;

  passages := array(
    select p
    from memory._passages_about(
      p_user_id, named.keys, p_query, (p_policy #>> '{search,language}')::regconfig, p_model, p_target, 1000, 12) as p
    order by p.score desc);
  best := passages[1].score;
  for expansion in
    select e.*
    from memory._expansions(
      p_user_id, newest_keys, null, room, passages || memory._ends_of(p_user_id, newest_keys, passages)) as e
    order by e.number
  loop
    block := case when expansion.is_whole then expansion.ref || e'\n' else '' end || btrim(expansion.said, e'\n');
    exit when memory._tokens_at_most(block) > room;
    room := room - memory._tokens_at_most(block);
    blocks := blocks || block;
    shown := shown || jsonb_build_object('key', expansion.key, 'is_whole', expansion.is_whole);
  end loop;

  passages := array(
    select p from unnest(passages) as p
    where p.score >= greatest(0.15, best / 2) and p.key <> all (newest_keys)
    order by p.score desc limit case when best < 0.35 then 3 else 6 end);
  passages := array(
    select p
    from unnest(passages) as p
    join (select k.key, memory._is_held_back_artifact(p_user_id, k.key, memory._bytes_shown(passages, k.key, 400))
            as is_held_back
          from (select distinct u.key from unnest(passages) as u) as k) as k on k.key = p.key and not k.is_held_back
    order by p.score desc);
  select * into expansion from memory._passages_that_fit(p_user_id, passages, 400, room, true);
  if expansion.said is not null then
    blocks := blocks || expansion.said;
    shown := shown || (select jsonb_agg(jsonb_build_object('key', k.key, 'is_whole', false))
                       from unnest(expansion.keys) as k (key));
  end if;
  content := memory._fenced(heading || e'\n\n' || nullif(array_to_string(blocks, e'\n\n'), ''));
  if content is null or memory._tokens_at_most(content) > rest then
    return null;
  end if;
  return row(2147483647, 'system', content, 'recalled', memory._tokens_at_most(content),
             jsonb_build_object('artifacts', shown))::memory.context_part;
end;
$$;

-- Whether a user has artifacts. Most users have none, and then the context looks up nothing else.
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

-- The artifacts that a thread names, each with the newest message that names it, newest first: the artifacts of the
-- newest 200 messages that were kept as artifacts, and the artifacts that the newest 50 messages name otherwise.
create or replace function memory._artifacts_of_thread(
  p_user_id text, p_thread_id text, p_agent_id text, out keys text[], out seqs bigint[]
)
language plpgsql stable parallel safe
set enable_seqscan = off -- as in memory._has_said_more()
set jit = off
as $$
begin
  select coalesce(array_agg(n.key order by n.seq desc, n.key), '{}'), array_agg(n.seq order by n.seq desc, n.key)
  into keys, seqs
  from (
    select n.key, max(n.seq) as seq
    from (
      (select m.artifact_key as key, m.seq
       from memory.messages as m
       where m.user_id = p_user_id and m.thread_id = p_thread_id and m.artifact_key is not null
         and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
         and (p_agent_id is null or m.agent_id = p_agent_id)
       order by m.seq desc limit 200)
      union all
      select k.key, m.seq
      from (select a.seq, a.content from memory._active_messages(p_user_id, p_thread_id, p_agent_id) as a
            order by a.seq desc limit 50) as m
      cross join lateral unnest(memory._named_keys(m.content)) as k (key)
      where strpos(m.content, 'MemoryRef: ') > 0
    ) as n
    group by n.key) as n;
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
