-- How a context shows what it recalls.

-- The candidates, those with why_not that do not fit into p_max_tokens.
create or replace function memory._that_fit(p_candidates memory._recalled[], p_max_tokens int)
returns memory._recalled[]
language plpgsql immutable parallel safe
as $$
declare
  tokens int := 0;
  candidate memory._recalled;
  days date[] := array[]::date[];
  hits bigint[] := array[]::bigint[];
begin
  for place in 1 .. cardinality(p_candidates) loop
    candidate := p_candidates[place];
    continue when candidate.why_not is not null;
    -- A neighbour makes no sense without the message that it stands next to.
    if candidate.score is null and candidate.of_hit is not null and not candidate.of_hit = any (hits)
      or memory._recall_tokens(
        tokens + candidate.token_count, cardinality(days) + (candidate.said_on <> all (days))::int) > p_max_tokens then
      p_candidates[place].why_not := 'does not fit';
    else
      tokens := tokens + candidate.token_count;
      if candidate.said_on <> all (days) then
        days := days || candidate.said_on;
      end if;
      hits := hits || candidate.of_hit;
    end if;
  end loop;
  return p_candidates;
end;
$$;

-- The upper limit of the tokens of a block with these lines and days. A date and the lines around it take 7 tokens.
create or replace function memory._recall_tokens(p_tokens_of_lines bigint, p_days bigint)
returns bigint
language sql immutable parallel safe
begin atomic
  select memory._fence_tokens() + p_tokens_of_lines + 7 * p_days;
end;

-- The part of a context that shows these messages in the order of time, each day under its date.
create or replace function memory._recalled_part(p_place int, p_seq bigint, p_candidates memory._recalled[])
returns memory._offer[]
language plpgsql stable parallel safe
as $$
begin
  if p_candidates = '{}' then
    return array[]::memory._offer[];
  end if;
  return array(
  select row(
    p_place, p_seq, 'recalled', null, 'system',
    memory._fenced('Said before, newest last; an empty line marks a gap:' || string_agg(
      case when s.said_on is distinct from s.day_before then e'\n\n' || to_char(s.said_on, 'FMDD FMMonth YYYY')
           when s.thread_id = s.thread_before and s.seq = s.seq_before + 1 then ''
           else e'\n' end
        || e'\n' || s.line, '' order by s.place)),
    memory._recall_tokens(sum(s.token_count), count(distinct s.said_on)),
    jsonb_build_object('messages', jsonb_agg(
      jsonb_build_object('thread_id', s.thread_id, 'seq', s.seq, 'score', s.score, 'relevance', s.relevance)
      order by s.place)), null, null, null)::memory._offer
  from (
    select d.*, row_number() over in_time as place, lag(d.said_on) over in_time as day_before,
      lag(d.thread_id) over in_time as thread_before, lag(d.seq) over in_time as seq_before
    from (
      select r.*, min(r.said_at) over (partition by r.said_on, r.thread_id) as thread_began_at
      from unnest(p_candidates) as r where r.why_not is null) as d
    window in_time as (order by d.said_on, d.thread_began_at, d.thread_id, d.seq)) as s
  having count(*) > 0);
end;
$$;

-- A recalled message as one paragraph with its speaker. Further lines are indented, so that none of them looks like
-- another speaker or another day. If the letters of a speaker's name spell a role, whatever stands between them, the
-- paragraph shows the message's role instead. Letters of other alphabets count as the Latin letters that they look
-- like.
create or replace function memory._recalled_line(p_role text, p_metadata jsonb, p_said text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  name text := p_metadata ->> 'name';
  letters text;
begin
  if name is not null then
    -- A colon ends the name: with the name "Ana: I agree. Bob", the line would put words into Ana's mouth.
    name := btrim(translate(memory._memory_line(left(name, 100)), e':\u02d0\u2236\ua789\ufe13\ufe55\uff1a', '       '));
    letters := name;
    if octet_length(name) > length(name) and getdatabaseencoding() = 'UTF8' then
      letters := translate(pg_catalog.normalize(name, 'NFKD'),
        'АЕМОРТаеморгтуѕіԁӏΑΕΜΟΡΤορν', 'AEMOPTaemoprtysidlAEMOPTopv');
    end if;
    letters := regexp_replace(lower(letters), '[^[:alnum:]]', '', 'g');
  end if;
  return case when coalesce(name, '') = ''
      or letters in ('user', 'assistant', 'agent', 'tool', 'system', 'developer') then p_role else name end || ': '
    || replace(memory._paragraph(p_said), e'\n', e'\n  ');
end;
$$;
