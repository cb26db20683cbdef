-- Finishes the messages in a range of a thread that no job has read: puts those into quarantine that look like attacks,
-- makes their rows in memory.texts, and stores their exact tokens, which p_token_counts holds by seq. Appends leave
-- this for later, because parsing the words of a message takes 30 us and inserting it from JSON 4.
--
-- Rows that another transaction is changing are skipped, so nobody waits: a change of the text makes its row in
-- memory.texts. One message is finished in any case, and others as long as they have p_max_bytes in all (null: all of
-- them); memory.sweep() finishes the rest. bytes is how many they have: the words come from a million characters, and
-- rules look at all of a message.
--
-- A watermark of the thread says up to which message it is parsed: a search and a sweep look at no message before it.
-- It stays before the first message that was skipped. checked is how far it has moved.
create or replace function memory._finish_messages(
  p_user_id text, p_thread_id text, p_from_seq bigint, p_to_seq bigint, p_token_counts jsonb default '{}',
  p_max_bytes int default null, out checked bigint, out bytes bigint
)
language plpgsql volatile parallel unsafe
as $$
declare
  unread bigint[];
  is_any_judged boolean;
  judged_to bigint;
  marked constant bigint := coalesce((
    select k.position from memory.marks as k
    where k.user_id = p_user_id and k.scope = p_thread_id and k.kind = 'words'), -1);
  reached bigint;
begin
  select array_agg(b.seq), bool_or(b.is_judged), coalesce(sum(b.bytes), 0) into unread, is_any_judged, bytes
  from (
    select c.seq, c.is_judged, c.bytes
    from (
      select l.*, sum(l.bytes) over (order by l.seq) as bytes_so_far
      from (
        select m.seq, j.is_judged,
          case when j.is_judged then octet_length(m.content) else least(octet_length(m.content), 1000000) end as bytes
        from memory.messages as m
        cross join lateral (select memory._is_judged(m.role, m.metadata) as is_judged) as j
        where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq between p_from_seq and p_to_seq
          and memory._is_unparsed(m)) as l) as c
    join memory.messages as m on m.seq = c.seq
    where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq between p_from_seq and p_to_seq
      and (p_max_bytes is null or c.bytes_so_far <= p_max_bytes or c.bytes_so_far = c.bytes)
    for no key update of m skip locked) as b;
  judged_to := case when is_any_judged
    then memory._check_messages(p_user_id, p_thread_id, p_from_seq, (select max(u) from unnest(unread) as u))
    else p_to_seq end;
  perform memory._store_texts(p_user_id, 'message', array(
    select p_thread_id || '/' || u from unnest(unread) as u where u <= judged_to));
  if p_token_counts <> '{}' then
    update memory.messages as m
    set token_count = coalesce((p_token_counts ->> m.seq::text)::numeric::int, m.token_count), is_counted = true
    where m.ctid = any (array(
      select c.ctid from memory.messages as c
      where c.user_id = p_user_id and c.thread_id = p_thread_id and c.seq between p_from_seq and p_to_seq
        and not c.is_counted and p_token_counts ? c.seq::text and memory._message_problem(c) is null
      for no key update skip locked));
  end if;
  reached := coalesce((
    select m.seq - 1 from memory.messages as m
    where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq between marked + 1 and p_to_seq
      and memory._is_unparsed(m)
    order by m.seq limit 1), p_to_seq);
  if reached > marked then
    perform memory._set_mark(p_user_id, p_thread_id, 'words', reached);
  end if;
  checked := greatest(reached - marked, 0);
end;
$$;

-- Whether no job has parsed a message. A cleared message need not be parsed. One that breaks a rule, as plain SQL
-- without triggers may store it, cannot be updated, and must stop neither a job nor a sweep.
create or replace function memory._is_unparsed(p_message memory.messages)
returns boolean
language sql stable parallel safe
begin atomic
  select memory._is_kept_message((p_message).is_active, (p_message).summary_id)
    and not memory._is_parsed((p_message).user_id, 'message', (p_message).thread_id || '/' || (p_message).seq)
    and memory._message_problem(p_message) is null;
end;

-- Parses up to p_message_limit messages that no job has read, and returns how many were checked. Until they are parsed,
-- every keyword search among messages parses them. The watermark of each thread says where to begin: an index of
-- unparsed messages would make add_messages 9 to 18 % slower. A thread with settled_at need not be looked at.
create or replace function memory._finish_unread_messages(p_message_limit int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  thread record;
  finished record;
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
    finished := memory._finish_messages(
      thread.user_id, thread.thread_id, thread.from_seq,
      least(thread.to_seq, thread.from_seq + p_message_limit - checked - 1), '{}', bytes_left::int);
    checked := checked + finished.checked;
    bytes_left := bytes_left - finished.bytes;
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
