-- Looks at what was stored before there were rules. A mark says how far that reaches: of kind unchecked up to which
-- message of a thread, or up to which time among the memories of a user (scope ''); of the kinds unchecked_documents,
-- unchecked_summaries and unchecked_artifacts up to which time among these. It goes once everything was looked at.

-- Looks at up to p_row_limit messages, or all memories of one user, or documents until they have more than 2 MB,
-- or 200 summaries, or 20 artifacts, per mark; no further mark after two seconds. Returns how many rows were looked at.
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
    select k.* from memory.marks as k
    where k.kind in ('unchecked', 'unchecked_documents', 'unchecked_summaries', 'unchecked_artifacts')
    order by k.user_id, k.scope, k.kind limit least(p_row_limit, 1000)
  loop
    exit when checked >= p_row_limit or clock_timestamp() > ends;
    checked := checked + case
      when unchecked.kind = 'unchecked_documents' then memory._check_stored_documents(unchecked)
      when unchecked.kind = 'unchecked_summaries' then memory._check_stored_summaries(unchecked)
      when unchecked.kind = 'unchecked_artifacts' then memory._check_stored_artifacts(unchecked)
      when unchecked.scope = '' then memory._check_stored_memories(unchecked)
      else memory._check_stored_messages(unchecked, p_row_limit) end;
  end loop;
  return checked;
end;
$$;

-- The mark moves down to a position, below which there is something left to look at, or goes (null).
create or replace function memory._move_unchecked(p_mark memory.marks, p_position bigint)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if p_position is null then
    delete from memory.marks as k
    where k.user_id = p_mark.user_id and k.scope = p_mark.scope and k.kind = p_mark.kind;
  else
    update memory.marks as k set position = p_position
    where k.user_id = p_mark.user_id and k.scope = p_mark.scope and k.kind = p_mark.kind;
  end if;
end;
$$;

-- The messages of a thread, from the newest to the oldest until they have more than 4 MB, so that the mark moves down.
-- A sweep holds other locks already, so it waits for no thread and no counter: if somebody holds one, a later sweep
-- looks at them. The mark of a thread that is gone goes.
create or replace function memory._check_stored_messages(p_mark memory.marks, p_row_limit int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  from_seq bigint := greatest(0, p_mark.position - least(p_row_limit, 1000) + 1);
  poisoned record;
begin
  perform from memory.threads as t
  where t.user_id = p_mark.user_id and t.thread_id = p_mark.scope for update skip locked;
  if not found then
    if not exists (
      select from memory.threads as t where t.user_id = p_mark.user_id and t.thread_id = p_mark.scope) then
      perform memory._move_unchecked(p_mark, null);
    end if;
    return 0;
  end if;
  from_seq := coalesce((
    select max(s.seq) + 1
    from (
      select m.seq, sum(octet_length(m.content)) over (order by m.seq desc) - octet_length(m.content) as after_it
      from memory.messages as m
      where m.user_id = p_mark.user_id and m.thread_id = p_mark.scope
        and m.seq between from_seq and p_mark.position) as s
    where s.after_it > 4000000), from_seq);
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
  perform memory._move_unchecked(p_mark, nullif(from_seq - 1, -1));
  return p_mark.position - from_seq + 1;
end;
$$;

-- The memories of a user, unless somebody holds a counter of the user.
create or replace function memory._check_stored_memories(p_mark memory.marks)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  stored record;
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
  end if;
  perform memory._move_unchecked(p_mark, null);
  return checked;
end;
$$;

-- The documents of a user, from the newest to the oldest, until they have more than 2 MB. A document that somebody
-- holds is looked at by the next call, and so are all while somebody holds a counter of the user.
create or replace function memory._check_stored_documents(p_mark memory.marks)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  place record;
  document memory.documents;
  reached timestamptz;
  bytes bigint := 0;
  checked bigint := 0;
begin
  if not memory._lock_free_counters(p_mark.user_id) then
    return 0;
  end if;
  for place in
    select d.document_id, d.created_at from memory.documents as d
    where d.user_id = p_mark.user_id
      and d.created_at <= timestamptz 'epoch' + p_mark.position * interval '1 microsecond'
    order by d.created_at desc
  loop
    select d.* into document from memory.documents as d
    where d.user_id = p_mark.user_id and d.document_id = place.document_id for no key update skip locked;
    if not found or bytes > 2000000 and place.created_at < reached then
      perform memory._move_unchecked(p_mark, memory._microseconds(place.created_at)::bigint);
      return checked;
    end if;
    perform memory._judge_document(document);
    reached := place.created_at;
    bytes := bytes + octet_length(document.content);
    checked := checked + 1;
  end loop;
  perform memory._move_unchecked(p_mark, null);
  return checked;
end;
$$;

-- The artifacts of a user, from the newest to the oldest. Their words are removed, so that the job which parses them
-- again looks at each part; until then whatever shows a part looks at it. One that another transaction has locked is
-- looked at by the next call.
create or replace function memory._check_stored_artifacts(p_mark memory.marks)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  artifact record;
  checked bigint := 0;
begin
  for artifact in
    select a.key, a.content_id, a.created_at from memory.artifacts as a
    where a.user_id = p_mark.user_id
      and a.created_at <= timestamptz 'epoch' + p_mark.position * interval '1 microsecond'
    order by a.created_at desc
    fetch first 20 rows with ties
  loop
    -- In the order of memory.delete_artifact(): the artifact, then its parts.
    perform from memory.artifacts as a
    where a.user_id = p_mark.user_id and a.key = artifact.key for no key update skip locked;
    if not found then
      perform memory._move_unchecked(p_mark, memory._microseconds(artifact.created_at)::bigint);
      return checked;
    end if;
    update memory.artifact_parts as p set search_vector = null
    where p.user_id = p_mark.user_id and p.content_id = artifact.content_id and p.search_vector is not null;
    checked := checked + 1;
  end loop;
  perform memory._move_unchecked(p_mark,
    case when checked >= 20 then memory._microseconds(artifact.created_at)::bigint - 1 end);
  if checked > 0 then
    perform memory._enqueue_due(p_mark.user_id, 'parse_artifacts', '');
  end if;
  return checked;
end;
$$;
