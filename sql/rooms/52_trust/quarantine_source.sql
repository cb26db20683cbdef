create or replace function memory.quarantine_source(user_id text, source text, id text, reason text)
returns jsonb
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  origin constant text := source || ' ' || id;
  threads text[];
  thread text;
  summaries uuid[];
  counts jsonb := jsonb '{}';
begin
  perform memory._check_source_name(user_id, source, id);
  perform memory._check_id('reason', reason);
  if source in ('message', 'thread') then
    threads := memory._lock_sources(user_id,
      array[case source when 'thread' then id else substring(id from '^(.*)/') end]);
    foreach thread in array threads loop
      counts := memory._quarantine_said(user_id, thread, memory._seqs_of_source(user_id, source, id), reason, origin);
    end loop;
  elsif source = 'artifact' then
    -- The text that a message shows of an artifact came from the artifact, and so did memories of the message.
    threads := memory._lock_sources(user_id, array(
      select distinct m.thread_id from memory.messages as m
      where m.user_id = quarantine_source.user_id and m.artifact_key = quarantine_source.id));
    foreach thread in array threads loop
      counts := memory._added(counts, memory._quarantine_said(user_id, thread, array(
        select m.seq from memory.messages as m
        where m.user_id = quarantine_source.user_id and m.thread_id = thread
          and m.artifact_key = quarantine_source.id order by m.seq), reason, origin));
    end loop;
    counts := memory._added(counts,
      jsonb_build_object('artifacts', memory._quarantine_artifact(user_id, id, reason)::int));
  elsif source = 'summary' then
    perform memory._lock_sources(user_id, array(
      select s.thread_id from memory.summaries as s
      where s.user_id = quarantine_source.user_id and s.summary_id = quarantine_source.id::uuid));
    summaries := array( -- and all summaries that continue it
      with recursive chain as (
        select quarantine_source.id::uuid as summary_id
        union
        select s.summary_id from chain as c
        join memory.summaries as s on s.user_id = quarantine_source.user_id and s.base_summary_id = c.summary_id
      )
      select c.summary_id from chain as c);
    counts := memory._quarantine_summaries(user_id, summaries, array_fill(reason, array[cardinality(summaries)]));
  elsif source = 'document' then
    counts := jsonb_build_object('documents', memory._quarantine_document(user_id, id::uuid, reason)::int);
  else
    perform memory._lock_scopes_of(user_id, array[id::uuid]);
    counts := jsonb_build_object(
      'memories', memory._quarantine_memories(user_id, array[id::uuid], reason));
    counts := memory._added(counts, memory._quarantine_derived(user_id, array[id::uuid], reason, origin));
  end if;
  perform memory._audit('quarantine_source', jsonb_build_object('source', source, 'id', id), user_id);
  return jsonb '{"messages": 0, "memories": 0, "documents": 0, "artifacts": 0, "summaries": 0}' || counts;
end;
$$;
comment on function memory.quarantine_source(text, text, text, text) is
'Takes back a poisoned source and everything that derives from it, in one transaction. source and id name a message '
'(thread_id/seq), a whole thread, a document, an artifact (its key), a summary or a memory. The source goes into '
'quarantine, and so do the memories extracted from it, and the articles and archives made of them; memories that '
'these had superseded are current again. Summaries that cover it are deleted, and made anew by jobs without it. A '
'summary takes along the summaries that continue it, and the memories and archives made of these; if its messages are '
'poisoned, name the messages. Returns the counts. memory.release_source() undoes it.';

-- Refuses a source that is unknown, or that this user does not have.
create or replace function memory._check_source_name(p_user_id text, p_source text, p_id text)
returns void
language plpgsql stable parallel safe
as $$
declare
  is_there boolean := false;
begin
  perform memory._check_id('user_id', p_user_id);
  if (p_source in ('message', 'thread', 'document', 'artifact', 'summary', 'memory')) is not true then
    perform memory._refuse('source', coalesce('unknown source "' || left(p_source, 50) || '"', 'must not be null'),
      'Use message, thread, document, artifact, summary or memory.');
  elsif p_id is null then
    perform memory._refuse('id', 'must not be null', 'Pass the id as memory.search() shows it.');
  elsif p_source = 'message' and p_id !~ '^.+/[0-9]{1,18}$'
    or p_source in ('document', 'summary', 'memory')
      and p_id !~ '^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$' then
    perform memory._refuse('id', format('"%s" names no %s', left(p_id, 300), p_source),
      'A message is thread_id/seq; documents, summaries and memories have a UUID.');
  end if;
  case p_source
    when 'message', 'thread' then
      is_there := cardinality(memory._seqs_of_source(p_user_id, p_source, p_id)) > 0;
    when 'document' then
      is_there := exists (
        select from memory.documents as d where d.user_id = p_user_id and d.document_id = p_id::uuid);
    when 'artifact' then
      is_there := exists (select from memory.artifacts as a where a.user_id = p_user_id and a.key = p_id);
    when 'summary' then
      is_there := exists (
        select from memory.summaries as s where s.user_id = p_user_id and s.summary_id = p_id::uuid
          and s.status in ('completed', 'quarantined'));
    when 'memory' then
      is_there := exists (
        select from memory.memories as m where m.user_id = p_user_id and m.memory_id = p_id::uuid
          and (m.deleted_at is null or m.quarantined_at is not null));
  end case;
  if not is_there then
    perform memory._refuse('id', format('this user has no %s %s', p_source, left(p_id, 300)),
      'memory.search() shows ids.', 'P0002');
  end if;
end;
$$;

-- The messages that a source names, as far as they are stored.
create or replace function memory._seqs_of_source(p_user_id text, p_source text, p_id text)
returns bigint[]
language plpgsql stable parallel safe
as $$
begin
  return array(
    select m.seq from memory.messages as m
    where m.user_id = p_user_id
      and m.thread_id = case p_source when 'thread' then p_id else substring(p_id from '^(.*)/') end
      and (p_source = 'thread' or m.seq = substring(p_id from '/([0-9]+)$')::bigint)
    order by m.seq);
end;
$$;
