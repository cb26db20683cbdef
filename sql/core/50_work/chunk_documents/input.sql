-- Cutting long documents into pieces needs a tokenizer, so a worker does it. The worker names each piece by its place
-- in the document, so that it cannot change a word.

-- Documents that wait to be cut, at most 100 or about 4 MB at a time. They belong to the same agents, because the
-- policy of their agent says how they are cut. No model is asked, so nobody's budget pays.
create or replace function memory._chunk_documents_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql stable parallel safe
as $$
declare
  agents text[];
  settings jsonb;
  documents jsonb;
  rows_input jsonb;
begin
  select d.agent_ids into agents
  from memory.document_chunks as c
  -- Each document is looked up by itself: a plan made while the tables were empty would read all documents of the user.
  cross join lateral (
    select o.* from memory.documents as o
    where o.user_id = c.user_id and o.document_id = c.document_id offset 0) as d
  where c.user_id = p_job.user_id and c.token_count is null and c.number = 0
  order by d.document_id limit 1;
  settings := memory._policy_section(p_job.user_id, memory._document_agent(agents), 'knowledge_base');
  select jsonb_agg(jsonb_build_object('number', n.number, 'text', n.content) order by n.number),
    jsonb_agg(jsonb_build_object('document_id', n.document_id, 'hash', md5(n.content)) order by n.number)
  into documents, rows_input
  from (
    select d.document_id, d.content, row_number() over so_far as number,
      sum(octet_length(d.content)) over so_far as bytes
    from memory.document_chunks as c
    cross join lateral (
      select o.* from memory.documents as o
      where o.user_id = c.user_id and o.document_id = c.document_id offset 0) as d
    where c.user_id = p_job.user_id and c.token_count is null and c.number = 0 and d.agent_ids = agents
    window so_far as (order by d.document_id)
    limit 100
  ) as n
  where n.number = 1 or n.bytes <= 4000000;
  if documents is null then
    return;
  end if;
  payload := memory._no_model() || jsonb_build_object(
    'tokenizer', coalesce((memory._embedding_model()).model, 'gpt-4o'),
    'documents', documents,
    'chunk_size', settings -> 'chunk_size',
    'chunk_overlap', settings -> 'chunk_overlap');
  agent_id := null;
  tokens := 0;
  input := jsonb_build_object('rows', rows_input);
end;
$$;
