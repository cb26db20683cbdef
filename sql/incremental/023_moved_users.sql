-- Users who were moved here from another database.
create table memory.moved_users (
  user_id text primary key,
  contents jsonb not null,
  moved_at timestamptz not null default statement_timestamp()
);
comment on table memory.moved_users is
'Users whose rows agent-memory move has copied into this database. A move that is run again passes them by.';
comment on column memory.moved_users.contents is
'Of each table how many rows the user had where they came from, and their checksum.';
