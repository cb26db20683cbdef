-- The words of a message for keyword search, with its speaker's name and its date, because questions ask "what did Ana
-- say in May".
create or replace function memory._message_vector(
  p_language regconfig, p_content text, p_metadata jsonb, p_created_at timestamptz
)
returns tsvector
language plpgsql immutable parallel safe
as $$
begin
  return memory._text_vector(p_language,
    concat_ws(' ', to_char(memory._day_of(p_created_at), 'FMDD FMMonth YYYY'), p_metadata ->> 'name', p_content));
end;
$$;

-- Finishes the messages in a range of a thread: puts those into quarantine that look like attacks, stores their words,
-- and their exact tokens, which p_token_counts holds by seq. Appends leave this for later, because parsing the words of
-- a message takes 30 us and inserting it from JSON 4.
--
-- The words come from the row's own text under the row's lock, so no change of the text is lost. Rows that another
-- transaction is changing are skipped, so nobody waits: a change of the text renews the words itself. Messages are
-- finished until they have p_max_bytes in all (null: all of them); memory.sweep() finishes the rest.
create or replace function memory._finish_messages(
  p_user_id text, p_thread_id text, p_from_seq bigint, p_to_seq bigint, p_token_counts jsonb default '{}',
  p_max_bytes int default null
)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  seqs bigint[];
  last_parsed bigint;
  agents text[];
  is_any_judged boolean;
  languages jsonb;
begin
  select array_agg(b.seq) filter (where b.fits or b.is_new_count), max(b.seq) filter (where b.fits),
    array_agg(distinct b.agent_id), bool_or(b.is_judged)
  into seqs, last_parsed, agents, is_any_judged
  from (
    select l.seq, l.agent_id, l.is_new_count, l.is_judged,
      l.bytes is not null and (p_max_bytes is null or sum(l.bytes) over so_far <= p_max_bytes) as fits
    from (
      select m.seq, m.agent_id, memory._is_judged(m.role, m.metadata) as is_judged,
        not m.is_counted and p_token_counts ? m.seq::text and memory._can_be_updated(m) as is_new_count,
        case when memory._is_unparsed(m) then memory._bytes_to_finish(m) end as bytes
      from memory.messages as m
      where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq between p_from_seq and p_to_seq
        and (memory._is_unparsed(m) or not m.is_counted and p_token_counts ? m.seq::text)
      for no key update skip locked) as l
    window so_far as (order by l.seq)) as b;
  if is_any_judged then
    last_parsed := memory._check_messages(p_user_id, p_thread_id, p_from_seq, last_parsed, true);
  end if;
  -- The policy is read once per agent. Reading it for each of 10,000 short messages took as long as parsing them: 0.47
  -- s instead of 0.26.
  languages := (select jsonb_object_agg(a.id, memory._language(p_user_id, a.id))
                from unnest(agents) as a (id));
  -- "any (seqs)" and not a join, which is planned badly while the table has no statistics. The bounds keep a plan that
  -- takes the array for longer than the thread from reading all of the thread.
  update memory.messages as m
  set (search_vector, search_keys) = (
        select w.words, coalesce(m.search_keys, case when w.words is not null then array(
          select k from memory._search_keys(m.user_id, m.agent_id, w.words, m.metadata) as k) end)
        from (
          select coalesce(m.search_vector, case
            when memory._is_kept_message(m.is_active, m.summary_id) and m.seq <= last_parsed
              then memory._message_vector((languages ->> m.agent_id)::regconfig, m.content, m.metadata, m.created_at)
            end) as words
          offset 0) as w), -- so that the words are parsed once
      token_count = case
        when m.is_counted then m.token_count
        else coalesce((p_token_counts ->> m.seq::text)::numeric::int, m.token_count)
      end,
      is_counted = m.is_counted or p_token_counts ? m.seq::text
  where m.user_id = p_user_id and m.thread_id = p_thread_id
    and m.seq between p_from_seq and p_to_seq and m.seq = any (seqs);
end;
$$;

-- Whether a message obeys the rules. One that does not, as plain SQL without triggers may store it, cannot be updated,
-- and must stop neither a job nor a sweep.
create or replace function memory._can_be_updated(p_message memory.messages)
returns boolean
language sql stable parallel safe
begin atomic
  select memory._message_problem((p_message).user_id, (p_message).thread_id, (p_message).agent_id, (p_message).role,
    (p_message).content, (p_message).metadata, (p_message).created_at, (p_message).idempotency_key) is null;
end;

-- Whether the words of a message are missing, or their keys, because it was parsed before there were keys. A cleared
-- message needs neither.
create or replace function memory._is_unparsed(p_message memory.messages)
returns boolean
language sql stable parallel safe
begin atomic
  select (p_message).search_keys is null and memory._is_kept_message((p_message).is_active, (p_message).summary_id)
    and memory._can_be_updated(p_message);
