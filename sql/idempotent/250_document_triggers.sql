-- The rules of documents. They live in a trigger, so that a direct insert obeys them too.
create or replace function memory._document_before_write()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may write need not have rights on policies
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', new.user_id);
  perform memory._check_id('namespace', new.namespace);
  perform memory._check_id('doc_type', new.doc_type);
  perform memory._check_content(new.content, 10485760);
  perform memory._check_metadata(new.metadata);
  new.document_id := coalesce(new.document_id, memory._uuid_v7());
  new.search_vector := memory._text_vector((memory._policy(new.user_id, null) #>> '{search,language}')::regconfig, concat_ws(e'\n', new.title, new.content));
  new.updated_at := statement_timestamp();
  return new;
end;
$$;

create or replace function memory._documents_after_change()
returns trigger
language plpgsql volatile parallel unsafe security definer -- see above
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'INSERT' then
    perform memory._drop_embedding(old.user_id, 'document', old.document_id::text);
  end if;
  if tg_op <> 'DELETE' then
    perform memory._queue_embedding(new.user_id);
  end if;
  return null;
end;
$$;

-- A compressed conversation in the knowledge base: one document per thread, which grows as the thread is compressed again.
create or replace function memory._archive(summary memory.summaries, messages bigint, first_at timestamptz, last_at timestamptz)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  archived memory.documents;
  starts text;
  ends text;
begin
  select d.* into archived from memory.documents as d
  where d.user_id = summary.user_id and d.thread_id = summary.thread_id and d.source = 'archive';
  starts := least(archived.metadata #>> '{date_range,start}', memory._iso_time(first_at));
  ends := greatest(archived.metadata #>> '{date_range,end}', memory._iso_time(last_at));
  insert into memory.documents as d (user_id, namespace, doc_type, title, content, source, thread_id, agent_ids, metadata)
  values (
    summary.user_id, left('conversations:' || summary.user_id, 255), 'conversation', 'Conversation ' || summary.thread_id,
    format(e'# Conversation Summary\n## Date Range: %s to %s\n## Summary: %s', starts, ends, summary.summary),
    'archive', summary.thread_id, summary.agent_ids,
    jsonb_build_object(
      'session_id', summary.thread_id, 'agent_id', summary.agent_ids[1],
      'conversation_topics', coalesce(summary.metadata -> 'topics', '[]'), 'entities_mentioned', coalesce(summary.metadata -> 'entities', '[]'),
      'decisions_made', coalesce(summary.metadata -> 'decisions', '[]'), 'open_questions', coalesce(summary.metadata -> 'questions', '[]'),
      'message_count', coalesce((archived.metadata ->> 'message_count')::bigint, 0) + messages,
      'date_range', jsonb_build_object('start', starts, 'end', ends), 'summary_id', summary.summary_id))
  on conflict (user_id, thread_id) where source = 'archive' do update
  set content = excluded.content, metadata = excluded.metadata, agent_ids = excluded.agent_ids;
end;
$$;

create or replace function memory._iso_time(moment timestamptz)
returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
end;
$$;
