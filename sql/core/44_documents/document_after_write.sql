-- Makes a document findable that was stored or changed.
create or replace function memory._document_after_write()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  policy constant jsonb := memory._policy(new.user_id, memory._document_agent(new.agent_ids));
begin
  perform memory._cut_roughly(new, policy);
  -- A job looks at the rest when it cuts the document: to look at 64 KiB takes as long as parsing their words.
  perform memory._judge_document(new, 65536);
  perform memory._await_verdict(new);
  return null;
end;
$$;

-- Replaces the pieces (document_chunks) by which a document is found. A short document is one piece. Until a job has
-- cut a long document, its first MiB is stored as rough pieces without token_count, for search by keyword.
create or replace function memory._cut_roughly(p_document memory.documents, p_policy jsonb)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  chunk_size constant int := (p_policy #>> '{knowledge_base,chunk_size}')::int;
  -- More than four characters per token of chunk_size are long in any case, because counting all their tokens would
  -- take seconds. So are documents that no rule has judged yet.
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

-- The agent by whose policy a document is cut: the one whose conversation it archives; null for the documents of the
-- application, and for conversations of several agents.
create or replace function memory._document_agent(p_agent_ids text[])
returns text
language plpgsql immutable parallel safe
as $$
begin
  return nullif(memory._agent_of_several(p_agent_ids), '');
end;
$$;
