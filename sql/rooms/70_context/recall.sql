-- needs pgvector on the search_path

-- Recalled messages are earlier messages about the query, from other threads of the user or from the part of this
-- thread that the context does not show. The functions choose messages by rank until the tokens are spent, and show
-- them in the order of time.

-- The messages that may be recalled, best first, as many as fit into p_max_tokens. Messages of this thread from
-- p_from_seq on stand in the context already. The function leaves out the query itself, which would be its own best
-- hit, messages that repeat another message, and the instructions of an application (roles system and developer).
-- left_out says which other messages match; if p_explains is false, only those that the loop happens to pass.
create or replace function memory._recall_candidates(
  p_user_id text, p_thread_id text, p_agent_id text, p_query text, p_model text, p_target halfvec, p_policy jsonb,
  p_from_seq bigint, p_max_tokens int, p_explains boolean,
  out candidates memory._recalled[], out left_out jsonb[]
)
language plpgsql stable parallel unsafe
set enable_seqscan = off -- One user may have few messages among the many of others.
set enable_bitmapscan = off
set jit = off -- as in memory._next_place()
as $$
declare
  asked constant text := memory._wording(p_query);
  -- Under this policy a summary replaces the messages of the thread that it covers.
  replaces_covered constant boolean := p_policy #>> '{summary,when}' = 'each_round';
  -- Of a longer message only the passage that says most about the query is recalled, so that one reply does not take
  -- all tokens. But the five best messages are recalled whole, up to a quarter of the tokens, because a person who asks
  -- for a plan or a list wants all of it. Of requests for words of the assistant, contexts of 1,000 tokens hold the
  -- whole evidence for 83 %; with a passage of each longer message, for 62 % (bench/quality/work.py). If the five best
  -- messages gave passages twice as long, replies of 577 words would leave room for fewer messages (504 questions,
  -- 2,000 tokens: 61.7 % instead of 62.1 %).
  longest constant int := greatest(p_max_tokens / 8, 150);
  remaining int := p_max_tokens;
  wordings text[] := array[]::text[];
  keys text[] := array[]::text[]; -- three keys for each wording
  all_keys text := e'\n'; -- the same keys as one text, where a key is found in a tenth of the time
  own_keys text[];
  asked_before bigint[] := array[]::bigint[]; -- messages that repeat the query
  hit record;
  said text;
  passage text;
  skipped int; -- the characters before the passage
  beginning text;
  line text;
  wording text;
  tokens int;
