-- needs pgvector on the search_path

-- The kept texts of a context: texts that stand as placeholders in the thread, in one part, fenced like recalled
-- messages. The part shows the artifacts that the newest messages name, as far as they fit, because the model has not
-- read them yet. Of all other artifacts that the thread names, the part shows the passages that say most about the
-- query (passages.sql).
--
-- bench/passages measures this part: a conversation with forty outputs of 3,000 tokens, and questions about one line of
-- one output. The part shows a passage if its score is at least 0.15 and at least half of the best score. With lower
-- limits, questions about other subjects bring more passages, and hardly any question gets more answers.

-- The artifacts that the thread names, each with the newest message that names it, newest first; nulls if the policy
-- shows no artifacts, or the user has none: the artifacts of the newest 200 messages that were kept as artifacts, and
-- those that the newest 50 messages name otherwise.
create or replace function memory._named_artifacts(p_asking memory._asking, out keys text[], out seqs bigint[])
language plpgsql stable parallel safe
as $$
begin
  -- Most users have no artifacts.
  if not exists (select from memory.artifacts as a where a.user_id = p_asking.user_id) then
    return;
  end if;
  select array_agg(n.key order by n.seq desc, n.key), array_agg(n.seq order by n.seq desc, n.key)
  into keys, seqs
  from (
    select n.key, max(n.seq) as seq
    from (
      (select m.artifact_key as key, m.seq
       from memory.messages as m
       where m.user_id = p_asking.user_id and m.thread_id = p_asking.thread_id and m.artifact_key is not null
         and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
         and (p_asking.agent_id is null or m.agent_id = p_asking.agent_id)
       order by m.seq desc limit 200)
      union all
      select k.key, m.seq
      from (select a.seq, a.content
            from memory._active_messages(p_asking.user_id, p_asking.thread_id, p_asking.agent_id) as a
            order by a.seq desc limit 50) as m
      cross join lateral unnest(memory._named_keys(m.content)) as k (key)
      where strpos(m.content, 'MemoryRef: ') > 0
    ) as n
    group by n.key) as n;
end;
$$;

-- The part of kept texts within p_room tokens, and the artifacts that it leaves out. The newest messages begin with
-- p_newest.
create or replace function memory._kept_texts(
  p_asking memory._asking, p_keys text[], p_seqs bigint[], p_newest bigint, p_rest int, p_room int
)
returns memory._offer[]
language plpgsql stable parallel unsafe
as $$
declare
  heading constant text := 'Kept texts, as far as they concern the question, with the numbers of their lines. '
    '[...] stands for lines that are left out:';
  newest_keys constant text[] := array(
    select n.key from unnest(p_keys, p_seqs) with ordinality as n (key, seq, place)
    where n.seq >= p_newest order by n.place);
  room int := p_room - memory._tokens_at_most(memory._fenced(heading));
  passages memory._passage[];
  best double precision;
  expansion record;
  block text;
  blocks text[] := array[]::text[];
  said text; -- the part
  shown jsonb := jsonb '[]';
begin
  if not (p_asking.policy #>> '{context,expand_artifacts}')::boolean then
    return array[memory._left_out('recalled', 'the policy shows no artifacts (context.expand_artifacts)', 0)];
  elsif room < 50 then
    return array(
      select memory._left_out('recalled', 'the artifact does not fit', a.token_count, a.key)
      from memory._current_artifacts(p_asking.user_id) as a where p_asking.explains and a.key = any (p_keys));
  end if;

  passages := array(
    select p
    from memory._passages_about(p_asking, p_keys, 1000, 12) as p
    order by p.score desc);
  best := passages[1].score;
  for expansion in
    select e.*
    from memory._expansions(
      p_asking.user_id, newest_keys, null, room,
      -- The beginning and the end of each artifact without a passage.
      passages || array(
        select row(a.key, a.content_id, t.first_byte, t.first_byte + 1, t.score)::memory._passage
        from memory._current_artifacts(p_asking.user_id) as a
        cross join lateral memory._content_bytes(p_asking.user_id, a.content_id) as z (bytes)
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
    join (select k.key,
            memory._is_held_back_artifact(p_asking.user_id, k.key, memory._bytes_shown(passages, k.key, 400))
            as is_held_back
          from (select distinct u.key from unnest(passages) as u) as k) as k on k.key = p.key and not k.is_held_back
    order by p.score desc);
  expansion := memory._passages_that_fit(p_asking.user_id, passages, 400, room, true);
  if expansion.said is not null then
    blocks := blocks || expansion.said;
    shown := shown || (select jsonb_agg(jsonb_build_object('key', k.key, 'is_whole', false))
                       from unnest(expansion.keys) as k (key));
  end if;
  said := memory._fenced(heading || e'\n\n' || nullif(array_to_string(blocks, e'\n\n'), ''));
  said := case when memory._tokens_at_most(said) <= p_rest then said end;
  return array(
    select row(11, 0, 'recalled', null, 'system', said, memory._tokens_at_most(said),
      jsonb_build_object('artifacts', shown), null, null, null)::memory._offer
    where said is not null)
    || array(
    select memory._left_out('recalled', case
        when n.key = any (newest_keys) or n.key in (select p.key from unnest(passages) as p)
          then 'the artifact does not fit'
        else 'the artifact says too little about the query' end, a.token_count, n.key)
    from unnest(p_keys) with ordinality as n (key, place)
    join memory._current_artifacts(p_asking.user_id) as a on a.key = n.key
    where p_asking.explains
      and (said is null or n.key not in (select k ->> 'key' from jsonb_array_elements(shown) as k))
    order by n.place);
end;
$$;
