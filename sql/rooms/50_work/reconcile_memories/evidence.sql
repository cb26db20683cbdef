-- The claims of some of the facts of a job, by memory_id: memory._claim() with the added fields topics
-- (memory._topics()), is_stated and trust. If the job has ten or more facts, words in more than half of them are no
-- topics, because such words do not tell the facts apart: the user's name, for example.
create or replace function memory._claims_of(p_user_id text, p_facts uuid[], p_memory_ids uuid[])
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  ignored text[];
begin
  ignored := memory._claim_words(p_user_id) || array(
    select w.lexeme
    from memory._memories_by_ids(p_user_id, p_facts) as m
    cross join lateral unnest(coalesce(m.search_vector, m.long_search_vector)) as w
    group by w.lexeme having cardinality(p_facts) >= 10 and count(*) > cardinality(p_facts) / 2);
  return jsonb_object_agg(m.memory_id, memory._claim(m.content, a.language) || jsonb_build_object(
    'topics', memory._topics(m.content, a.language, ignored || memory._claim_words(memory._subject(m.metadata))),
    'is_stated', memory._is_stated(m), 'trust', m.trust))
  from (
    select o.agent_id, memory._language(p_user_id, o.agent_id) as language
    from memory._memories_by_ids(p_user_id, p_memory_ids) as o
    group by o.agent_id) as a
  join memory._memories_by_ids(p_user_id, p_memory_ids) as m on m.agent_id = a.agent_id;
end;
$$;

-- The duplicate that stays. A duplicate can stay if it is the newest or says all that the newest says. Of these,
-- duplicates that the user stated come first, then those with the most words, then the one whose text the model
-- repeats, apart from case, spaces and punctuation. The result is null if the model's text says more than the
-- duplicates. A model's own text is never stored.
create or replace function memory._wording_that_stays(
  p_user_id text, p_memory_ids uuid[], p_claims jsonb, p_content text
)
returns uuid
language plpgsql stable parallel safe
as $$
declare
  newest constant uuid := memory._newest_said(p_user_id, p_memory_ids, p_claims);
  newest_claim constant jsonb := p_claims -> newest::text;
  words constant jsonb := to_jsonb(memory._claim_words(p_content));
  merged constant jsonb := (
    select memory._claim(p_content, memory._language(p_user_id, m.agent_id))
    from memory.memories as m where m.user_id = p_user_id and m.memory_id = p_memory_ids[1]);
  stems constant text[] := array(
    select s from unnest(p_memory_ids) as i
    cross join lateral unnest(memory._texts(p_claims -> i::text -> 'stems')) as s);
begin
  return (
    select d.memory_id
    from (
      select m.memory_id, m.claim,
        m.content_hash = memory._content_hash(p_content) or words <> '[]' and m.claim -> 'words' = words as is_named,
        bool_or(m.content_hash = memory._content_hash(p_content) or m.claim -> 'words' = words
          or merged -> 'stems' <> '[]' and memory._texts(merged -> 'stems') <@ stems
            and merged -> 'turns' = m.claim -> 'turns') over () as says_nothing_new
      from (
        select o.*, p_claims -> o.memory_id::text as claim
        from memory._memories_by_ids(p_user_id, p_memory_ids) as o) as m) as d
    where d.says_nothing_new
      and (d.memory_id = newest or memory._says_all_of(d.claim, newest_claim, (newest_claim ->> 'is_stated')::boolean))
    order by d.claim -> 'is_stated' desc, jsonb_array_length(d.claim -> 'words') desc nulls last, d.is_named desc,
      d.memory_id = newest desc, d.memory_id
    limit 1);
end;
$$;

-- The contradicting memory that stays: the memory that was said last. An extracted memory gives way to a memory that
-- the user stated, unless newer words of the user prove the extracted memory.
create or replace function memory._side_that_stays(p_user_id text, p_memory_ids uuid[], p_claims jsonb)
returns uuid
language plpgsql stable parallel safe
as $$
declare
  newest constant uuid := memory._newest_said(p_user_id, p_memory_ids);
  stated constant uuid := memory._newest_said(p_user_id, p_memory_ids, p_claims);
begin
  return case
    when stated = newest or memory._has_newer_words(
      p_user_id, newest, stated, p_claims -> newest::text, p_claims -> stated::text) then newest
    else stated end;
end;
$$;

-- The memory that was said last, or of memories said at the same time the most confident one. A memory counts as said
-- again when somebody said a duplicate that it hides. With p_claims only the memories count that somebody stated, if
-- there are any.
create or replace function memory._newest_said(p_user_id text, p_memory_ids uuid[], p_claims jsonb default null)
returns uuid
language plpgsql stable parallel safe
as $$
declare
  stated constant uuid[] := array(
    select i from unnest(p_memory_ids) as i where (p_claims -> i::text ->> 'is_stated')::boolean);