begin
  candidates := '{}';
  left_out := '{}';
  -- Nearly every context of a person with one conversation ends here, because the context shows the whole conversation.
  if not exists (
    select from memory._searchable_messages(p_user_id) as m
    where not (m.thread_id = p_thread_id and m.seq >= p_from_seq)) then
    left_out := array[memory._left_out('recalled', 'nothing else was said', 0)];
    return;
  end if;
  for hit in
    with wanted as (
      -- The best two messages come with their neighbours, one before and two after, so that the reader sees the
      -- question before a message and the answer after it. The neighbours cost no evidence (LoCoMo, 256 questions: 77.7
      -- % held whole within 1,000 tokens, 77.3 % without neighbours). With the neighbours of the best five it is 76.2
      -- %, because the ranking already takes neighbours into account.
      select r.thread_id, r.number + n.step as seq, min(4 * r.place + n.distance) as place,
        max(r.place) filter (where n.step = 0) as hit, max(r.score) filter (where n.step = 0) as score
      from (
        select r.thread_id, r.number, r.score, row_number() over (order by r.rank) as place
        from memory._ranked(
          p_user_id => p_user_id, p_agent_id => p_agent_id, p_query => p_query, p_model => p_model,
          p_target => p_target,
          p_mode => case when p_target is null then 'keyword' when p_query is null then 'vector' else 'hybrid' end,
          p_settings => p_policy -> 'search', p_sources => '{message}',
          -- Most messages have more than 30 tokens with their speaker and day.
          p_row_limit => least(20 + p_max_tokens / 30, 1000)) as r
        where not (r.thread_id = p_thread_id and r.number >= p_from_seq)
      ) as r
      cross join (values (0, 0), (1, 1), (-1, 2), (2, 3)) as n (step, distance)
      where n.step = 0 or r.place <= 2
      group by 1, 2
    ), messages as materialized (
      select m.thread_id, m.seq, m.role, left(m.content, 65536) as content, m.metadata, m.created_at,
        m.search_vector is null as is_unparsed, m.token_count, m.thread_id || '/' || m.seq as id, w.place, w.score,
        coalesce(w.hit, w.place / 4) as of_hit
      from wanted as w
      cross join lateral (
        select m.* from memory._searchable_messages(p_user_id) as m
        where m.thread_id = w.thread_id and m.seq = w.seq
        offset 0 -- so that each message is looked up by its key; a join reads all messages of the user
      ) as m
      where (p_agent_id is null or m.agent_id = p_agent_id)
        and not (m.thread_id = p_thread_id and (m.seq >= p_from_seq or m.is_active and replaces_covered))
        and m.role not in ('system', 'developer')
    )
    select m.*, (
      select memory._english(string_agg(left(s.content, 500), ' ')) from messages as s where s.of_hit <= 10) as english
    from messages as m
    order by m.place
  loop
    -- Hardly any message has fewer than 20 tokens with its speaker and its day. The loop ends when a hundredth of the
    -- tokens is left, because trying every remaining candidate would be a third of the work.
    if remaining < greatest(20, p_max_tokens / 100) then
      exit when not p_explains;
      left_out := left_out || memory._left_out('recalled', 'does not fit', hit.token_count, hit.id);
      continue;
    end if;
    continue when hit.is_unparsed and memory._is_held_back(
      p_user_id, hit.thread_id, hit.seq, hit.role, hit.metadata, hit.content);
    said := memory._without_recalled(hit.content);
    wording := memory._wording(said);
    if wording = asked then
      asked_before := asked_before || hit.of_hit; -- The message next to the repeated query may be the answer.
    end if;
    continue when wording = '' or wording = asked;
    own_keys := memory._wording_keys(wording);
    if (strpos(all_keys, e'\n' || own_keys[1] || e'\n') > 0
        or strpos(all_keys, e'\n' || own_keys[2] || e'\n') > 0
        or strpos(all_keys, e'\n' || own_keys[3] || e'\n') > 0)
      and memory._same_wording(wording, own_keys, wordings, keys) is not null then
      left_out := left_out || memory._left_out('recalled', 'another message says the same', hit.token_count, hit.id);
      continue;
    end if;
    if octet_length(said) > 6 * longest
      and not (hit.score is not null and hit.of_hit <= 5 and octet_length(said) <= 6 * (p_max_tokens / 4)) then
      if longest > remaining then -- before the search for the passage, which takes a millisecond
        left_out := left_out || memory._left_out('recalled', 'does not fit', longest, hit.id);
        continue;
      end if;
      -- "[...]" stands for the parts that are left out. A short first line of the message comes before the passage,
      -- because such a line says which text the passage belongs to: "A plan for four weeks:", "Subject: booking".
      passage := memory._passage((p_policy #>> '{search,language}')::regconfig, said, p_query, longest);
      skipped := strpos(said, passage) - 1;
      beginning := substring(said from e'^\\s*(\\S[^\n]{0,119})\\n');
      said := concat_ws(e'\n[...]\n',
          case when btrim(left(said, skipped), e' \t\r\n') <> '' then
            case when length(beginning) <= skipped then beginning else '' end end,
          passage)
        || case when btrim(substr(said, skipped + length(passage) + 1), e' \t\r\n') <> '' then e'\n[...]' else '' end;
    end if;
    line := memory._recalled_line(hit.role, hit.metadata, said);
    tokens := memory._tokens_at_most(e'\n' || line, hit.english) - 2; -- the estimate of a separate text has 2 more
    if tokens <= remaining then
      remaining := remaining - tokens;
      wordings := wordings || wording;
      keys := keys || own_keys;
      all_keys := all_keys || array_to_string(own_keys, e'\n') || e'\n';
      candidates := candidates || row(
        hit.thread_id, hit.seq, line, tokens, memory._day_of(hit.created_at), hit.created_at, hit.score,
        case when not hit.of_hit = any (asked_before) then hit.of_hit end, wording, own_keys)::memory._recalled;
    else
      left_out := left_out || memory._left_out('recalled', 'does not fit', tokens, hit.id);
    end if;
  end loop;
  if candidates = '{}' and left_out = '{}' then
    left_out := array[memory._left_out('recalled', 'no other message matches', 0)];
  end if;
end;
$$;

-- The candidates that fit into p_max_tokens.
create or replace function memory._that_fit(p_candidates memory._recalled[], p_max_tokens int)
returns memory._recalled[]
language plpgsql immutable parallel safe
as $$
declare
  tokens int := 0;
  candidate memory._recalled;
  fitting memory._recalled[] := array[]::memory._recalled[];
  days date[] := array[]::date[];
  hits bigint[] := array[]::bigint[];
begin
  foreach candidate in array p_candidates loop
    -- A neighbour makes no sense without the message that it stands next to.
    continue when candidate.score is null and candidate.of_hit is not null and not candidate.of_hit = any (hits);
    if memory._recall_tokens(
      tokens + candidate.token_count, cardinality(days) + (candidate.said_on <> all (days))::int) <= p_max_tokens then
      tokens := tokens + candidate.token_count;
      if candidate.said_on <> all (days) then
        days := days || candidate.said_on;
      end if;
      fitting := fitting || candidate;
      hits := hits || candidate.of_hit;
    end if;
  end loop;
  return fitting;
end;
$$;

-- The upper limit of the tokens of a block with these lines and days. A date and the lines around it take 12 tokens.
create or replace function memory._recall_tokens(p_tokens_of_lines bigint, p_days bigint)
returns bigint
language sql immutable parallel safe
begin atomic
  select memory._fence_tokens(true) + p_tokens_of_lines + 12 * p_days;
end;

-- The candidates that fit, in the order of time, each day under its date: without the messages that a memory repeats
-- (p_repeated) and the messages of this thread that the context shows anyway. The result is null when none fits.
create or replace function memory._recalled_part(
  p_candidates memory._recalled[], p_max_tokens int, p_thread_id text, p_from_seq bigint, p_repeated text[]
)
returns memory.context_part
language plpgsql stable parallel safe
as $$
declare
  candidates constant memory._recalled[] := array(
    select c from unnest(p_candidates) as c
    where (c.thread_id = p_thread_id and c.seq >= p_from_seq) is not true
      and c.thread_id || '/' || c.seq <> all (p_repeated));
  fitting memory._recalled[];
  shown memory._recalled[]; -- the lines of content
  room int := p_max_tokens;
  content text;
  tokens int;
  messages jsonb;
begin
  -- The cost of gaps and dates is only known when the lines are in order. If it is higher than the estimate, the loop
  -- drops another line.
  loop
    fitting := memory._that_fit(candidates, room);
    if fitting = '{}' then
      return null;
    end if;
    if fitting is distinct from shown then -- The same lines have the same tokens.
      shown := fitting;
      select memory._fenced('Said before, newest last; an empty line marks a gap:' || string_agg(
          case when s.said_on is distinct from s.day_before then e'\n\n' || to_char(s.said_on, 'FMDD FMMonth YYYY')
               when s.thread_id = s.thread_before and s.seq = s.seq_before + 1 then ''
               else e'\n' end
            || e'\n' || s.line, '' order by s.place)),
        jsonb_agg(jsonb_build_object('thread_id', s.thread_id, 'seq', s.seq, 'score', s.score) order by s.place)
      into content, messages
      from (
        select d.*, row_number() over in_time as place, lag(d.said_on) over in_time as day_before,
          lag(d.thread_id) over in_time as thread_before, lag(d.seq) over in_time as seq_before
        from (
          select r.*, min(r.said_at) over (partition by r.said_on, r.thread_id) as thread_began_at
          from unnest(fitting) as r) as d
        window in_time as (order by d.said_on, d.thread_began_at, d.thread_id, d.seq)) as s;
      tokens := memory._tokens_at_most(content);
    end if;
    exit when tokens <= p_max_tokens;
    room := room - (tokens - p_max_tokens);
  end loop;
  return row(3, 'system', content, 'recalled', tokens,
             jsonb_build_object('messages', messages))::memory.context_part;
end;
$$;

-- The wording of a text: its words in lower case without punctuation, by which two texts are compared. Two expressions
-- that seldom match take half the time of one expression that matches every blank.
create or replace function memory._wording(p_said text, p_most int default 2000)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return btrim(regexp_replace(
    regexp_replace(lower(left(p_said, p_most)), e'[!-/:-@\\[-`{-~]+', ' ', 'g'), e'\\s{2,}|[^\\S ]', ' ', 'g'));
end;
$$;

-- The place of a wording that says the same as p_wording, or null. Two wordings say the same if they share at least
-- eight of ten words of both and have the same numbers and negations. Such wordings share two of their three longest
-- words, so the function only compares wordings that do; p_keys_of_all has the keys of all wordings. Short texts ("Yes,
-- please") count as different, because they answer different questions.
create or replace function memory._same_wording(p_wording text, p_keys text[], p_wordings text[], p_keys_of_all text[])
returns int
language plpgsql immutable parallel safe
as $$
declare
  words text[];
  word text;
  other text;
  others text[];
  spare int; -- how many fifths of a word may still be missing
  place int;
begin
  if length(p_wording) < 20 then
    return null;
  end if;
  place := array_position(p_wordings, p_wording);
  if place is not null then
    return place;
  end if;
  -- At most twenty comparisons, because a thousand reports may be alike.
  foreach place in array (
    array_positions(p_keys_of_all, p_keys[1]) || array_positions(p_keys_of_all, p_keys[2])
      || array_positions(p_keys_of_all, p_keys[3]))[:20]
  loop
    place := (place + 2) / 3;
    other := p_wordings[place];
    if length(other) between 0.72 * length(p_wording) and length(p_wording) / 0.72 then
      words := coalesce(words, string_to_array(p_wording, ' '));
      others := string_to_array(other, ' ');
      spare := 5 * cardinality(words) - 4 * greatest(cardinality(words), cardinality(others));
      other := ' ' || other || ' ';
      -- Most texts differ in one of their first words. Looking for one word takes a hundredth of the time of a
      -- statement.
      foreach word in array words loop
        exit when spare < 0;
        if strpos(other, ' ' || word || ' ') = 0 then
          spare := spare - 5;
        end if;
      end loop;
      if spare >= 0
        and array(select distinct w from unnest(words) as w where w ~ '[0-9]' order by w)
          = array(select distinct w from unnest(others) as w where w ~ '[0-9]' order by w)
        and memory._turning_words(words) = memory._turning_words(others) then
        return place;
      end if;
    end if;
  end loop;
  return null;
end;
$$;

-- The keys of a wording: each pair of its three longest words. A loop takes a third of the time of a statement that
-- sorts.
create or replace function memory._wording_keys(p_wording text)
returns text[]
language plpgsql immutable parallel safe
as $$
declare
  word text;
  longest text[] := array['', '', ''];
  shortest int := 0; -- the length of longest[3]
begin
  foreach word in array string_to_array(p_wording, ' ') loop
    if length(word) > shortest and word <> all (longest) then
      longest := case
        when length(word) > length(longest[1]) then array[word, longest[1], longest[2]]
        when length(word) > length(longest[2]) then array[longest[1], word, longest[2]]
        else array[longest[1], longest[2], word] end;
      shortest := length(longest[3]);
    end if;
  end loop;
  return array[
    least(longest[1], longest[2]) || ' ' || greatest(longest[1], longest[2]),
    least(longest[1], longest[3]) || ' ' || greatest(longest[1], longest[3]),
    least(longest[2], longest[3]) || ' ' || greatest(longest[2], longest[3])];
end;
$$;

-- Whether a message says no more than a memory that was drawn from it: the memory has nine of ten longer words of the
-- message, all its numbers, and as many negations and similar words.
create or replace function memory._says_no_more(p_message_wording text, p_memory_wording text)
returns boolean
language plpgsql immutable parallel safe
as $$
declare
  said constant text[] := string_to_array(p_message_wording, ' ');
  known constant text[] := string_to_array(p_memory_wording, ' ');
begin
  return coalesce((
      select count(*) filter (where w = any (known)) >= 0.9 * count(*)
        and coalesce(bool_and(w = any (known)) filter (where w ~ '[0-9]'), true)
      from (select distinct w from unnest(said) as w where length(w) >= 4 or w ~ '[0-9]') as d (w)), false)
    and memory._turning_words(said) = memory._turning_words(known);
end;
$$;
