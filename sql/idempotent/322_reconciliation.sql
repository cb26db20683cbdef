-- Reconciliation of a user's facts: what its jobs read, and how their results are stored.

-- The n newest memories that state something lasting, newest first, under small numbers. A group is an agent: none of
-- its facts may give way to one that only another agent knows.
create or replace function memory._reconciliation_input(job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  newest bigint;
  facts jsonb;
  facts_input jsonb;
begin
  with pool as (
    select row_number() over (order by m.created_at desc, m.memory_id desc) as number, m.*
    from (select v.* from memory._visible_memories(job.user_id, null, false) as v
          where v.memory_type in ('fact', 'preference', 'context', 'procedural')
          order by v.created_at desc, v.memory_id desc limit coalesce((job.request ->> 'n')::int, 50)) as m
  )
  select jsonb_agg(jsonb_build_object(
      'number', p.number, 'content', left(p.content, 8000), 'memory_type', p.memory_type, 'subject', memory._subject(p.metadata),
      'confidence', round(p.confidence::numeric, 2), 'known_since',
        memory._real_or_null(coalesce(p.valid_from, p.created_at)),
      'group', (select count(distinct o.agent_id) from pool as o where o.agent_id <= p.agent_id)) order by p.number),
    jsonb_agg(jsonb_build_object('memory_id', p.memory_id, 'version', p.version) order by p.number),
    (extract(epoch from max(p.created_at)) * 1000000)::bigint, sum(memory._estimate_tokens(left(p.content, 8000)))
  into facts, facts_input, newest, tokens
  from pool as p;
  -- What was looked at before is not looked at again, unless someone asks.
  if (jsonb_array_length(facts) >= 2) is not true or not job.request ? 'n' and exists (
    select from memory.marks as k where k.user_id = job.user_id and k.scope = '' and k.kind = 'reconcile_memories' and k.position >= newest
  ) then
    return;
  end if;
  agent_id := null; -- of all agents
  payload := memory._chat_model(null, 'reconcile_memories') || jsonb_build_object('facts', facts);
  input := jsonb_build_object('facts', facts_input, 'newest', newest);
end;
$$;

-- Whom or what a memory is about; one that does not say is about the user.
create or replace function memory._subject(metadata jsonb)
returns text
language sql immutable parallel safe
begin atomic
  select coalesce(nullif(lower(btrim(metadata ->> 'subject')), ''), 'user');
end;

-- The model says which facts belong together. What may be done about it is decided here. Both sides are of one agent
-- and about one subject, unchanged since they were handed out, and _may_hide() agrees. The text of duplicates is that
-- of one of them; of two that contradict each other the newer stays, then the more confident. Whatever breaks these
-- rules is left alone, and what the model said of it is counted.
create or replace function memory._apply_reconciliation(job memory.jobs, result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  given int := jsonb_array_length(job.input -> 'facts');
  section text;
  item record;
  handed_out uuid[];
  ids uuid[];
  entry_ids uuid[];
  entries jsonb;
  claims jsonb;
  winner uuid;
  losers uuid[];
  kept int;
  merged int;
  contradicted int := 0;
  refused int;
begin
  foreach section in array array['duplicates', 'contradictions'] loop
    if jsonb_typeof(result -> section) is distinct from 'array' then
      perform memory._refuse_result(section, 'must be an array');
    elsif jsonb_array_length(result -> section) > given then
      perform memory._refuse_result(section, format('has %s entries for %s facts', jsonb_array_length(result -> section), given));
    end if;
    for item in select i.position - 1 as position, i.value from jsonb_array_elements(result -> section) with ordinality as i (value, position) loop
      perform memory._check_result_numbers(format('%s[%s].numbers', section, item.position), item.value -> 'numbers', given);
      if section = 'duplicates' then
        perform memory._check_result_text(format('duplicates[%s].content', item.position), item.value -> 'content');
      end if;
    end loop;
  end loop;

  ids := memory._lock_unchanged(job.user_id, job.input -> 'facts');
  handed_out := ids;
  -- A reply that names each fact time and again would be compared for minutes; an honest one needs two mentions.
  select coalesce(jsonb_agg(to_jsonb(e) order by e.is_duplicate desc, e.position) filter (where e.is_looked_at), '[]'),
    count(*) filter (where not e.is_looked_at)
  into entries, refused
  from (
    select s.section = 'duplicates' as is_duplicate, i.position,
      i.value -> 'numbers' as numbers, i.value ->> 'content' as content,
      sum(jsonb_array_length(i.value -> 'numbers')) over (partition by s.section order by i.position) <= 4 * given
        as is_looked_at
    from unnest(array['duplicates', 'contradictions']) as s (section)
    cross join lateral jsonb_array_elements(result -> s.section) with ordinality as i (value, position)
  ) as e;
  claims := memory._claims_of(job.user_id, ids, array(
    select distinct ids[n::numeric::int] from jsonb_path_query(entries, '$[*].numbers[*]') as n));

  for item in
    select e.is_duplicate, e.content, e.numbers
    from jsonb_array_elements(entries) with ordinality as i (value, position)
    cross join lateral jsonb_to_record(i.value) as e (is_duplicate boolean, content text, numbers jsonb)
    order by i.position
  loop
    losers := null;
    entry_ids := array(select distinct ids[n::numeric::int] from jsonb_array_elements(item.numbers) as n);
    if memory._may_supersede(job.user_id, entry_ids) then
      winner := case when item.is_duplicate
                     then memory._named_by_content(job.user_id, entry_ids, claims, item.content)
                     else memory._newest_said(job.user_id, entry_ids) end;
      losers := array(select e from unnest(entry_ids) as e
                      where e <> winner and memory._may_hide(job.user_id, winner, e, claims, item.is_duplicate));
    end if;
    if cardinality(losers) > 0 then
      perform memory._supersede_all(job.user_id, losers, winner,
                                    case when item.is_duplicate then 'duplicate' else 'contradict' end);
      -- What contradicts a duplicate contradicts the one that stays; who lost a contradiction is out.
      ids := array(select case when i.id <> all (losers) then i.id when item.is_duplicate then winner end
                   from unnest(ids) with ordinality as i (id, position) order by i.position);
      if item.is_duplicate then
        perform memory._keep_the_best(job.user_id, winner, losers);
      else
        contradicted := contradicted + cardinality(losers);
      end if;
    end if;
    refused := refused + (coalesce(cardinality(losers), 0) < greatest(cardinality(entry_ids) - 1, 1))::int;
  end loop;
  if coalesce((job.request ->> 'n')::int, 50) >= 50 then -- else some may not have been looked at
    perform memory._set_mark(job.user_id, '', 'reconcile_memories', (job.input ->> 'newest')::bigint);
  end if;
  -- Of the facts that were handed out: what stayed of duplicates may have been merged again, or contradicted.
  select given - count(*), count(*) filter (where m.supersede_reason = 'duplicate') into kept, merged
  from memory.memories as m where m.user_id = job.user_id and m.memory_id = any (handed_out) and m.superseded_at is not null;
  return jsonb_build_object('kept', kept, 'merged', merged, 'contradicted', contradicted, 'refused', refused);
end;
$$;

-- The memories of a job that are still as the model saw them, by their numbers, null in place of the others. Locks
-- their scopes before any row, as everyone who changes memories.
create or replace function memory._lock_unchanged(user_id text, handed_out jsonb)
returns uuid[]
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._lock_scopes_of(user_id, array(select (h ->> 'memory_id')::uuid from jsonb_array_elements(handed_out) as h));
  return array(
    select m.memory_id from jsonb_array_elements(handed_out) with ordinality as h (value, position)
    left join memory._visible_memories(_lock_unchanged.user_id, null, false) as m
      on m.memory_id = (h.value ->> 'memory_id')::uuid and m.version = (h.value ->> 'version')::int
    order by h.position);
end;
$$;

-- Whether memories may give way to each other: all still there, at least two, of one agent and about one subject.
create or replace function memory._may_supersede(user_id text, memory_ids uuid[])
returns boolean
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return array_position(memory_ids, null) is null and count(*) >= 2 and count(*) = cardinality(memory_ids)
    and count(distinct m.agent_id) = 1 and count(distinct memory._subject(m.metadata)) = 1
  from memory.memories as m where m.user_id = _may_supersede.user_id and m.memory_id = any (memory_ids);
end;
$$;

create or replace function memory._supersede_all(user_id text, memory_ids uuid[], winner uuid, reason text)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  update memory.memories as m
  set superseded_by = winner, supersede_reason = reason, superseded_at = statement_timestamp(), operation = 'supersede'
  where m.user_id = _supersede_all.user_id and m.memory_id = any (memory_ids) and m.memory_id <> winner;
end;
$$;

-- What some of the facts of a job claim, by their ids. A word in more than half of ten facts or more tells nothing of
-- any of them: it is the user's name.
create or replace function memory._claims_of(user_id text, facts uuid[], memory_ids uuid[])
returns jsonb
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  ignored text[];
begin
  ignored := memory._claim_words(user_id) || array(
    select w.lexeme
    from memory.memories as m
    cross join lateral unnest(coalesce(m.search_vector, m.long_search_vector)) as w
    where m.user_id = _claims_of.user_id and m.memory_id = any (facts)
    group by w.lexeme having cardinality(facts) >= 10 and count(*) > cardinality(facts) / 2);
  return jsonb_object_agg(m.memory_id, memory._claim(
      m.content, (memory._policy(m.user_id, m.agent_id) #>> '{search,language}')::regconfig,
      ignored || memory._claim_words(memory._subject(m.metadata)))
    || jsonb_build_object('is_stated', memory._is_stated(m)))
  from memory.memories as m where m.user_id = _claims_of.user_id and m.memory_id = any (memory_ids);
end;
$$;

-- Whether somebody stated it: whoever called add_memory(), or changed what a model had extracted. What a former version
-- merged was a sentence of the model's own; it counts as stated when one of those it was merged from is, or when they
-- are gone, so that nobody can tell.
create or replace function memory._is_stated(candidate memory.memories)
returns boolean
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if candidate.source = 'reconciliation' then
    return (
      with recursive origin as (
        select candidate.memory_id, candidate.source, candidate.metadata
        union
        select m.memory_id, m.source, m.metadata from memory.memories as m
        join origin as o on o.source = 'reconciliation' and o.metadata -> 'merged_from' ? m.memory_id::text
        where m.user_id = candidate.user_id
      )
      select coalesce(bool_or(o.source <> 'extraction'), true) from origin as o where o.source <> 'reconciliation');
  end if;
  return candidate.is_stated or memory._reworded_at(candidate) is not null;
end;
$$;

-- When the text of a memory was last changed, which no model does; null if never.
create or replace function memory._reworded_at(candidate memory.memories)
returns timestamptz
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return max(h.changed_at) filter (where h.content <> h.before)
  from (select v.changed_at, v.content, lag(v.content) over (order by v.version) as before
        from (select o.version, o.changed_at, o.content from memory.memory_history as o
              where o.user_id = candidate.user_id and o.memory_id = candidate.memory_id
              union all
              select candidate.version, candidate.updated_at, candidate.content) as v) as h;
end;
$$;

-- Which of the duplicates has this text, as a model copies it: whatever its case, spaces and punctuation. Null when
-- none has: a sentence of the model's own takes the place of nothing.
create or replace function memory._named_by_content(user_id text, memory_ids uuid[], claims jsonb, content text)
returns uuid
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  words constant text[] := memory._claim_words(content);
begin
  return (
    select m.memory_id from memory.memories as m
    where m.user_id = _named_by_content.user_id and m.memory_id = any (memory_ids)
      and (m.content_hash = memory._content_hash(_named_by_content.content)
           or words <> '{}' and claims -> m.memory_id::text -> 'words' = to_jsonb(words))
    order by claims -> m.memory_id::text -> 'is_stated' desc, m.created_at desc, m.memory_id desc limit 1);
end;
$$;

-- Which of the memories was said last, then the most confident: a duplicate that a memory hides is the same said again.
create or replace function memory._newest_said(user_id text, memory_ids uuid[])
returns uuid
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    with recursive said as (
      select m.memory_id as stays, m.memory_id, coalesce(m.valid_from, m.created_at) as said_at
      from memory.memories as m
      where m.user_id = _newest_said.user_id and m.memory_id = any (memory_ids)
      union
      select s.stays, m.memory_id, coalesce(m.valid_from, m.created_at) from memory.memories as m
      join said as s on s.memory_id = m.superseded_by
      where m.user_id = _newest_said.user_id and m.supersede_reason in ('duplicate', 'near-duplicate')
        and m.deleted_at is null
    )
    select m.memory_id from memory.memories as m
    where m.user_id = _newest_said.user_id and m.memory_id = any (memory_ids)
    order by (select max(s.said_at) from said as s where s.stays = m.memory_id) desc, m.confidence desc,
      m.created_at desc, m.memory_id desc
    limit 1);
end;
$$;

-- Whether one memory may hide another one, whatever a model says of the two. A duplicate must be said by the one that
-- stays, word for word and by someone who stated it where the loser was stated. A contradiction must be about the same
-- thing, and what was stated gives way to what was stated later or to newer words of the user.
create or replace function memory._may_hide(user_id text, winner uuid, loser uuid, claims jsonb, is_duplicate boolean)
returns boolean
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  claim constant jsonb := claims -> winner::text;
  other constant jsonb := claims -> loser::text;
  is_protected constant boolean := (other ->> 'is_stated')::boolean and not (claim ->> 'is_stated')::boolean;
begin
  if is_duplicate then
    return coalesce(not is_protected and memory._says_all_of(claim, other, (other ->> 'is_stated')::boolean), false);
  end if;
  return coalesce(
    memory._is_about_the_same(claim, other)
    and (not is_protected or memory._has_newer_words(user_id, winner, loser, claim, other)), false);
end;
$$;

-- Whether messages of the user, said after a memory was stated, say what an extracted one says instead: all its numbers
-- that are new, one of its new words where it has any, and a word that turns the claim where it turns it. The messages
-- are those that it names; messages that are gone say nothing.
create or replace function memory._has_newer_words(user_id text, winner uuid, loser uuid, claim jsonb, other jsonb)
returns boolean
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  topic constant text[] := memory._texts(claim -> 'topic');
  new_words constant text[] := array(select t from unnest(topic) as t where t <> all (memory._texts(other -> 'topic')));
  new_figures constant text[] := array(select w from unnest(memory._texts(claim -> 'words')) as w
                                       where memory._is_figure(w) and w <> all (memory._texts(other -> 'words')));
  extracted memory.memories;
  stated memory.memories;
  said text;
  said_words text[];
  language regconfig;
begin
  select m.* into extracted from memory.memories as m
  where m.user_id = _has_newer_words.user_id and m.memory_id = winner;
  select m.* into stated from memory.memories as m
  where m.user_id = _has_newer_words.user_id and m.memory_id = loser;
  select string_agg(memory._without_recalled(left(m.content, 65536)), e'\n' order by m.seq) into said
  from memory.messages as m
  where m.user_id = _has_newer_words.user_id and m.thread_id = extracted.thread_id
    and m.seq = any (extracted.source_seqs[1:20]) -- enough to find the words in, few enough to read
    and m.role = 'user' and m.metadata ->> 'recalled' is distinct from 'true'
    and m.created_at > greatest(stated.created_at, stated.valid_from, memory._reworded_at(stated));
  said_words := memory._claim_words(said);
  if said is null or not said_words @> new_figures
    or (claim ->> 'turns')::int > (other ->> 'turns')::int and memory._turning_words(said_words) = 0 then
    return false;
  end if;
  language := (memory._policy(user_id, extracted.agent_id) #>> '{search,language}')::regconfig;
  return new_words = '{}' and new_figures <> '{}'
    or tsvector_to_array(memory._text_vector(language, said))
       && case when new_words = '{}' then topic else new_words end;
end;
$$;

-- The duplicate that stays has the tags of all and is as certain and as important as any. Its text, its times and the
-- messages that state it are its own: the others, which are hidden, keep theirs.
create or replace function memory._keep_the_best(user_id text, winner uuid, losers uuid[])
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  update memory.memories as m
  set tags = case when m.tags @> b.tags then m.tags else b.tags end, confidence = b.confidence,
    importance = b.importance, operation = 'update'
  from (
    select max(o.confidence) as confidence, max(o.importance) as importance,
      -- As many as a memory may have, its own first: more would make the job fail again and again.
      array(select k.tag
            from (select t.tag from memory.memories as s cross join lateral unnest(s.tags) as t (tag)
                  where s.user_id = _keep_the_best.user_id and s.memory_id = any (losers || winner)
                    and length(t.tag) <= 255
                  group by t.tag order by bool_or(s.memory_id = winner) desc, t.tag limit 100) as k
            order by k.tag) as tags
    from memory.memories as o
    where o.user_id = _keep_the_best.user_id and o.memory_id = any (losers || winner)) as b
  where m.user_id = _keep_the_best.user_id and m.memory_id = winner
    and (not m.tags @> b.tags or m.confidence < b.confidence or m.importance < b.importance);
end;
$$;
