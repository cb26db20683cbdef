-- For a message with a tool's result, the seq of the message that called the tool; for any other message its own seq.
create or replace function memory._call_seq(p_user_id text, p_thread_id text, p_seq bigint)
returns bigint
language plpgsql stable parallel safe
as $$
begin
  -- The query sorts, because "max(m.seq)" reads the whole thread if its statistics are older than the thread.
  return m.seq from memory.messages as m
  where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq <= p_seq and m.is_active and m.role <> 'tool'
  order by m.seq desc limit 1;
end;
$$;

-- Soft-deletes the oldest p_row_limit messages that a summary of the whole thread covers, and returns their number. The
-- first message to keep, those after it, and the instructions that begin the thread stay. The deleted messages are
-- archived if the policy says so. Jobs that have not read them yet can still read them.
create or replace function memory._put_away(
  p_summary memory.summaries, p_first_kept_seq bigint, p_archives boolean, p_row_limit int default null
)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  after_opening constant bigint := memory._seq_after_opening(p_summary.user_id, p_summary.thread_id);
  put_away record;
begin
  with gone as (
    update memory.messages as m set is_active = false, summary_id = p_summary.summary_id
    where m.user_id = p_summary.user_id and m.thread_id = p_summary.thread_id and m.is_active
      and m.seq >= after_opening and m.seq <= (
        select max(o.seq) from (
          select a.seq from memory.messages as a
          where a.user_id = p_summary.user_id and a.thread_id = p_summary.thread_id and a.seq <= p_summary.end_seq
            and a.seq >= after_opening and a.seq < p_first_kept_seq and a.is_active
          order by a.seq limit p_row_limit) as o)
    returning m.created_at
  )
  select count(*) as messages, min(g.created_at) as first_at, max(g.created_at) as last_at into put_away
  from gone as g;
  if put_away.messages > 0 and p_archives then
    perform memory._archive(p_summary, put_away.messages, put_away.first_at, put_away.last_at);
  end if;
  return put_away.messages;
end;
$$;

-- Puts a compressed conversation into the knowledge base: one document per thread, which grows when the thread is
-- compressed again.
create or replace function memory._archive(
  p_summary memory.summaries, p_messages bigint, p_first_at timestamptz, p_last_at timestamptz
)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  archived memory.documents;
  starts text;
  ends text;
begin
  select d.* into archived from memory.documents as d
  where d.user_id = p_summary.user_id and d.thread_id = p_summary.thread_id and d.source = 'archive';
  starts := least(archived.metadata #>> '{date_range,start}', memory._iso_time(p_first_at));
  ends := greatest(archived.metadata #>> '{date_range,end}', memory._iso_time(p_last_at));
  insert into memory.documents as d (
    user_id, namespace, doc_type, title, content, source, thread_id, agent_ids, metadata)
  values (
    p_summary.user_id, memory._archive_namespace(p_summary.user_id), 'conversation',
    'Conversation ' || p_summary.thread_id,
    format(e'# Conversation Summary\n## Date Range: %s to %s\n## Summary: %s', starts, ends, p_summary.summary),
    'archive', p_summary.thread_id, p_summary.agent_ids,
    jsonb_build_object(
      'session_id', p_summary.thread_id,
      'agent_id', coalesce(archived.metadata ->> 'agent_id', p_summary.agent_ids[1]),
      'conversation_topics', coalesce(p_summary.metadata -> 'topics', '[]'),
      'entities_mentioned', coalesce(p_summary.metadata -> 'entities', '[]'),
      'decisions_made', coalesce(p_summary.metadata -> 'decisions', '[]'),
      'open_questions', coalesce(p_summary.metadata -> 'questions', '[]'),
      'message_count', coalesce((archived.metadata ->> 'message_count')::bigint, 0) + p_messages,
      'date_range', jsonb_build_object('start', starts, 'end', ends),
      'summary_id', p_summary.summary_id))
  on conflict (user_id, thread_id) where source = 'archive' do update
  set content = excluded.content, metadata = excluded.metadata, agent_ids = excluded.agent_ids;
end;
$$;

-- The namespace of a user's archived conversations.
create or replace function memory._archive_namespace(p_user_id text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return left('conversations:' || p_user_id, 255); -- the greatest length of a namespace
end;
$$;
