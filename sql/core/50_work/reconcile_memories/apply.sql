-- Applies a model's verdicts about sets of facts: some sets are duplicates, others contradict each other. A set changes
-- something only if all its facts belong to one agent and one subject, have at most 1,000 characters, and none has
-- changed since the job handed them out. A set that changes nothing counts as refused.
--   - Of duplicates the newest fact stays, or one that has all of its words. It hides the others that may be wordings
--     of the same statement (memory._may_be_reworded()).
--   - Of contradicting facts the one that was said last stays, and of facts said at the same time the more confident
--     one. If it may not end one of the others (memory._may_end()), that other one stays instead. Facts of which the
--     staying fact does not speak (memory._speaks_of()) stay as well.
-- A hidden fact keeps its row, and memory.restore_memory() brings it back.
create or replace function memory._reconcile_memories_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  given constant int := jsonb_array_length(p_job.input -> 'facts');
  handed_out uuid[];
  ids uuid[];
  item record;
  facts memory.memories[];
  language regconfig;
  winner memory.memories;
  losers uuid[];
  reason text;
  kept int;
  merged int;
  contradicted int;
  said text;
  words text[];
  reasons text[] := array[]::text[]; -- the reasons of some refused sets
  refused int := 0;
begin
  if coalesce(jsonb_typeof(p_result -> 'duplicates'), jsonb_typeof(p_result -> 'contradictions'))
      is distinct from 'array'
    or coalesce(jsonb_typeof(p_result -> 'contradictions'), 'array') <> 'array' then
    perform memory._refuse_result('duplicates and contradictions', 'must be arrays');
  end if;
  handed_out := memory._lock_unchanged(p_job.user_id, p_job.input -> 'facts');
  ids := handed_out;
  for item in
    -- The function reads at most four mentions per fact. An honest reply names a fact two or three times; a reply that
    -- names each fact again and again would take minutes.
    select s.section = 'duplicates' as is_duplicate, n.numbers,
      sum(coalesce(cardinality(n.numbers), 0)) over (order by s.place, i.place) <= 4 * given
        and i.place <= given as is_read
    from unnest(array['duplicates', 'contradictions']) with ordinality as s (section, place)
    cross join lateral jsonb_array_elements(p_result -> s.section) with ordinality as i (value, place)
    cross join lateral (
      select array_agg(distinct v::numeric::int) as numbers
      from jsonb_array_elements_text(case when memory._are_numbers_from(i.value -> 'numbers', given)
        then i.value -> 'numbers' else '[]' end) as v) as n
    order by s.place, i.place
  loop
    losers := '{}';
    if item.numbers is null then
      reasons := reasons || 'malformed'::text;
      refused := refused + 1;
      continue;
    end if;
    -- The newest fact comes first. Facts that an earlier set has hidden are left out.
    facts := case when item.is_read then array(
      select m
      from memory._memories_by_ids(p_job.user_id, array(select ids[n] from unnest(item.numbers) as n)) as m
      where memory._is_current(m)
      order by memory._said(m) desc, m.thread_id desc, m.created_at desc, m.memory_id desc) end;
    if (select count(*) >= 2 and count(distinct f.agent_id) = 1 and count(distinct memory._subject(f.subject)) = 1
          and max(length(f.content)) <= 1000 and (select bool_and(ids[n] is not null) from unnest(item.numbers) as n)
        from unnest(facts) as f) then
      if item.is_duplicate then
        language := memory._language(p_job.user_id, facts[1].agent_id);
        winner := (
          select facts[w.place]
          from (select p.place, memory._stems_of(facts[p.place].content, language) as words
                from generate_subscripts(facts, 1) as p (place)) as w
          where w.words @> memory._stems_of(facts[1].content, language)
          order by memory._is_stated(facts[w.place]) desc, cardinality(w.words) desc, w.place limit 1);
        losers := array(
          select f.memory_id from unnest(facts) as f
          where f.memory_id <> winner.memory_id and memory._may_outrank(winner.trust, f.trust)
            and (memory._is_stated(winner) or not memory._is_stated(f))
            and memory._may_be_reworded(winner.content, f.content, language));
        reason := 'duplicate';
      else
        winner := coalesce((
          select facts[p.place] from generate_subscripts(facts, 1) as p (place)
          where not memory._may_end(facts[1], facts[p.place]) order by p.place limit 1), facts[1]);
        losers := array(
          select f.memory_id from unnest(facts) as f
          where f.memory_id <> winner.memory_id and memory._may_end(winner, f));
        if losers <> '{}' and not (
          memory._policy_section(p_job.user_id, winner.agent_id, 'models') ->> 'translates')::boolean then
          language := memory._language(p_job.user_id, winner.agent_id);
          said := concat_ws(e'\n', winner.content, (
            select string_agg(memory._message_says(m), e'\n')
            from memory._messages_by_seqs(p_job.user_id, winner.thread_id, winner.source_seqs) as m));
          -- The words of the subject do not count, because all these facts have them.
          words := array(select unnest(memory._evidence_words(said, language))
                         except select unnest(memory._evidence_words(winner.subject, language)));
          losers := array(
            select f.memory_id from unnest(facts) as f
            where f.memory_id = any (losers) and memory._speaks_of(said, words, language, winner.attribute, f));
          reasons := reasons || case when losers = '{}' then 'no evidence' end;
        end if;
        reason := case when winner.memory_id = facts[1].memory_id then 'replaced' else 'stated' end;
      end if;
    end if;
    if losers = '{}' then
      refused := refused + 1;
      continue;
    end if;
    perform memory._end_memories(p_job.user_id, losers, winner.memory_id, reason, case when reason = 'replaced' then (
      -- A fact that was said again after the other facts began was true before and after them.
      select case when winner.valid_from > max(coalesce(f.valid_from, f.created_at)) then winner.valid_from
                  else memory._said_at(winner) end
      from unnest(facts) as f where f.memory_id = any (losers)) end);
    if item.is_duplicate then
      perform memory._keep_the_best(p_job.user_id, winner.memory_id, losers);
      -- The numbers of hidden duplicates now name the fact that stays.
      ids := array(
        select case when i.id = any (losers) then winner.memory_id else i.id end
        from unnest(ids) with ordinality as i (id, position) order by i.position);
    end if;
  end loop;
  perform memory._check_some_readable('duplicates and contradictions', reasons,
    coalesce(jsonb_array_length(p_result -> 'duplicates'), 0)
      + coalesce(jsonb_array_length(p_result -> 'contradictions'), 0));
  if coalesce((p_job.request ->> 'n')::int, 50) >= 50 then -- a smaller n has left older new facts out
    perform memory._set_mark(p_job.user_id, '', 'reconcile_memories', (p_job.input ->> 'newest')::bigint);
  end if;
  select count(*) filter (where m.superseded_at is null), count(*) filter (where m.supersede_reason = 'duplicate'),
    count(*) filter (where m.supersede_reason in ('replaced', 'stated'))
  into kept, merged, contradicted
  from memory._memories_by_ids(p_job.user_id, handed_out) as m;
  return jsonb_build_object('kept', kept, 'merged', merged, 'contradicted', contradicted, 'refused', refused,
    'refusals', memory._counted_refusals(reasons));
end;
$$;

-- Gives the duplicate that stays the tags of all duplicates and their highest confidence and importance. Texts, times
-- and source messages do not change.
create or replace function memory._keep_the_best(p_user_id text, p_winner uuid, p_losers uuid[])
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  update memory.memories as m
  set tags = case when m.tags @> b.tags then m.tags else b.tags end, confidence = b.confidence,
    importance = b.importance, operation = 'update'
  from (
    select max(o.confidence) as confidence, max(o.importance) as importance,
      -- A memory may have 100 tags. The winner's own come first.
      array(
        select k.tag
        from (
          select t.tag
          from memory._memories_by_ids(p_user_id, p_losers || p_winner) as s
          cross join lateral unnest(s.tags) as t (tag)
          group by t.tag order by bool_or(s.memory_id = p_winner) desc, t.tag limit 100) as k
        order by k.tag) as tags
    from memory._memories_by_ids(p_user_id, p_losers || p_winner) as o) as b
  where m.user_id = p_user_id and m.memory_id = p_winner
    and (not m.tags @> b.tags or m.confidence < b.confidence or m.importance < b.importance);
end;
$$;
