-- Rules look at artifacts, too. memory.sweep() looks at those that are stored already.
insert into memory.marks (user_id, scope, kind, position)
select distinct a.user_id, '', 'unchecked_artifacts',
  floor(extract(epoch from statement_timestamp()) * 1000000)::bigint
from memory.artifacts as a
on conflict do nothing;
