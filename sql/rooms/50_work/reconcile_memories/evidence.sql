-- The claims (memory._claim()) of some of the facts of a job, by memory_id. Words that occur in more than half of ten
-- or more facts are ignored, because they do not tell the facts apart: the user's name, for example.
create or replace function memory._claims_of(p_user_id text, p_facts uuid[], p_memory_ids uuid[])
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  ignored text[];
begin
  ignored := memory._claim_words(p_user_id) || array(
    select w.lexeme
    from memory.memories as m
    cross join lateral unnest(coalesce(m.search_vector, m.long_search_vector)) as w
    where m.user_id = p_user_id and m.memory_id = any (p_facts)
    group by w.lexeme having cardinality(p_facts) >= 10 and count(*) > cardinality(p_facts) / 2);
  return jsonb_object_agg(m.memory_id, memory._claim(
      m.content, a.language, ignored || memory._claim_words(memory._subject(m.metadata)))
    || jsonb_build_object('is_stated', memory._is_stated(m), 'trust', m.trust))
  from (
    select o.agent_id, memory._language(p_user_id, o.agent_id) as language
    from memory.memories as o where o.user_id = p_user_id and o.memory_id = any (p_memory_ids)
    group by o.agent_id) as a
  join memory.memories as m on m.agent_id = a.agent_id
  where m.user_id = p_user_id and m.memory_id = any (p_memory_ids);
end;
$$;

-- Which of duplicates stays: the one whose text the model repeats, apart from case, spaces and punctuation, if that is
-- the newest or the fullest (has the most words); else the fullest. What a user stated comes first. Null when the text
-- says something that none of them says. A text of the model's own is never stored.
create or replace function memory._wording_that_stays(
  p_user_id text, p_memory_ids uuid[], p_claims jsonb, p_content text
)
returns uuid
language plpgsql stable parallel safe
as $$
declare
  words constant jsonb := to_jsonb(memory._claim_words(p_content));
  merged constant jsonb := (
    select memory._claim(p_content, memory._language(p_user_id, m.agent_id), '{}')
    from memory.memories as m where m.user_id = p_user_id and m.memory_id = p_memory_ids[1]);
  stems constant text[] := array(
    select s from unnest(p_memory_ids) as i
    cross join lateral unnest(memory._texts(p_claims -> i::text -> 'stems')) as s);
begin
  return (
    select d.memory_id
    from (
      select m.memory_id, m.claim -> 'is_stated' as is_stated, m.claim -> 'turns' as turns,
        m.content_hash = memory._content_hash(p_content) or words <> '[]' and m.claim -> 'words' = words as is_named,
        rank() over (order by jsonb_array_length(m.claim -> 'words') desc nulls last) as fullest,
        row_number() over (order by m.said desc, m.thread_id desc, m.created_at desc, m.memory_id desc) as newest
      from (
        select o.*, memory._said(o) as said, p_claims -> o.memory_id::text as claim
        from memory.memories as o where o.user_id = p_user_id and o.memory_id = any (p_memory_ids)) as m) as d
    where d.is_named
      or merged -> 'stems' <> '[]' and memory._texts(merged -> 'stems') <@ stems and merged -> 'turns' = d.turns
    order by d.is_stated desc, d.is_named and 1 in (d.fullest, d.newest) desc, d.fullest, d.newest
    limit 1);
end;
$$;

-- The memory that was said last, or of those said at the same time the most confident one. A memory counts as said
-- again when a duplicate that it hides was said.
create or replace function memory._newest_said(p_user_id text, p_memory_ids uuid[])
returns uuid
language plpgsql stable parallel safe
as $$
begin
  return (
    with recursive said as (
      select m.memory_id as stays, m.memory_id, memory._said(m) as said
      from memory.memories as m
      where m.user_id = p_user_id and m.memory_id = any (p_memory_ids)
      union
      select s.stays, m.memory_id, memory._said(m) from memory.memories as m
      join said as s on s.memory_id = m.superseded_by
      where m.user_id = p_user_id and m.supersede_reason in ('duplicate', 'near-duplicate')
        and m.deleted_at is null
    )
    select m.memory_id from memory.memories as m
    where m.user_id = p_user_id and m.memory_id = any (p_memory_ids)
    order by (select max(s.said) from said as s where s.stays = m.memory_id) desc, m.thread_id desc, m.created_at desc,
      m.memory_id desc
    limit 1);
end;
$$;

