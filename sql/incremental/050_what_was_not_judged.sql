-- Rules look at all of a document, not at its first 64 KiB. memory.sweep() looks at those that are stored already, a
-- few at a time, apart from the memories.
insert into memory.marks (user_id, scope, kind, position)
select distinct d.user_id, '', 'unchecked_documents',
  floor(extract(epoch from statement_timestamp()) * 1000000)::bigint
from memory.documents as d
on conflict do nothing;
-- Summaries can be in quarantine, and rules look at those that are stored already.
alter table memory.summaries
  add column quarantined_at timestamptz,
  add column quarantine_reason text,
  drop constraint status_is_known,
  drop constraint completed_has_text;
alter table memory.summaries
  add constraint status_is_known check (status in ('processing', 'completed', 'failed', 'quarantined')),
  add constraint completed_has_text check ((status in ('completed', 'quarantined')) = (summary is not null)),
  add constraint quarantine_is_whole check ((status = 'quarantined') = (quarantined_at is not null));
comment on column memory.summaries.status is
'processing: a worker is at it, or will try again. completed. failed: its job is dead. quarantined: nobody sees it.';
comment on column memory.summaries.quarantined_at is 'Since when nobody sees it.';
comment on column memory.summaries.quarantine_reason is 'Why, as of memories.';
insert into memory.marks (user_id, scope, kind, position)
select distinct s.user_id, '', 'unchecked_summaries',
  floor(extract(epoch from statement_timestamp()) * 1000000)::bigint
from memory.summaries as s where s.status = 'completed'
on conflict do nothing;
