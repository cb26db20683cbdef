-- Messages that neither a job nor a sweep has parsed yet: a search parses them itself.

-- How many bytes a search may parse, newest messages first; null when there is nothing to parse. p_cost is the cost of
-- all p_messages: for each its bytes, of which 256 KiB are parsed at most, plus 100. Half a MiB takes 90 ms for prose,
-- 300 ms for Chinese, and is 3,000 short messages. Nothing that is parsed is kept: a search that wrote to messages
-- would hold their locks until its transaction ends, and would wait for a session that clears the thread.
create or replace function memory._parsing_budget(p_messages bigint, p_cost bigint)
returns int
language plpgsql stable parallel safe
as $$
begin
  if p_cost > 524288 then
    raise notice
      'degraded: % texts are not parsed yet; of all but the newest the first 200 characters are compared', p_messages
      using errcode = '01AM7', hint = 'A worker or memory.sweep() parses them.';
  end if;
  return case when p_messages > 0 then 524288 end;
end;
$$;

-- Tells the caller that this search does not compare the words of some messages.
create or replace function memory._note_left_out(p_messages bigint)
returns void
language plpgsql stable parallel safe
as $$
begin
  raise notice 'degraded: about % older messages are not parsed yet, so they are not found by their words', p_messages
    using errcode = '01AM7', hint = 'A worker or memory.sweep() parses them.';
end;
$$;

-- What a word begins with in a text: its stem without the last letter, because a stem may differ from its word in that
-- letter (city, cities: citi). Inlined by the planner, hence no SET clause.
create or replace function memory._beginning(p_word text)
returns text
language sql immutable parallel safe
begin atomic
  select case when p_word ~ '...[[:alpha:]]$' then left(p_word, -1) else p_word end;
end;

-- The word beginnings that a search looks for in messages that it does not parse as a whole: those of the eight longest
-- words of the query.
create or replace function memory._beginnings(p_words text[])
returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return array(
    select memory._beginning(u.word)
    from unnest(p_words) as u (word)
    order by length(u.word) desc, u.word limit 8);
end;
$$;

-- How many of these word beginnings occur in a text. Written out, because counting rows of unnest() takes twice as
-- long. Inlined by the planner, hence no SET clause.
create or replace function memory._words_that_begin(p_said text, p_beginnings text[])
returns int
language sql immutable parallel safe
begin atomic
  select num_nonnulls(
    nullif(strpos(p_said, p_beginnings[1]), 0), nullif(strpos(p_said, p_beginnings[2]), 0),
    nullif(strpos(p_said, p_beginnings[3]), 0), nullif(strpos(p_said, p_beginnings[4]), 0),
    nullif(strpos(p_said, p_beginnings[5]), 0), nullif(strpos(p_said, p_beginnings[6]), 0),
    nullif(strpos(p_said, p_beginnings[7]), 0), nullif(strpos(p_said, p_beginnings[8]), 0));
end;