end;

-- The bytes of a message that are read to finish it: the words come from its first 256 KiB, and rules look at all of
-- it.
create or replace function memory._bytes_to_finish(p_message memory.messages)
returns int
language sql immutable parallel safe
begin atomic
  select case
    when memory._is_judged((p_message).role, (p_message).metadata) then octet_length((p_message).content)
    else least(octet_length((p_message).content), 262144) end;
end;

-- Moves the watermark up to which the messages of a thread are parsed: to p_to_seq, or to the message before the first
-- one that is not parsed. Returns how far it has moved. A search and a sweep look at no message before it.
create or replace function memory._mark_parsed(p_user_id text, p_thread_id text, p_to_seq bigint)
returns bigint
language plpgsql volatile parallel unsafe
set enable_seqscan = off -- a plan made while the table of marks was empty would read all of it
set jit = off
as $$
declare
  marked constant bigint := coalesce((
    select k.position from memory.marks as k
    where k.user_id = p_user_id and k.scope = p_thread_id and k.kind = 'words'), -1);
  reached constant bigint := coalesce((
    select m.seq - 1 from memory.messages as m
    where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq between marked + 1 and p_to_seq
      and memory._is_unparsed(m)
    order by m.seq limit 1), p_to_seq);
begin
  if reached > marked then
    perform memory._set_mark(p_user_id, p_thread_id, 'words', reached);
  end if;
  return greatest(reached - marked, 0);
end;
$$;

-- Parses up to p_message_limit messages that no job has read, and returns how many were checked. Until they are parsed,
-- every keyword search among messages parses them. A watermark per thread says up to which seq its messages are parsed:
-- an index of unparsed messages would make add_messages 9 to 18 % slower. A thread with settled_at need not be
-- looked at.
create or replace function memory._finish_unread_messages(p_message_limit int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  thread record;
  to_seq bigint;
  bytes bigint;
  bytes_left bigint := 4000000; -- two to six seconds, or the time of one message
  checked bigint := 0;
begin
  -- Ordered by id, so that two sweeps that set the same watermarks do not deadlock. The lock keeps the thread from
  -- being deleted; no append waits for it.
  for thread in
    select t.user_id, t.thread_id, coalesce(k.position, -1) + 1 as from_seq, t.next_seq - 1 as to_seq
    from memory.threads as t
    left join memory.marks as k on k.user_id = t.user_id and k.scope = t.thread_id and k.kind = 'words'
    where t.settled_at is null
      and greatest(t.next_seq, 0) - 1 > coalesce(k.position, -1) -- no overflow by a bad row, which would stop all users
    order by t.user_id, t.thread_id limit p_message_limit
    for key share of t skip locked
  loop
    to_seq := least(thread.to_seq, thread.from_seq + p_message_limit - checked - 1);
    -- The first message in any case, then further messages as long as they fit.
    select coalesce(min(b.seq) filter (where b.bytes > bytes_left and b.place > 1) - 1, to_seq),
      coalesce(max(b.bytes) filter (where b.bytes <= bytes_left or b.place = 1), 0)
    into to_seq, bytes
    from (select m.seq, row_number() over so_far as place, sum(memory._bytes_to_finish(m)) over so_far as bytes
          from memory.messages as m
          where m.user_id = thread.user_id and m.thread_id = thread.thread_id
            and m.seq between thread.from_seq and to_seq
            and memory._is_unparsed(m)
          window so_far as (order by m.seq)) as b;
    bytes_left := bytes_left - bytes;
    perform memory._finish_messages(thread.user_id, thread.thread_id, thread.from_seq, to_seq);
    -- The watermark stays before the first message that was skipped.
    checked := checked + memory._mark_parsed(thread.user_id, thread.thread_id, to_seq);
    exit when checked >= p_message_limit or bytes_left < 262144;
  end loop;
  return checked;
end;
$$;

-- Settles threads that are parsed up to their last message. An append to one of them waits for the transaction, so this
-- is the last step of a sweep, and leaves alone threads with messages of the last day, and those that are locked.
create or replace function memory._settle_threads(p_thread_limit int)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  update memory.threads as t set settled_at = coalesce(t.last_at, '-infinity')
  where t.ctid = any (array(
    select p.ctid
    from memory.threads as p
    left join memory.marks as k on k.user_id = p.user_id and k.scope = p.thread_id and k.kind = 'words'
    where p.settled_at is null and p.next_seq - 1 <= coalesce(k.position, -1)
      and (p.last_at < statement_timestamp() - interval '1 day') is not false
    order by p.user_id, p.thread_id limit p_thread_limit
    for no key update of p skip locked));
end;
$$;
