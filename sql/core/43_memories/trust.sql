-- The trust of memories, from 0 to 1, and the quarantine of memories that look like an attack. A caller can only lower
-- trust. These functions compute it from stored rows, because a model writes replies and metadata.

-- Whether a memory with the trust p_trust may hide or change a memory with the trust p_other. The words of a tool or a
-- web page never hide or change the words of people.
create or replace function memory._may_outrank(p_trust double precision, p_other double precision)
returns boolean
language sql immutable parallel safe
begin atomic
  select coalesce(not memory._is_low(p_trust) or p_trust >= p_other, true);
end;

-- The trust of a new memory: the trust of its source, or, if the memory names its messages, the lowest trust of these
-- messages while they are stored. The memory of a conversation's summary takes the lowest trust of all messages that
-- the summary covers.
create or replace function memory._memory_trust(p_candidate memory.memories)
returns double precision
language plpgsql stable parallel safe
as $$
declare
  lowest double precision;
begin
  if p_candidate.source_seqs is not null then
    lowest := memory._least_trust(p_candidate.user_id, p_candidate.thread_id, p_candidate.source_seqs);
  elsif p_candidate.source = 'thread_summary' then
    lowest := (
      select min(memory._message_trust(m.role, m.metadata)) from memory.messages as m
      where m.user_id = p_candidate.user_id and m.thread_id = p_candidate.thread_id
        and m.seq between memory._seq_or_null(p_candidate.metadata -> 'start_seq')
          and memory._seq_or_null(p_candidate.metadata -> 'end_seq'));
  end if;
  return least(coalesce(lowest, memory._source_trust(p_candidate.source)), memory._lowered(p_candidate.metadata));
end;
$$;

-- Puts a memory into quarantine before its writer stores it, as the policy (section trust) says. With rules, the reason
-- is a sign of an attack or a credential. With screen, a memory of low trust waits for the verdict of the screen model.
create or replace function memory._judged_memory(p_candidate memory.memories, p_policy jsonb)
returns memory.memories
language plpgsql volatile parallel unsafe
as $$
declare
  reason text;
begin
  if (p_policy ->> 'rules')::boolean then
    reason := 'rule: ' || coalesce(
      memory._verdict(concat_ws(e'\n.\n', p_candidate.content, p_candidate.embedding_text), p_candidate.trust),
      case when memory._masked(p_candidate.content, '{credential}') <> p_candidate.content then 'a credential' end);
  end if;
  if reason is null and memory._is_low(p_candidate.trust) and (p_policy ->> 'screen')::boolean then
    reason := memory._judge_later(p_candidate.user_id);
  end if;
  if reason is not null then
    p_candidate.deleted_at := 'infinity';
    p_candidate.quarantined_at := statement_timestamp();
    p_candidate.quarantine_reason := left(reason, 1000);
    p_candidate.operation := 'quarantine';
  end if;
  return p_candidate;
end;
$$;

-- Puts memories that are neither deleted nor in quarantine into quarantine, and returns their number. The caller has
-- locked the counters of their agents. The memories that they hid become current again (memory._release_hidden()).
create or replace function memory._quarantine_memories(
  p_user_id text, p_memory_ids uuid[], p_reason text, p_with text default null
)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  quarantined bigint;
begin
  update memory.memories as m
  set deleted_at = 'infinity', quarantined_at = statement_timestamp(), quarantine_reason = left(p_reason, 1000),
      quarantined_with = p_with, released_at = null, operation = 'quarantine'
  where m.user_id = p_user_id and m.memory_id = any (p_memory_ids)
    and memory._is_shown_or_waits(m.deleted_at, m.quarantine_reason);
  get diagnostics quarantined = row_count;
  return quarantined;
end;
$$;

-- Takes a memory out of quarantine; returns false if another memory has the same content by now. The caller has locked
-- the counter of its agent. The memories that it hid before are hidden again. A memory that awaits a review goes on
-- waiting, unless this call is the review (p_is_review): then the memory also ends the memories that it would have
-- ended when it was extracted.
create or replace function memory._release_quarantined(p_memory memory.memories, p_is_review boolean default false)
returns boolean
language plpgsql volatile parallel unsafe
as $$
declare
  winner uuid;
  released memory.memories;
begin
  if p_memory.metadata ? 'awaits_review' and not p_is_review then
    update memory.memories as m
    set quarantine_reason = 'review', quarantined_with = null, operation = 'quarantine', version = m.version + 1
    where m.user_id = p_memory.user_id and m.memory_id = p_memory.memory_id and m.quarantined_at is not null;
    return true;
  end if;
  if p_memory.superseded_at is null then
    perform memory._keep_limit(p_memory.user_id, p_memory.agent_id, 1);
  end if;
  update memory.memories as m
  set deleted_at = null, quarantined_at = null, quarantine_reason = null, quarantined_with = null,
      released_at = statement_timestamp(), operation = 'release', metadata = m.metadata - 'awaits_review'
  where m.user_id = p_memory.user_id and m.memory_id = p_memory.memory_id and m.quarantined_at is not null
  returning m.* into released;
  perform memory._hide_released(p_memory.user_id, p_memory.memory_id, p_memory.quarantined_at);
  if p_memory.metadata ? 'awaits_review' then
    if released.attribute is not null then
      perform memory._settle(released);
    end if;
    perform memory._end_as_noted(released, released.memory_id, p_memory.metadata -> 'awaits_review');
  end if;
  -- The winner may have been deleted meanwhile, and that releases only memories outside of quarantine.
  winner := memory._present_winner(p_memory.user_id, p_memory.superseded_by);
  if winner is distinct from p_memory.superseded_by then
    perform memory._release_hidden(p_memory.user_id, p_memory.superseded_by, winner, true);
  end if;
  return true;
exception
  when unique_violation then
    return false;
end;
$$;
