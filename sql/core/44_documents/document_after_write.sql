-- Makes a document that was stored or changed findable.
create or replace function memory._document_after_write()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  policy constant jsonb := memory._policy(new.user_id, memory._document_agent(new.agent_ids));
begin
  perform memory._cut_roughly(new, policy);
  -- The rules read only the beginning now: reading 64 KiB takes as long as parsing their words. The job that cuts the
  -- document has the rest judged.
  perform memory._judge_document(new, 65536);
  perform memory._await_verdict(new);
  return null;
end;
$$;

-- Replaces the pieces (document_chunks) by which search finds a document. A short document is one piece. A long
-- document gets rough pieces of its first MiB, without token_count, for keyword search until a job has cut it.
create or replace function memory._cut_roughly(p_document memory.documents, p_policy jsonb)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  chunk_size constant int := (p_policy #>> '{knowledge_base,chunk_size}')::int;
  -- A document counts as long, without counting its tokens for seconds, if it has more than four characters per token
  -- of chunk_size. It also counts as long if the rules have not read all of it.
  is_long constant boolean := length(p_document.content) > least(chunk_size * 4::bigint, 65536)
    or memory._tokens_at_most(p_document.content) > chunk_size;
begin
  delete from memory.document_chunks as c
  where c.user_id = p_document.user_id and c.document_id = p_document.document_id;
  insert into memory.document_chunks (user_id, document_id, number, content, token_count)
  select p_document.user_id, p_document.document_id, p.number, p.piece,
    case when not is_long then memory._tokens_at_most(p_document.content) end
  from memory._rough_pieces(p_document.content) as p
  where not memory._is_blank(p_document.content);
  if is_long then
    perform memory._enqueue_due(p_document.user_id, 'chunk_documents', '');
  end if;
end;
$$;

-- The agent whose policy says how a document is cut: the agent whose conversation the document archives; null for
-- documents of the application, and for conversations of several agents.
create or replace function memory._document_agent(p_agent_ids text[])
returns text
language plpgsql immutable parallel safe
as $$
begin
  return nullif(memory._agent_of_several(p_agent_ids), '');
end;
$$;