-- Whether one of these memories may hide the others: all are still there, at least two, of one agent, about one
-- subject.
create or replace function memory._may_supersede(p_user_id text, p_memory_ids uuid[])
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return array_position(p_memory_ids, null) is null and count(*) >= 2 and count(*) = cardinality(p_memory_ids)
    and count(distinct m.agent_id) = 1 and count(distinct memory._subject(m.metadata)) = 1
  from memory.memories as m where m.user_id = p_user_id and m.memory_id = any (p_memory_ids);
end;
$$;

-- Whether a model's word is enough for one memory to hide another one as its duplicate or as its contradiction: the two
-- are about the same thing; the winner is trusted enough; and what the user stated gives way only to what the user
-- stated, or in a contradiction to newer words of the user. Of duplicates the winner must say all that the loser says,
-- or be the newer or fuller one of two wordings of what may be one statement.
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
  if not memory._may_outrank((claim ->> 'trust')::real, (other ->> 'trust')::real) then
    return false;
  elsif p_is_duplicate and (is_protected or memory._says_all_of(claim, other, is_stated)) then
    return not is_protected;
  end if;
  return coalesce(
    memory._is_about_the_same(claim, other)
    and case when p_is_duplicate then memory._may_be_reworded(claim, other) and (
               jsonb_array_length(claim -> 'words') > jsonb_array_length(other -> 'words')
               or memory._newest_said(p_user_id, array[p_winner, p_loser]) = p_winner)
             else not is_protected or memory._has_newer_words(p_user_id, p_winner, p_loser, claim, other) end, false);
end;
$$;

-- Whether messages of the user that are newer than a stated memory (the loser) say what an extracted memory (the
-- winner) says instead: all its new numbers, one of its new words if it has any, and a word that negates if it negates
-- more than the loser. Only the messages that the winner names as its source are read; deleted ones say nothing.
create or replace function memory._has_newer_words(
  p_user_id text, p_winner uuid, p_loser uuid, p_claim jsonb, p_other jsonb
)
returns boolean
language plpgsql stable parallel safe
as $$
declare
  topic constant text[] := memory._texts(p_claim -> 'topic');
  new_words constant text[] := array(
    select t from unnest(topic) as t where t <> all (memory._texts(p_other -> 'topic')));
  new_figures constant text[] := array(
    select w from unnest(memory._texts(p_claim -> 'words')) as w
    where memory._is_figure(w) and w <> all (memory._texts(p_other -> 'words')));
  extracted memory.memories;
  stated memory.memories;
  said text;
  said_words text[];
  language regconfig;
begin
  select m.* into extracted from memory.memories as m
  where m.user_id = p_user_id and m.memory_id = p_winner;
  select m.* into stated from memory.memories as m
  where m.user_id = p_user_id and m.memory_id = p_loser;
  select string_agg(memory._without_recalled(left(m.content, 65536)), e'\n' order by m.seq) into said
  from memory.messages as m
  where m.user_id = p_user_id and m.thread_id = extracted.thread_id
    and m.seq = any (extracted.source_seqs[1:20]) -- one memory rarely has more sources, and reading hundreds takes long
    and m.role = 'user' and m.metadata ->> 'recalled' is distinct from 'true'
    and m.created_at > greatest(memory._last_said(stated), memory._reworded_at(stated));
  said_words := memory._claim_words(said);
  if said is null or not said_words @> new_figures
    or (p_claim ->> 'turns')::int > (p_other ->> 'turns')::int and memory._turning_words(said_words) = 0 then
    return false;
  end if;
  language := memory._language(p_user_id, extracted.agent_id);
  return new_words = '{}' and new_figures <> '{}'
    or tsvector_to_array(memory._text_vector(language, said))
       && case when new_words = '{}' then topic else new_words end;
end;
$$;

-- Gives the duplicate that stays the tags of all and the highest confidence and importance among them. Text, times and
-- source messages stay those of each memory.
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
      -- A memory may have 100 tags of 255 characters, and more would make the job fail again and again. Its own come
      -- first.
      array(
        select k.tag
        from (
          select t.tag from memory.memories as s cross join lateral unnest(s.tags) as t (tag)
          where s.user_id = p_user_id and s.memory_id = any (p_losers || p_winner) and length(t.tag) <= 255
          group by t.tag order by bool_or(s.memory_id = p_winner) desc, t.tag limit 100) as k
        order by k.tag) as tags
    from memory.memories as o
    where o.user_id = p_user_id and o.memory_id = any (p_losers || p_winner)) as b
  where m.user_id = p_user_id and m.memory_id = p_winner
    and (not m.tags @> b.tags or m.confidence < b.confidence or m.importance < b.importance);
end;
$$;
