-- Rules look at all of a document, not at its first 64 KiB. memory.sweep() looks at those that are stored already, a few
-- at a time, apart from the memories.
insert into memory.marks (user_id, scope, kind, position)
select distinct d.user_id, '', 'unchecked_documents',
  floor(extract(epoch from statement_timestamp()) * 1000000)::bigint
from memory.documents as d
on conflict do nothing;
