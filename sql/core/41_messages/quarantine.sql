-- Messages in quarantine. The row of such a message has a notice in place of its text, and memory.quarantined_messages
-- keeps the text. So search, recall, contexts, extraction and summaries need no condition that one of them could
-- forget. The answer of a tool keeps its place behind its call, because no chat API takes a conversation in which it is
-- missing.
--
-- A rule judges messages when a job parses their words (memory._finish_messages()). Until then memory._is_held_back()
-- judges them wherever they are shown to a model. A message of the user or the application is judged only if its
-- metadata lowers its trust.

-- The text that a message in quarantine shows.
create or replace function memory._quarantine_notice()
returns text
language sql immutable parallel safe
begin atomic
  select '(This message is in quarantine.)';
end;

-- The signs that put a message into quarantine; null when there are none.
create or replace function memory._message_verdict(p_role text, p_metadata jsonb, p_content text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return case when memory._is_judged(p_role, p_metadata)
    then memory._verdict(p_content, memory._message_trust(p_role, p_metadata)) end;
end;
$$;

-- Whether a message must not be shown although it is not in quarantine: no job has parsed it yet, and a rule finds
-- signs in it. p_content is the part of the message that would be shown.
create or replace function memory._is_held_back(
  p_user_id text, p_thread_id text, p_seq bigint, p_role text, p_metadata jsonb, p_content text
)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  if not memory._is_judged(p_role, p_metadata)
    or memory._is_parsed(p_user_id, 'message', p_thread_id || '/' || p_seq)
    or memory._message_verdict(p_role, p_metadata, p_content) is null then
    return false;
  end if;
  return not exists (
      select from memory.quarantined_messages as q
      where q.user_id = p_user_id and q.thread_id = p_thread_id and q.seq = p_seq and q.released_at is not null)
    and (memory._policy_section(p_user_id, null, 'trust') ->> 'rules')::boolean;
end;
$$;

-- Quarantines the messages of a range that no job has parsed and in which a rule finds signs. Returns the seq up to
-- which the function has looked: the end of the range, unless another transaction holds the thread. The function does
-- not wait for that transaction, which may itself wait for a message that this one has locked; but it needs the thread,
-- because a quarantine counts the thread's tokens anew. The function skips rows that another transaction is changing.
create or replace function memory._check_messages(
  p_user_id text, p_thread_id text, p_from_seq bigint, p_to_seq bigint
)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  poisoned record;
begin
  for poisoned in
    select m.seq, memory._message_verdict(m.role, m.metadata, m.content) as signs
    from memory.messages as m
    where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq between p_from_seq and p_to_seq
      and memory._is_kept_message(m.is_active, m.summary_id)
      and memory._is_held_back(m.user_id, m.thread_id, m.seq, m.role, m.metadata, m.content)
    order by m.seq
    for no key update skip locked
  loop
    perform from memory.threads as t
    where t.user_id = p_user_id and t.thread_id = p_thread_id for no key update skip locked;
    if not found then
      return poisoned.seq - 1;
    end if;
    perform memory._quarantine_messages(p_user_id, p_thread_id, array[poisoned.seq], 'rule: ' || poisoned.signs);
  end loop;
  return p_to_seq;
end;
$$;

-- Puts messages of a thread into quarantine and returns how many were not there already. The trigger of the update
-- renews their words and drops their embeddings. One statement changes all messages: each statement updates the
-- counters of the thread, and PostgreSQL takes ever longer to find a row that one transaction has updated 10,000 times.
create or replace function memory._quarantine_messages(
  p_user_id text, p_thread_id text, p_seqs bigint[], p_reason text
)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  seqs bigint[];
begin
  with kept as (
    insert into memory.quarantined_messages as q (user_id, thread_id, seq, content, content_digest, reason)
    select m.user_id, m.thread_id, m.seq, m.content, memory._stored_digest(m), left(p_reason, 1000)
    from memory.messages as m
    where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq = any (p_seqs)
    on conflict on constraint quarantined_messages_pkey do update
    set content = excluded.content, reason = excluded.reason, quarantined_at = statement_timestamp(), released_at = null
    where q.released_at is not null
    returning q.seq
  )
  select array_agg(k.seq) into seqs from kept as k;
  if seqs is null then
    return 0;
  end if;
  -- The notice still names the message's artifact, because a sweep would otherwise remove the artifact.
  update memory.messages as m
  set content = concat_ws(' ', memory._quarantine_notice(), '[MemoryRef: ' || m.artifact_key || ']')
  where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq = any (seqs);
  return cardinality(seqs);
end;
$$;

-- Gives messages of a thread their content back, and returns how many were in quarantine.
create or replace function memory._release_messages(p_user_id text, p_thread_id text, p_seqs bigint[])
returns bigint
language plpgsql volatile parallel unsafe
-- Each message is looked up by its key. PostgreSQL 15 planned a join of the two tables as a loop over all rows, and
-- 12,000 messages took four minutes. A session may also keep such a plan from the time when a table was empty.
as $$
declare
  seqs constant bigint[] := array(
    select q.seq from memory.quarantined_messages as q
    where q.user_id = p_user_id and q.thread_id = p_thread_id and q.seq = any (p_seqs) and q.released_at is null);
begin
  update memory.messages as m
  set content = (
    select q.content from memory.quarantined_messages as q
    where q.user_id = m.user_id and q.thread_id = m.thread_id and q.seq = m.seq)
  where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq = any (seqs);
  update memory.quarantined_messages as q set content = '', released_at = statement_timestamp()
  where q.user_id = p_user_id and q.thread_id = p_thread_id and q.seq = any (seqs);
  return cardinality(seqs);
end;
$$;
