-- How far each memory and document is trusted, and what is in quarantine. Nothing is added to messages: their trust
-- follows from their role and metadata, and what a quarantined one said is kept in a table of its own.

alter table memory.memories
  add column trust real not null default 1.0,
  add column quarantined_at timestamptz,
  add column quarantine_reason text,
  add column quarantined_with text,
  add column released_at timestamptz;
alter table memory.memories
  add constraint trust_is_share check (trust between 0 and 1),
  add constraint quarantine_is_whole check (
    (quarantined_at is null) = (quarantine_reason is null)
    and (quarantined_at is null) = (deleted_at is distinct from 'infinity')),
  drop constraint operation_is_known;
alter table memory.memories add constraint operation_is_known check (
  operation in ('insert', 'update', 'supersede', 'delete', 'evict', 'restore', 'quarantine', 'release'));
create index memories_quarantined_idx on memory.memories (user_id, agent_id, memory_type, content_hash)
  where quarantined_at is not null;
comment on column memory.memories.trust is
'From 0 to 1: 1 for what the user or the application states, less for what an assistant, a tool or a web page said; of '
'an extracted memory the least of its source messages.';
comment on column memory.memories.quarantined_at is
'Since when nobody sees it, unless asked for. deleted_at is infinity meanwhile, so every reader takes it for deleted, '
'and no sweep removes it.';
comment on column memory.memories.quarantine_reason is 'Why: the signs that a rule found, or what the caller gave.';
comment on column memory.memories.quarantined_with is
'The poisoned source that it derives from, such as "message thread/3"; null when it is itself the reason.';
comment on column memory.memories.released_at is
'When it was last released: no rule quarantines it again while its content stays.';

alter table memory.documents
  add column trust real not null default 1.0,
  add column quarantined_at timestamptz,
  add column quarantine_reason text,
  add column quarantined_with text,
  add column released_at timestamptz,
  add constraint trust_is_share check (trust between 0 and 1);
comment on column memory.documents.trust is
'From 0 to 1, as of memories. A document of the application may lower it by metadata.trust; an article made of '
'memories has the least of theirs.';
comment on column memory.documents.quarantined_at is 'Since when no search finds it and no list shows it.';
comment on column memory.documents.quarantine_reason is 'Why, as of memories.';
comment on column memory.documents.quarantined_with is 'The poisoned source that it derives from, as of memories.';
comment on column memory.documents.released_at is 'When it was last released: no rule quarantines it again.';

alter table memory.artifacts
  add column quarantined_at timestamptz,
  add column quarantine_reason text,
  add column released_at timestamptz;
comment on column memory.artifacts.quarantined_at is 'Since when no search finds it and nobody can expand it.';
comment on column memory.artifacts.quarantine_reason is 'Why, as of memories.';
comment on column memory.artifacts.released_at is 'When it was last released: no rule quarantines it again.';

create table memory.quarantined_messages (
  user_id text not null,
  thread_id text not null,
  seq bigint not null,
  content text not null,
  content_digest text not null,
  reason text not null,
  quarantined_at timestamptz not null default statement_timestamp(),
  released_at timestamptz,
  primary key (user_id, thread_id, seq)
);
comment on table memory.quarantined_messages is
'What quarantined messages said. The message itself says only that it is in quarantine, so no reader of messages can '
'show it.';
comment on column memory.quarantined_messages.content is 'What was said; empty once the message is released.';
comment on column memory.quarantined_messages.content_digest is
'Of the message as its caller passed it, so that a repetition under its idempotency key is still no new message.';
comment on column memory.quarantined_messages.released_at is
'When the message was released: no rule quarantines it again.';

alter type memory.memory
  add attribute trust real, add attribute quarantined_at timestamptz, add attribute quarantine_reason text;

create type memory.quarantined as (
  source text, id text, content text, trust real, quarantined_at timestamptz, reason text, quarantined_with text,
  total_count bigint
);
comment on type memory.quarantined is 'Something in quarantine, as memory.list_quarantined() shows it.';

-- No rule has looked at what is stored already. memory.sweep() looks at it in batches: of a thread at the messages up
-- to the mark, of a user (scope '') at the memories and documents that were stored before it.
insert into memory.marks (user_id, scope, kind, position)
select t.user_id, t.thread_id, 'unchecked', t.next_seq - 1 from memory.threads as t where t.next_seq > 0
union all
select u.user_id, '', 'unchecked', floor(extract(epoch from statement_timestamp()) * 1000000)::bigint
from (select m.user_id from memory.memories as m union select d.user_id from memory.documents as d) as u
on conflict do nothing;
