-- With policy summary.as_memory the summary of a whole thread is also a memory of type conversation_summary. Each
-- thread has one such memory, which changes and is deleted together with the summary. Its source is thread_summary, and
-- its metadata has the summary_id and the covered messages. Its source_seqs is null, because the memory stands for the
-- conversation and not for single messages.

-- Stores or renews the memory of the thread's conversation. The job calls the function before it stores the summary
-- itself, because functions lock memories before jobs and summaries. A summary of messages to several agents becomes no
-- memory: a memory belongs to one agent, and would show this agent messages to the others.
create or replace function memory._remember_conversation(p_job memory.jobs, p_result jsonb)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  policy constant jsonb := memory._policy(p_job.user_id, p_job.agent_id);
  -- The hash is a variable for the reason given in memory._write_again().
  hash constant text := memory._content_hash(p_result ->> 'summary');
  made memory.summaries;
  remembered uuid;
  details jsonb;
  last_said_at timestamptz;
begin
  if not (policy #>> '{summary,as_memory}')::boolean then
    return;
  end if;
  select s.* into made
  from memory.summaries as s
  where s.user_id = p_job.user_id and s.summary_id = (p_job.input ->> 'summary_id')::uuid;
  if made.kind is distinct from 'thread' then
    return;
  elsif cardinality(made.agent_ids) > 1 then
    perform memory._forget_conversation(p_job.user_id, p_job.scope);
    return;
  end if;

  perform memory._lock_scope(p_job.user_id, made.agent_ids[1]);
  remembered := memory._conversation_memory(p_job.user_id, p_job.scope);
  details := jsonb_build_object('summary_id', made.summary_id, 'start_seq', made.start_seq, 'end_seq', made.end_seq);
  select m.created_at into last_said_at from memory.messages as m
  where m.user_id = p_job.user_id and m.thread_id = p_job.scope and m.seq = made.end_seq;
  if remembered is null then
    insert into memory.memories (user_id, agent_id, memory_type, content, thread_id, source, valid_from, metadata)
    values (p_job.user_id, made.agent_ids[1], 'conversation_summary', p_result ->> 'summary', p_job.scope,
            'thread_summary', last_said_at, details)
    on conflict do nothing; -- another memory says the same
  elsif exists (
    select from memory.memories as m
    where m.user_id = p_job.user_id
      and m.agent_id = made.agent_ids[1]
      and m.content_hash = hash
      and m.memory_id <> remembered
      and memory._is_current(m)
  ) then
    delete from memory.memories as m where m.user_id = p_job.user_id and m.memory_id = remembered;
  else
    update memory.memories as m
    set content = p_result ->> 'summary',
        metadata = m.metadata || details,
        valid_from = coalesce(last_said_at, m.valid_from),
        expires_at = case
          when policy #>> '{memories,expires_after}' is null then m.expires_at
          else memory._expiry(policy #>> '{memories,expires_after}')
        end,
        operation = 'update'
    where m.user_id = p_job.user_id and m.memory_id = remembered;
  end if;
end;
$$;

-- The memory made of a thread's summary; null when none was made.
create or replace function memory._conversation_memory(p_user_id text, p_thread_id text)
returns uuid
language plpgsql stable parallel safe
as $$
begin
  return m.memory_id
  from memory.memories as m
  where m.user_id = p_user_id
    and m.thread_id = p_thread_id
    and m.memory_type = 'conversation_summary'
    and m.source = 'thread_summary'
    and memory._is_current(m)
  limit 1;
end;
$$;

-- Deletes the memory made of a thread's summary, and its versions. Returns the number of deleted rows by table.
create or replace function memory._forget_conversation(p_user_id text, p_thread_id text)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  remembered uuid := memory._conversation_memory(p_user_id, p_thread_id);
  versions bigint;
begin
  if remembered is null then
    return jsonb '{}';
  end if;
  perform memory._lock_scopes_of(p_user_id, array[remembered]);
  delete from memory.memory_history as h where h.user_id = p_user_id and h.memory_id = remembered;
  get diagnostics versions = row_count;
  delete from memory.memories as m where m.user_id = p_user_id and m.memory_id = remembered;
  return jsonb_strip_nulls(jsonb_build_object('memories', 1, 'memory_history', nullif(versions, 0)));
end;
$$;