begin
  p_memory_ids := case when stated = '{}' then p_memory_ids else stated end;
  return (
    with recursive said as (
      select m.memory_id as stays, m.memory_id, memory._said(m) as said
      from memory._memories_by_ids(p_user_id, p_memory_ids) as m
      union
      select s.stays, m.memory_id, memory._said(m) from memory.memories as m
      join said as s on s.memory_id = m.superseded_by
      where m.user_id = p_user_id and m.supersede_reason in ('duplicate', 'near-duplicate')
        and m.deleted_at is null
    )
    select m.memory_id from memory._memories_by_ids(p_user_id, p_memory_ids) as m
    order by (select max(s.said) from said as s where s.stays = m.memory_id) desc, m.thread_id desc, m.created_at desc,
      m.memory_id desc
    limit 1);
end;
$$;

-- Whether a model's decision is enough for one memory to hide another memory as a duplicate or a contradiction. The two
-- must be about the same subject, and the winner must be trusted enough. A memory that the user stated only gives way
-- to another memory that the user stated, or in a contradiction to newer words of the user. Of duplicates the winner
-- must say all that the loser says, or be the newer of two wordings that may be one statement.
create or replace function memory._may_hide(
  p_user_id text, p_winner uuid, p_loser uuid, p_claims jsonb, p_is_duplicate boolean
)
returns boolean
language plpgsql stable parallel safe
as $$
declare
  claim constant jsonb := p_claims -> p_winner::text;
  other constant jsonb := p_claims -> p_loser::text;
  is_stated constant boolean := (other ->> 'is_stated')::boolean;
  is_protected constant boolean := is_stated and not (claim ->> 'is_stated')::boolean;
begin
  return coalesce(
    memory._may_outrank((claim ->> 'trust')::real, (other ->> 'trust')::real)
    and case
      when p_is_duplicate then not is_protected and (
        memory._says_all_of(claim, other, is_stated)
        or memory._is_about_the_same(claim, other) and memory._may_be_reworded(claim, other)
          and memory._newest_said(p_user_id, array[p_winner, p_loser]) = p_winner)
      else memory._is_about_the_same(claim, other)
        and (not is_protected or memory._has_newer_words(p_user_id, p_winner, p_loser, claim, other))
    end, false);
end;
$$;

-- Whether messages of the user that are newer than a stated memory (the loser) confirm an extracted memory (the
-- winner). The messages confirm it if they have all its new numbers, one of its new words if it has any, and a negating
-- word if the winner negates more than the loser. The function only reads the messages that the winner names as its
-- source; deleted messages confirm no memory.
create or replace function memory._has_newer_words(
  p_user_id text, p_winner uuid, p_loser uuid, p_claim jsonb, p_other jsonb
)
returns boolean
language plpgsql stable parallel safe
as $$
declare
  topics constant text[] := memory._texts(p_claim -> 'topics');
  new_topics constant text[] := array(
    select t from unnest(topics) as t where t <> all (memory._texts(p_other -> 'topics')));
  new_figures constant text[] := array(
    select w from unnest(memory._texts(p_claim -> 'words')) as w
    where memory._is_figure(w) and w <> all (memory._texts(p_other -> 'words')));
  extracted memory.memories;
  stated memory.memories;
  said text;
  said_words text[];
begin
  select m.* into extracted from memory.memories as m
  where m.user_id = p_user_id and m.memory_id = p_winner;
  select m.* into stated from memory.memories as m
  where m.user_id = p_user_id and m.memory_id = p_loser;
  select string_agg(memory._without_recalled(left(m.content, 65536)), e'\n' order by m.seq) into said
  from memory._messages_by_seqs(
    p_user_id, extracted.thread_id,
    extracted.source_seqs[1:20]) as m -- one memory rarely has more sources, and reading hundreds takes long
  where m.role = 'user' and m.metadata ->> 'recalled' is distinct from 'true'
    and m.created_at > greatest(memory._last_said(stated), memory._reworded_at(stated));
  said_words := memory._claim_words(said);
  if said is null or not said_words @> new_figures
    or (p_claim ->> 'turns')::int > (p_other ->> 'turns')::int and memory._turning_words(said_words) = 0 then
    return false;
  end if;
  return new_topics = '{}' and new_figures <> '{}'
    or memory._topic_keys(said_words, memory._language(p_user_id, extracted.agent_id))
       && case when new_topics = '{}' then topics else new_topics end;
end;
$$;

-- Gives the duplicate that stays the tags of all duplicates and their highest confidence and importance. Text, times
-- and source messages of each memory stay.
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
      -- A memory may have 100 tags of 255 characters; with more, the job would fail again and again. The winner's own
      -- tags come first.
      array(
        select k.tag
        from (
          select t.tag
          from memory._memories_by_ids(p_user_id, p_losers || p_winner) as s
          cross join lateral unnest(s.tags) as t (tag)
          where length(t.tag) <= 255
          group by t.tag order by bool_or(s.memory_id = p_winner) desc, t.tag limit 100) as k
        order by k.tag) as tags
    from memory._memories_by_ids(p_user_id, p_losers || p_winner) as o) as b
  where m.user_id = p_user_id and m.memory_id = p_winner
    and (not m.tags @> b.tags or m.confidence < b.confidence or m.importance < b.importance);
end;
$$;
