create or replace function memory.copy_thread(
  user_id text, thread_id text, new_thread_id text, upto_seq bigint default null
)
returns bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  origin memory.threads;
  past_seq bigint; -- the number after the last one that is copied
  its_metadata jsonb;
  summaries uuid[]; -- those that are copied, and the ids of their copies
  copies uuid[];
  copied bigint;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_thread(user_id, thread_id);
  perform memory._check_id('new_thread_id', new_thread_id);
  if upto_seq < 0 then
    perform memory._refuse('upto_seq', format('%s is less than 0', upto_seq), 'Leave it out to copy the whole thread.');
  end if;
  origin := memory._begin_copy(user_id, thread_id, new_thread_id);
  past_seq := least(origin.next_seq - 1, upto_seq) + 1;
  its_metadata := coalesce(origin.metadata, '{}')
    || jsonb_build_object('copied_from', thread_id, 'copied_upto_seq', past_seq - 1);
  perform memory._check_metadata(its_metadata);

  -- Triggers let the rows pass by, as those of an import.
  perform memory._begin_whole_user_change();
  select array_agg(s.summary_id), array_agg(memory._uuid_v7()) into summaries, copies
  from (select c.summary_id from memory.summaries as c
        where c.user_id = copy_thread.user_id and c.thread_id = copy_thread.thread_id and c.status = 'completed'
          and c.end_seq < past_seq
        order by c.summary_id) as s;
  insert into memory.summaries ({{columns of summaries}})
  select {{columns of summaries as s, summary_id = n.copy, thread_id = new_thread_id, base_summary_id = b.copy}}
  from unnest(summaries, copies) as n (id, copy)
  join memory.summaries as s on s.user_id = copy_thread.user_id and s.summary_id = n.id
  left join unnest(summaries, copies) as b (id, copy) on b.id = s.base_summary_id;
  -- A compressed message whose summary is not copied is active again.
  insert into memory.messages ({{columns of messages}})
  select {{columns of messages as m, thread_id = new_thread_id, summary_id = n.copy, is_active = n.copy is null,
    updated_at = statement_timestamp(), idempotency_key = null, content_digest = null}}
  from memory.messages as m
  left join unnest(summaries, copies) as n (id, copy) on n.id = m.summary_id and not m.is_active
  where m.user_id = copy_thread.user_id and m.thread_id = copy_thread.thread_id and m.seq < past_seq
    and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at);
  get diagnostics copied = row_count;
  insert into memory.new_changes (user_id, source, id, seq, operation)
  select m.user_id, 'message', m.thread_id, m.seq, case when m.is_active then 'added' else 'hidden' end
  from memory.messages as m
  where m.user_id = copy_thread.user_id and m.thread_id = new_thread_id;
  {{each addon with thread_copied: perform memory._<addon>_thread_copied(user_id, thread_id, new_thread_id);}}
  insert into memory.quarantined_messages ({{columns of quarantined_messages}})
  select {{columns of quarantined_messages as q, thread_id = new_thread_id}}
  from memory.quarantined_messages as q
  join memory.messages as m on m.user_id = q.user_id and m.thread_id = new_thread_id and m.seq = q.seq
  where q.user_id = copy_thread.user_id and q.thread_id = copy_thread.thread_id;
  -- Nobody pays for their embeddings again.
  perform memory._copy_texts(copy_thread.user_id, 'message', array_agg(copy_thread.thread_id || '/' || m.seq),
    array_agg(new_thread_id || '/' || m.seq), new_thread_id)
  from memory.messages as m
  where m.user_id = copy_thread.user_id and m.thread_id = new_thread_id;
  perform memory._copy_texts(user_id, 'summary', summaries::text[], copies::text[], new_thread_id);
  -- What extraction has read of the origin, or is going to read there, makes no memory a second time, and no second
  -- part of the user's summary.
  insert into memory.marks (user_id, kind, scope, position)
  select k.user_id, k.kind, new_thread_id, least(k.position, past_seq - 1)
  from memory.marks as k
  where k.user_id = copy_thread.user_id and k.scope = copy_thread.thread_id and k.kind in ('words', 'screen_texts')
  union all
  select copy_thread.user_id, k, new_thread_id, past_seq - 1
  from unnest(array['extract_memories', 'summarize_user']) as k
  where copied > 0
  on conflict on constraint marks_pkey do update set position = greatest(marks.position, excluded.position);
  update memory.threads as t
  set next_seq = past_seq, title = origin.title, metadata = its_metadata, first_at = c.first_at, last_at = c.last_at,
      tokens_since_summary = memory._tokens_since_summary(copy_thread.user_id, new_thread_id),
      settled_at = case when origin.settled_at is not null then coalesce(c.last_at, '-infinity') end
  from (
    select min(m.created_at) as first_at, max(m.created_at) as last_at from memory.messages as m
    where m.user_id = copy_thread.user_id and m.thread_id = new_thread_id) as c
  where t.user_id = copy_thread.user_id and t.thread_id = new_thread_id;
  perform memory._recount_threads(user_id, array[new_thread_id]);
  perform memory._end_whole_user_change();
  perform memory._store_texts(user_id, 'summary', copies::text[]); -- the newest of them counts now
  if memory._is_queued(user_id, 'embed', thread_id) then -- and so not all of it is embedded
    perform memory._enqueue_due(user_id, 'embed', new_thread_id);
  end if;
  return copied;
