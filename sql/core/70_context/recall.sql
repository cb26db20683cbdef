-- needs pgvector on the search_path

-- Recalled messages are earlier messages about the query, from other threads of the user or from the part of this
-- thread that the context does not show. The functions choose messages by rank until nothing relevant is left or the
-- tokens are spent, and show them in the order of time.

-- The messages that may be recalled, best first, as many as fit into p_max_tokens. Messages of this thread from
-- p_from_seq on, the request, and those of p_shown (as thread_id/seq) stand in the context already. The function leaves
-- out the query itself, which would be its own best hit, messages that repeat another message, and the instructions of
-- an application (roles system and developer). Nothing is recalled unless one message is as relevant as p_asking.near.
-- From the best score on, the messages that have less than its share context.recall_cut are left out. why_not of a
-- candidate says why it is left out; if the context is not explained, only those stand there that the loop happens to
-- pass. Where there is no candidate, why_not of the function says why.
create or replace function memory._recall_candidates(
  p_asking memory._asking, p_from_seq bigint, p_request bigint, p_shown text[], p_max_tokens int,
  out candidates memory._recalled[], out why_not text
)
language plpgsql stable parallel unsafe
as $$
declare
  asked constant text := memory._wording(p_asking.query);
  cut constant double precision := memory._share(p_asking.policy #>> '{context,recall_cut}');
  -- Of a longer message only the passage that says most about the query is recalled, so that one reply does not take
  -- all tokens. But the five best messages are recalled whole, up to a quarter of the tokens, because a person who asks
  -- for a plan or a list wants all of it. Of requests for words of the assistant, contexts of 1,000 tokens hold the
  -- whole evidence for 83 %; with a passage of each longer message, for 62 % (bench/quality/work.py). If the five best
  -- messages gave passages twice as long, replies of 577 words would leave room for fewer messages (504 questions,
  -- 2,000 tokens: 61.7 % instead of 62.1 %).
  longest constant int := greatest(p_max_tokens / 8, 150);
  -- For a question that follows others in its thread, what was recalled for them still stands there, so it gets an
  -- eighth of the tokens, and more the nearer a message is that does not stand there yet.
  near_enough constant double precision := 0.6; -- most questions that can be answered have such a message
  remaining int := p_max_tokens;
  has_share boolean := p_shown = '{}' or cut = 0; -- whether remaining is known
  wordings text[] := array[]::text[]; -- of the candidates
  keys text[] := array[]::text[]; -- of these wordings
  asked_before bigint[] := array[]::bigint[]; -- messages that repeat the query
  best real; -- the score of the best message that does not repeat the query
  nearest real; -- the greatest relevance of such a message
  brief bigint[] := array[]::bigint[]; -- hits that ask, or that say too little alone
  hit record;
  said text;
  key text;
  other text; -- the wording of a candidate with the same key
  wording text;
  shown record; -- of memory._recalled_within()
  left_out text; -- why the message is left out
begin
  candidates := '{}';
  -- Nearly every context of a person with one conversation ends here, because the context shows the whole conversation.
  if not exists (
    select from memory._searchable_messages(p_asking.user_id) as m
    where not (m.thread_id = p_asking.thread_id and m.seq >= p_from_seq)) then
    why_not := 'nothing else was said';
    return;
  end if;
  for hit in
    select h.* from memory._recall_hits(p_asking, p_from_seq, p_request, p_shown, p_max_tokens) as h order by h.place
  loop
    if not has_share then
      remaining := remaining * greatest(0.12, least(
        1, greatest(hit.nearest - p_asking.near, 0) / (near_enough - least(p_asking.near, 0.5))) ^ 3);
      has_share := true;
    end if;
    continue when not hit.is_wanted and not hit.of_hit = any (brief);
    -- Hardly any message has fewer than 20 tokens with its speaker and its day. The loop ends when a hundredth of the
    -- tokens is left, because trying every remaining candidate would be a third of the work.
    left_out := case
      when hit.score_of_hit < cut * best then 'under the cut'
      when remaining < greatest(20, p_max_tokens / 100) then 'does not fit' end;
    if left_out is not null then
      exit when not p_asking.explains;
      candidates := candidates || row(
        hit.thread_id, hit.seq, null, hit.token_count, null, hit.created_at, hit.score, hit.relevance, hit.of_hit, null,
        null, left_out)::memory._recalled;
      continue;
    end if;
    continue when memory._is_held_back(
        p_asking.user_id, hit.thread_id, hit.seq, hit.role, hit.metadata, hit.content)
      or memory._awaits_verdict(p_asking.user_id, hit.thread_id, hit.seq, hit.role, hit.metadata);
    said := memory._without_recalled(hit.content);
    wording := memory._wording(said);
    if wording = asked then
      asked_before := asked_before || hit.of_hit; -- The message next to the repeated query may be the answer.
    end if;
    -- A long text beside a message that does not need it would only take tokens.
    continue when wording = '' or wording = asked
      or hit.score is null and not hit.of_hit = any (brief) and octet_length(said) > 400;
    best := coalesce(best, hit.score);
    nearest := greatest(nearest, hit.relevance);
    if hit.score is not null and (length(wording) < 60 or strpos(said, '?') > 0) then
      continue when memory._acknowledges(wording);
      brief := brief || hit.of_hit;
    end if;
    key := memory._wording_key(wording);
    other := case when key is not null then wordings[array_position(keys, key)] end;
    if other is not null and length(wording) between 0.72 * length(other) and length(other) / 0.72 and
      memory._turning_words(string_to_array(wording, ' ')) = memory._turning_words(string_to_array(other, ' ')) then
      left_out := 'another message says the same';
      select null as line, hit.token_count as tokens, null::int[] as passage into shown;
    else
      shown := memory._recalled_within(
        p_asking, hit.role, hit.metadata, said, remaining, case
          when octet_length(said) > 6 * longest
            and not (hit.score is not null and hit.of_hit <= 5 and octet_length(said) <= 6 * (p_max_tokens / 4))
            then least(longest, remaining * 2 / 3) end,
        case when hit.is_counted and said = hit.content and not hit.metadata ? 'tool_calls' then hit.token_count end,
        hit.english, hit.score is not null);
      if shown.tokens > remaining then
        left_out := 'does not fit';
      else
        remaining := remaining - shown.tokens;
        keys := keys || key;
        wordings := wordings || wording;
      end if;
    end if;
    candidates := candidates || row(
      hit.thread_id, hit.seq, shown.line, shown.tokens,
      case when left_out is null
        then memory._day_of(hit.created_at, memory._zone_of(p_asking.user_id, hit.thread_id, hit.seq)) end,
      hit.created_at, hit.score, hit.relevance,
      case when not hit.of_hit = any (asked_before) then hit.of_hit end, wording, shown.passage, left_out
    )::memory._recalled;
  end loop;
  if nearest < p_asking.near then
    for place in 1 .. cardinality(candidates) loop
      candidates[place].why_not := coalesce((candidates[place]).why_not, 'nothing near was said');
    end loop;
  elsif cardinality(candidates) = 0 then
    why_not := 'no other message matches';
  end if;
end;
$$;

-- The messages that the search finds, with their neighbours: of_hit is the place of the hit that a message is, or
-- stands next to. is_wanted: the message is recalled for itself; any other one only if its hit needs it. nearest is the
-- greatest relevance of all, english the share of English in the best ten hits.
create or replace function memory._recall_hits(
  p_asking memory._asking, p_from_seq bigint, p_request bigint, p_shown text[], p_max_tokens int
)
returns table (
  thread_id text, seq bigint, role text, content text, metadata jsonb, created_at timestamptz, token_count int,
  is_counted boolean, place bigint, score real, relevance real, is_wanted boolean, score_of_hit real, of_hit bigint,
  nearest real, english double precision
)
language plpgsql stable parallel unsafe
as $$
#variable_conflict use_column
declare
  asks_then constant boolean := memory._time_asked(p_asking.query) is not null;
  -- Under this policy a summary replaces the messages of the thread that it covers.
  replaces_covered constant boolean := p_asking.policy #>> '{summary,when}' = 'each_round';
begin
  return query
  with wanted as (
    -- The best two messages come with their neighbours, one before and two after, so that the reader sees the question
    -- before a message and the answer after it. The neighbours cost no evidence (LoCoMo, 256 questions: 77.7 % held
    -- whole within 1,000 tokens, 77.3 % without neighbours). With the neighbours of the best five it is 76.2 %, because
    -- the ranking already takes neighbours into account. Any other message may need the one before it.
    select r.thread_id, r.number + n.step as seq, min(4 * r.place + n.distance) as place,
      max(r.place) filter (where n.step = 0) as hit, max(r.score) filter (where n.step = 0) as score,
      max(r.relevance) filter (where n.step = 0) as relevance,
      bool_or(n.step = 0 or r.place <= 2) as is_wanted, max(r.score) as score_of_hit
    from (
      select r.thread_id, r.number, r.score, coalesce(r.relevance, 1) as relevance,
        row_number() over (order by r.rank) as place
      from memory._ranked(
        p_user_id => p_asking.user_id, p_agent_id => p_asking.agent_id, p_query => p_asking.query,
        p_model => p_asking.model, p_target => p_asking.target,
        p_mode => case when p_asking.target is null then 'keyword' when p_asking.query is null then 'vector'
                    else 'hybrid' end,
        p_settings => p_asking.policy -> 'search', p_sources => '{message}',
        -- Most messages have more than 30 tokens with their speaker and day.
        p_row_limit => least(20 + p_max_tokens / 30, 1000)) as r
      where not (r.thread_id = p_asking.thread_id and (r.number >= p_from_seq or r.number = p_request))
    ) as r
    cross join (values (0, 0), (1, 1), (-1, 2), (2, 3)) as n (step, distance)
    where n.step in (0, -1) or r.place <= 2
    group by 1, 2
  ), outdated as materialized ( -- statements that no longer hold are recalled only for a question about then
    select o.* from (
      select array_agg(w.thread_id) as thread_ids, array_agg(w.seq) as seqs from wanted as w where not asks_then) as w
    cross join lateral memory._outdated_messages(p_asking.user_id, w.thread_ids, w.seqs) as o
  ), messages as materialized (
    select m.thread_id, m.seq, m.role, left(m.content, 65536) as content, m.metadata, m.created_at,
      m.token_count, m.is_counted, w.place, w.score, w.relevance, w.is_wanted, w.score_of_hit,
      coalesce(w.hit, w.place / 4) as of_hit
    from wanted as w
    cross join lateral (
      select m.* from memory._searchable_messages(p_asking.user_id) as m
      where m.thread_id = w.thread_id and m.seq = w.seq
      offset 0 -- so that each message is looked up by its key; a join reads all messages of the user
    ) as m
    where (p_asking.agent_id is null or m.agent_id = p_asking.agent_id)
      and not (m.thread_id = p_asking.thread_id
               and (m.seq >= p_from_seq or m.seq = p_request or m.is_active and replaces_covered))
      and m.role not in ('system', 'developer')
      and not exists (select from outdated as o where o.thread_id = m.thread_id and o.seq = m.seq)
  )
  select m.*, max(m.relevance) over (), (
    select memory._english(string_agg(left(s.content, 500), ' ')) from messages as s where s.of_hit <= 10)
  from messages as m
  where m.thread_id || '/' || m.seq <> all (p_shown);
end;
$$;

-- The line that shows a message, or of a longer one the passage that says most about the query within p_room tokens
-- (null: the message). If p_shrinks, a message that does not fit into p_remaining tokens gives such a passage. p_exact:
-- the tokens of the message, if a job has counted it. p_english: the share of English in all lines.
create or replace function memory._recalled_within(
  p_asking memory._asking, p_role text, p_metadata jsonb, p_said text, p_remaining int, p_room int, p_exact int,
  p_english double precision, p_shrinks boolean, out line text, out tokens int, out passage int[]
)
language plpgsql immutable parallel safe
as $$
declare
  room int := p_room;
  part text;
begin
  loop
    if room is not null then
      part := memory._passage((p_asking.policy #>> '{search,language}')::regconfig, p_said, p_asking.query, room);
      passage := case when part is not null then array[strpos(p_said, part), length(part)] end;
    end if;
    line := memory._recalled_line(p_role, p_metadata, memory._excerpt(p_said, passage));
    -- The count of a job is exact for the text alone. A role, a colon and a line break are three tokens more; a blank
    -- before a digit or an East Asian letter and the indentation of a further line are one each. The estimate of a
    -- separate text has two more than that of a part.
    tokens := case
      when p_exact is not null and room is null
        then p_exact + 2 + memory._tokens_of_blank(p_said)
          + length(line) - length(replace(line, e'\n', ''))
          + coalesce(memory._tokens_at_most(p_metadata ->> 'name') - 2, 1)
      else memory._tokens_at_most(e'\n' || line, p_english) - 2 end;
    exit when tokens <= p_remaining or not p_shrinks or room is not null or p_remaining < 60;
    room := p_remaining * 2 / 3;
  end loop;
end;
$$;

-- A passage of a text, or the whole text where that is null. "[...]" stands for the parts that are left out. A short
-- first line of the text comes before the passage, because such a line says which text the passage belongs to: "A plan
-- for four weeks:", "Subject: booking".
create or replace function memory._excerpt(p_said text, p_passage int[])
returns text
language plpgsql immutable parallel safe
as $$
declare
  beginning text;
begin
  if p_passage is null then
    return p_said;
  end if;
  beginning := substring(p_said from e'^\\s*(\\S[^\n]{0,119})\\n');
  return concat_ws(e'\n[...]\n',
      case when btrim(left(p_said, p_passage[1] - 1), e' \t\r\n') <> '' then
        case when length(beginning) < p_passage[1] then beginning else '' end end,
      substr(p_said, p_passage[1], p_passage[2]))
    || case when btrim(substr(p_said, p_passage[1] + p_passage[2]), e' \t\r\n') <> '' then e'\n[...]' else '' end;
end;
$$;
