-- The receipts of erasures, imports that are under way, and users who were moved here. memory.imports has row security
-- without a policy, so only the owner can read and write it.
create table memory.receipts (
  receipt_id uuid primary key, -- id
  subject text not null, -- word
  user_hash bytea not null, -- hash
  reason text, -- text
  tables jsonb not null, -- number
  forgotten_at timestamptz not null, -- time
  constraint subject_is_known check (subject in ('memory', 'user'))
);
comment on table memory.receipts is
'What memory.forget_memory() and memory.forget_user() have removed: rows by table, without content and without '
'user_id.';
comment on column memory.receipts.receipt_id is 'Names the receipt, as the call returned it.';
comment on column memory.receipts.subject is 'Whether a memory or a user was forgotten: memory or user.';
comment on column memory.receipts.user_hash is 'HMAC-SHA256 of the user_id, as in memory.tombstones.';
comment on column memory.receipts.reason is
'As the caller gave it, without the user_id and without what was forgotten.';
comment on column memory.receipts.tables is 'How many rows of which table were removed or emptied.';
comment on column memory.receipts.forgotten_at is 'When it was forgotten.';

create table memory.imports (
  transaction_id xid8 primary key, -- number
  user_hash bytea not null, -- hash
  rows_given bigint not null default 0, -- number
  rows_stored bigint not null default 0 -- number
);
alter table memory.imports enable row level security;
comment on table memory.imports is
'Imports of users that are under way, one in a transaction, which cannot be committed before the last part came. '
'The table is empty to others.';
comment on column memory.imports.transaction_id is 'The transaction that the row is about.';
comment on column memory.imports.user_hash is 'HMAC-SHA256 of the user_id, as in memory.tombstones.';
comment on column memory.imports.rows_given is 'How many rows the parts had so far.';
comment on column memory.imports.rows_stored is
'How many rows of the parts were stored so far; the others are from before the user was forgotten.';

create table memory.moved_users (
  user_id text primary key, -- user
  contents jsonb not null, -- hash
  moved_at timestamptz not null default statement_timestamp() -- time
);
comment on table memory.moved_users is
'Users whose rows agent-memory move has copied into this database. A move that is run again passes them by.';
comment on column memory.moved_users.user_id is 'The user to whom the row belongs.';
comment on column memory.moved_users.contents is
'For each table the number of the user''s rows in the database from which they came, and their checksum.';
comment on column memory.moved_users.moved_at is 'When the copy was committed.';
