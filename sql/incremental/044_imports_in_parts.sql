-- Users whose export is imported in parts, because PostgreSQL takes no jsonb of more than 256 MiB.
create table memory.imports (
  transaction_id xid8 primary key,
  user_hash bytea not null,
  rows_given bigint not null default 0
);
comment on table memory.imports is
'Imports of users that are under way, one in a transaction, which cannot be committed before the last part came. The '
'table is empty to others.';
comment on column memory.imports.user_hash is 'That of memory.tombstones.';
comment on column memory.imports.rows_given is 'How many rows the parts had so far.';
alter table memory.imports enable row level security; -- for the owner only

-- The summary that another one goes on from may come in a later part.
alter table memory.summaries alter constraint summaries_user_id_base_summary_id_fkey deferrable initially immediate;
