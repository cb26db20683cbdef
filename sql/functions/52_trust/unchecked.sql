-- Looks at what was stored before there were rules. A mark of kind unchecked says how far that reaches: of a thread up
-- to which message, of a user (scope '') up to which time, and of kind unchecked_artifacts up to which time among the
-- artifacts. It goes once everything was looked at.

-- Looks at up to p_row_limit messages, or all memories and documents of one user, or 20 artifacts, per mark, within
-- about two seconds. Returns how many rows were looked at.
create or replace function memory._check_unchecked(p_row_limit int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  unchecked memory.marks;
  ends constant timestamptz := clock_timestamp() + interval '2 seconds';
  checked bigint := 0;
begin
  for unchecked in
    select k.* from memory.marks as k where k.kind in ('unchecked', 'unchecked_artifacts')
    order by k.user_id, k.scope limit least(p_row_limit, 1000)
  loop
    exit when checked >= p_row_limit or clock_timestamp() > ends;
    checked := checked + case
      when unchecked.kind = 'unchecked_artifacts' then memory._check_stored_artifacts(unchecked)
      when unchecked.scope = '' then memory._check_stored_memories(unchecked)
      else memory._check_stored_messages(unchecked, p_row_limit) end;
  end loop;
  return checked;
end;
$$;

-- The messages of a thread, from the newest to the oldest, so that the mark moves down. A sweep holds other locks
-- already, so it waits for nobody: if somebody holds the thread or a counter of the user, a later sweep looks at them.
create or replace function memory._check_stored_messages(p_mark memory.marks, p_row_limit int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  from_seq constant bigint := greatest(0, p_mark.position - least(p_row_limit, 1000) + 1);
  poisoned record;
begin
  perform from memory.threads as t
  where t.user_id = p_mark.user_id and t.thread_id = p_mark.scope for update skip locked;
  if not found then
    return 0;
  end if;
  for poisoned in
    select m.seq, memory._message_verdict(m.role, m.metadata, m.content) as signs from memory.messages as m
    where m.user_id = p_mark.user_id and m.thread_id = p_mark.scope and m.seq between from_seq and p_mark.position
      and memory._is_held_back(m.user_id, m.thread_id, m.seq, m.role, m.metadata, m.content)
    order by m.seq
  loop
    if not memory._lock_free_counters(p_mark.user_id) then
      return 0;
    end if;
    perform memory._quarantine_said(p_mark.user_id, p_mark.scope, array[poisoned.seq], 'rule: ' || poisoned.signs,
      format('message %s/%s', p_mark.scope, poisoned.seq));
  end loop;
  if from_seq = 0 then
    delete from memory.marks as k
    where k.user_id = p_mark.user_id and k.scope = p_mark.scope and k.kind = p_mark.kind;
  else
    update memory.marks as k set position = from_seq - 1
    where k.user_id = p_mark.user_id and k.scope = p_mark.scope and k.kind = p_mark.kind;
  end if;
  return p_mark.position - from_seq + 1;
end;
$$;

-- The memories and documents of a user, unless somebody holds a counter of the user.
create or replace function memory._check_stored_memories(p_mark memory.marks)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  stored record;
  document memory.documents;
  signs text;
  checked bigint := 0;
begin
  if (memory._policy_section(p_mark.user_id, null, 'trust') ->> 'rules')::boolean then
    if not memory._lock_free_counters(p_mark.user_id) then
      return 0;
    end if;
    for stored in
      select m.memory_id, m.content, least(m.trust, memory._source_trust(m.source)) as trust from memory.memories as m
      where m.user_id = p_mark.user_id and m.deleted_at is null and m.released_at is null
        and memory._microseconds(m.created_at) <= p_mark.position
    loop
      checked := checked + 1;
      signs := memory._verdict(stored.content, stored.trust);
      if signs is not null then
        perform memory._quarantine_memories(p_mark.user_id, array[stored.memory_id], 'rule: ' || signs);
        perform memory._quarantine_derived(p_mark.user_id, array[stored.memory_id], 'rule: ' || signs,
          'memory ' || stored.memory_id);
      end if;
    end loop;
    for document in
      select d.* from memory.documents as d
      where d.user_id = p_mark.user_id and d.quarantined_at is null and d.released_at is null
        and memory._microseconds(d.created_at) <= p_mark.position
    loop
      checked := checked + 1;
      signs := memory._document_verdict(document);
      if signs is not null then
        perform memory._quarantine_document(p_mark.user_id, document.document_id, 'rule: ' || signs);
      end if;
    end loop;
  end if;
  delete from memory.marks as k
  where k.user_id = p_mark.user_id and k.scope = p_mark.scope and k.kind = p_mark.kind;
  return checked;
end;
$$;

-- The artifacts of a user, from the newest to the oldest, so that the mark moves down. One that another transaction has
-- locked is looked at by the next call.
create or replace function memory._check_stored_artifacts(p_mark memory.marks)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  artifact record;
  reached bigint;
  checked bigint := 0;
begin
  for artifact in
    select a.key, memory._microseconds(a.created_at) as stored_at
    from memory.artifacts as a
    where a.user_id = p_mark.user_id
      and a.created_at <= timestamptz 'epoch' + p_mark.position * interval '1 microsecond'
    order by a.created_at desc
    fetch first 20 rows with ties
  loop
    reached := artifact.stored_at;
    if not memory._judge_artifact(p_mark.user_id, artifact.key) then
      update memory.marks as k set position = reached
      where k.user_id = p_mark.user_id and k.scope = p_mark.scope and k.kind = p_mark.kind;
      return checked;
    end if;
    checked := checked + 1;
  end loop;
  if checked < 20 then
    delete from memory.marks as k
    where k.user_id = p_mark.user_id and k.scope = p_mark.scope and k.kind = p_mark.kind;
  else
    update memory.marks as k set position = reached - 1
    where k.user_id = p_mark.user_id and k.scope = p_mark.scope and k.kind = p_mark.kind;
  end if;
  return checked;
end;
$$;