end;
$$;
comment on function memory.copy_thread(text, text, text, bigint) is
'Copies a thread to a new one, up to and with the message upto_seq, and returns the number of messages. They keep '
'their numbers (and gaps), times, embeddings and artifacts; idempotency keys stay behind. Summaries are copied that '
'cover copied messages only. No memory is extracted from the copied messages again, not even when '
'memory.delete_thread() deletes the first thread and the memories extracted from it. The metadata of the new thread '
'say where it comes from: copied_from and copied_upto_seq. A new_thread_id that the user has already is refused '
'(23505).';

-- Makes the row of the new thread and locks that of the origin, in the order of their ids; returns the origin.
create or replace function memory._begin_copy(p_user_id text, p_thread_id text, p_new_thread_id text)
returns memory.threads
language plpgsql volatile parallel unsafe
as $$
declare
  origin memory.threads;
  thread text;
begin
  foreach thread in array array(select t from unnest(array[p_thread_id, p_new_thread_id]) as t order by t) loop
    if thread = p_new_thread_id then
      insert into memory.threads (user_id, thread_id, metadata) values (p_user_id, thread, '{}') on conflict do nothing;
      if not found then
        perform memory._refuse('new_thread_id', format('this user has a thread "%s" already', left(thread, 100)),
          'Pass the id of a new thread.', '23505');
      end if;
    else
      loop
        select t.* into origin from memory.threads as t
        where t.user_id = p_user_id and t.thread_id = thread for no key update;
        exit when found;
        perform memory._check_thread(p_user_id, thread); -- somebody has deleted it, and may have begun it anew
      end loop;
    end if;
  end loop;
  return origin;
end;
$$;

-- A thread, which may be gone, and the copies of it and of its copies: up to which number each has its messages.
create or replace function memory._copies_of(p_user_id text, p_thread_id text)
returns table (thread_id text, upto_seq bigint)
language plpgsql stable parallel safe
as $$
begin
  return query
  with recursive copies as (
    select p_thread_id as thread_id, 9223372036854775807 as upto_seq
    union
    select t.thread_id, least(c.upto_seq, coalesce(memory._seq_or_null(t.metadata -> 'copied_upto_seq'), -1))
    from copies as c
    join memory.threads as t on t.user_id = p_user_id and t.metadata ->> 'copied_from' = c.thread_id
  )
  select c.thread_id, max(c.upto_seq) from copies as c group by c.thread_id;
end;
$$;

-- Whether a message of a copy with this number and time may be that of the thread: it has its time. If the thread has
-- lost the message, nothing speaks against it. Another thread may have had the name before.
create or replace function memory._may_be_copy(
  p_user_id text, p_thread_id text, p_seq bigint, p_created_at timestamptz
)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return coalesce((
    select m.created_at = p_created_at from memory.messages as m
    where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq = p_seq), true);
end;
$$;
