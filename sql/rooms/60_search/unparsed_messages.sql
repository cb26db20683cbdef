-- A search parses messages that neither a job nor a sweep has parsed yet.

-- The number of bytes that a search may parse, newest messages first; null when no message waits for parsing. p_cost is
-- the sum over all p_messages of the bytes of a message (256 KiB at most) plus 100. Half a MiB is 3,000 short messages
-- and takes 90 ms for prose, 300 ms for Chinese. The search keeps no parsed words: a search that wrote to messages
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

-- Raises a notice that this search does not compare the words of some messages.
create or replace function memory._note_left_out(p_messages bigint)
returns void
language plpgsql stable parallel safe
as $$
begin
  raise notice 'degraded: about % older messages are not parsed yet, so they are not found by their words', p_messages
    using errcode = '01AM7', hint = 'A worker or memory.sweep() parses them.';
end;
$$;

-- The beginning of a word in a text: the word's stem without the last letter, because a stem may differ from its word
-- in that letter (city, cities: citi).
create or replace function memory._beginning(p_word text)
returns text
language sql immutable parallel safe
begin atomic
  select case when p_word ~ '...[[:alpha:]]$' then left(p_word, -1) else p_word end;
end;

-- The beginnings of the eight longest words of the query. A search looks for these beginnings in messages that it does
-- not parse as a whole.
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

-- The number of these word beginnings that occur in a text. The expression names each beginning, because counting rows
-- of unnest() takes twice as long.
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
