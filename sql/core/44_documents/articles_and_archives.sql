-- The documents that jobs make: articles of old memories (consolidate), and archives of compressed conversations.

-- Whether a document is an article that was made from one of these memories.
create or replace function memory._is_article_of(p_document memory.documents, p_memory_ids uuid[])
returns boolean
language sql immutable parallel safe
begin atomic
  select (p_document).source = 'consolidation' and (p_document).metadata -> 'memory_ids' ?| p_memory_ids::text[];
end;

-- Whether a document is an archived conversation. The next compression adds to an archive that is not closed.
create or replace function memory._is_archive(p_document memory.documents)
returns boolean
language sql immutable parallel safe
begin atomic
  select (p_document).source in ('archive', 'closed_archive');
end;
