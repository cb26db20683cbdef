-- Of a message also its speaker's name and its date: questions ask "what did Ana say in May".
create or replace function memory._message_vector(p_language regconfig, p_content text, p_metadata jsonb, p_created_at timestamptz)
returns tsvector
language plpgsql immutable parallel safe
as $$
begin
  return memory._text_vector(p_language, concat_ws(' ', to_char(p_created_at at time zone 'UTC', 'FMDD FMMonth YYYY'), p_metadata ->> 'name', p_content));
end;
$$;

-- What an append leaves for later, done at once for a range of a thread: the words of its messages (to insert one from
-- JSON takes 4 us, to parse what it says 30) and their exact tokens, where token_counts has them by seq. Words are
-- those of the row's own text under the row's lock, so a change of the text cannot be lost. What someone is changing is
-- skipped, so nobody waits: a change of the text keeps its words itself. Of messages that are long, as many are parsed
-- as have max_bytes between them, and one at least; memory.sweep() goes on from there.
create or replace function memory._finish_messages(
  p_user_id text, p_thread_id text, p_from_seq bigint, p_to_seq bigint, p_token_counts jsonb default '{}',
    p_max_bytes int default 4262144
)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  seqs bigint[];
  last_parsed bigint;
  agents text[];
  languages jsonb;
begin
  select array_agg(b.seq) filter (where b.fits or b.is_new_count), max(b.seq) filter (where b.fits),
    array_agg(distinct b.agent_id)
  into seqs, last_parsed, agents
  from (
    select l.seq, l.agent_id, l.is_new_count, l.bytes is not null
      and (sum(l.bytes) over so_far <= p_max_bytes or count(l.bytes) over so_far = 1) as fits
    from (
      select m.seq, m.agent_id, not m.is_counted and p_token_counts ? m.seq::text as is_new_count,
        case when m.search_vector is null and m.is_active then least(octet_length(m.content), 262144) end as bytes
      from memory.messages as m
      where m.user_id = p_user_id and m.thread_id = p_thread_id
        and m.seq between p_from_seq and p_to_seq
        and (m.search_vector is null and m.is_active or not m.is_counted and p_token_counts ? m.seq::text)
      for no key update skip locked) as l
    window so_far as (order by l.seq)) as b;
  -- Once for each agent: for each message it takes as long as parsing it (10,000 short ones: 0.47 s instead of 0.26).
  languages := (select jsonb_object_agg(a.id, memory._policy(p_user_id, a.id) #> '{search,language}') from unnest(agents) as a (id));
  -- An array, because a join is planned badly while the table has no statistics.
  update memory.messages as m
  set search_vector = coalesce(m.search_vector, case when m.is_active and m.seq <= last_parsed
    then memory._message_vector((languages ->> m.agent_id)::regconfig, m.content, m.metadata, m.created_at) end),
      token_count = case when m.is_counted then m.token_count else coalesce((p_token_counts ->> m.seq::text)::numeric::int, m.token_count) end,
      is_counted = m.is_counted or p_token_counts ? m.seq::text
  where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq = any (seqs);
end;
$$;

-- What a job has read is finished: exact token counts, where it has counted, take the place of the estimates, and words are
-- kept in the same version of the row. A job that writes no messages otherwise (embed) leaves words to the others. Comes
-- last, and does not wait for a thread that someone is writing to: a later job counts as well, memory.sweep() keeps the
-- words, and no append waits for anything but these updates.
create or replace function memory._finish_read_messages(p_job memory.jobs, p_result jsonb)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if p_result ? 'token_counts' and (jsonb_typeof(p_result -> 'token_counts') = 'object' and jsonb_typeof(p_result -> 'token_counter') = 'string'
         and not exists (select from jsonb_each(p_result -> 'token_counts') as c
                         where c.key !~ '^[0-9]{1,18}$' or jsonb_typeof(c.value) <> 'number' or c.value::numeric not between 0 and 10485760
                           or c.value::numeric <> floor(c.value::numeric))) is not true then
    perform memory._refuse_result('token_counts', 'must be an object of seq and number of tokens, with token_counter naming the encoding');
  end if;
  if not p_job.input ? 'read_through' then
    return;
  end if;
  perform from memory.threads as t where t.user_id = p_job.user_id and t.thread_id = p_job.scope for no key update skip locked;
  if found then
    perform memory._finish_messages(p_job.user_id, p_job.scope, (p_job.input ->> 'from_seq')::bigint, (p_job.input ->> 'read_through')::bigint,
                                    -- half a second, for which appends wait
                                    coalesce(p_result -> 'token_counts', '{}'), 1000000);
  end if;
end;
$$;

-- Parses the messages that no job has read: until then every keyword search among messages does. A mark per thread
-- says up to where that is done. An index of what is left to do would make add_messages 9 to 18 % slower.
create or replace function memory._finish_unread_messages(p_message_limit int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  thread record;
  to_seq bigint;
  bytes bigint;
  bytes_left bigint := 4000000; -- two seconds
  checked bigint := 0;
begin
  -- In one order, so that two sweeps that set the same marks do not deadlock. A thread that is found stays until the end, and
  -- no append waits for that.
  for thread in
    select t.user_id, t.thread_id, coalesce(k.position, -1) + 1 as from_seq, t.next_seq - 1 as to_seq
    from memory.threads as t
    left join memory.marks as k on k.user_id = t.user_id and k.scope = t.thread_id and k.kind = 'words'
    where t.next_seq > coalesce(k.position, -1) + 1
    order by t.user_id, t.thread_id limit p_message_limit
    for key share of t skip locked
  loop
    to_seq := least(thread.to_seq, thread.from_seq + p_message_limit - checked - 1);
    select coalesce(min(b.seq) filter (where b.bytes > bytes_left) - 1, to_seq), coalesce(max(b.bytes) filter (where b.bytes <= bytes_left), 0)
    into to_seq, bytes
    from (select m.seq, sum(least(octet_length(m.content), 262144)) over (order by m.seq) as bytes -- as much as is parsed of each
          from memory.messages as m
          where m.user_id = thread.user_id and m.thread_id = thread.thread_id and m.seq between thread.from_seq and to_seq
            and m.search_vector is null and m.is_active) as b;
    bytes_left := bytes_left - bytes;
    perform memory._finish_messages(thread.user_id, thread.thread_id, thread.from_seq, to_seq);
    -- Up to the first that was skipped.
    select coalesce(min(m.seq) - 1, to_seq) into to_seq from memory.messages as m
    where m.user_id = thread.user_id and m.thread_id = thread.thread_id and m.seq between thread.from_seq and to_seq
      and m.search_vector is null and m.is_active;
    if to_seq >= thread.from_seq then
      perform memory._set_mark(thread.user_id, thread.thread_id, 'words', to_seq);
      checked := checked + to_seq - thread.from_seq + 1;
    end if;
    exit when checked >= p_message_limit or bytes_left < 262144;
  end loop;
  return checked;
end;
$$;
