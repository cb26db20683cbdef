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
  p_max_tokens int, p_explains boolean,
  out content text, out tokens int, out details jsonb, out left_out jsonb[]
)
language plpgsql stable parallel unsafe
set enable_seqscan = off -- One user may have few messages and artifacts among the many of others.
set enable_bitmapscan = off
set jit = off
as $$
declare
  heading constant text := 'Kept texts, as far as they concern the question, with the numbers of their lines. '
    '[...] stands for lines that are left out:';
  -- The artifacts that the thread names, each with the newest message that names it, newest first.
  named_keys text[];
  named_seqs bigint[];
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
begin
  left_out := '{}';
  -- Most users have no artifacts.
  if not exists (select from memory.artifacts as a where a.user_id = p_user_id) then
    return;
  elsif not (p_policy #>> '{context,expand_artifacts}')::boolean then
    left_out := array[memory._left_out('recalled', 'the policy shows no artifacts (context.expand_artifacts)', 0)];
    return;
  end if;
  -- The artifacts of the newest 200 messages that were kept as artifacts, and those that the newest 50 messages name
  -- otherwise.
  select array_agg(n.key order by n.seq desc, n.key), array_agg(n.seq order by n.seq desc, n.key)
  into named_keys, named_seqs
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
  if named_keys is null then
    return;
  end if;
  newest := memory._newest_units(p_user_id, p_thread_id, p_agent_id, 1);
  newest_keys := array(
    select n.key from unnest(named_keys, named_seqs) with ordinality as n (key, seq, place)
    where n.seq >= newest.oldest[1] order by n.place);
  rest := p_max_tokens - coalesce(newest.tokens[1], 0);
  room := greatest(rest * memory._share(p_policy #>> '{context,artifacts_share}'), (
      -- The counter of the thread reckons four bytes per token; a context counts up to 1.3 times as many tokens.
      select (p_max_tokens - 1.3 * t.active_tokens) / 2
      from memory.threads as t where t.user_id = p_user_id and t.thread_id = p_thread_id))
    - memory._tokens_at_most(memory._fenced(heading));
  if room < 50 then
    left_out := array(
      select memory._left_out('recalled', 'the artifact does not fit', a.token_count, a.key)
      from memory._current_artifacts(p_user_id) as a where p_explains and a.key = any (named_keys));
    return;
  end if;

  passages := array(
    select p
    from memory._passages_about(
      p_user_id, named_keys, p_query, (p_policy #>> '{search,language}')::regconfig, p_model, p_target, 1000, 12) as p
    order by p.score desc);
  best := passages[1].score;
  for expansion in
    select e.*
    from memory._expansions(
      p_user_id, newest_keys, null, room,
      -- The beginning and the end of each artifact without a passage.
      passages || array(
        select row(a.key, a.content_id, t.first_byte, t.first_byte + 1, t.score)::memory._passage
        from memory._current_artifacts(p_user_id) as a
        cross join lateral memory._content_bytes(p_user_id, a.content_id) as z (bytes)
        cross join lateral (values (0, 0.0::double precision), (z.bytes - 1, 0.1)) as t (first_byte, score)
        where a.key = any (newest_keys) and a.key <> all (array(select p.key from unnest(passages) as p)))) as e
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
  expansion := memory._passages_that_fit(p_user_id, passages, 400, room, true);
  if expansion.said is not null then
    blocks := blocks || expansion.said;
    shown := shown || (select jsonb_agg(jsonb_build_object('key', k.key, 'is_whole', false))
                       from unnest(expansion.keys) as k (key));
  end if;
  content := memory._fenced(heading || e'\n\n' || nullif(array_to_string(blocks, e'\n\n'), ''));
  tokens := memory._tokens_at_most(content);
  if tokens > rest then
    content := null;
  end if;
  details := jsonb_build_object('artifacts', shown);
  if p_explains then
    left_out := array(
      select memory._left_out('recalled', case
          when n.key = any (newest_keys) or n.key in (select p.key from unnest(passages) as p)
            then 'the artifact does not fit'
          else 'the artifact says too little about the query' end, a.token_count, n.key)
      from unnest(named_keys) with ordinality as n (key, place)
      join memory._current_artifacts(p_user_id) as a on a.key = n.key
      where _kept_texts.content is null or n.key not in (select k ->> 'key' from jsonb_array_elements(shown) as k)
      order by n.place);
  end if;
end;
$$;
