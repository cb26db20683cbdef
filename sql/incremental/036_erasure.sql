-- What remains of users and memories that were forgotten: keyed hashes, and receipts without content.
create table memory.erasure_keys (
  inner_block bytea not null primary key,
  outer_block bytea not null,
  made_at timestamptz not null default statement_timestamp()
);
comment on table memory.erasure_keys is
'The keys of the hashes in memory.tombstones: 32 random bytes made at installation, and those that came with '
'moved users. For the owner only.';
comment on column memory.erasure_keys.inner_block is
'The key, padded to 64 bytes, each combined with 0x36 (HMAC, RFC 2104).';
comment on column memory.erasure_keys.outer_block is 'The same, combined with 0x5c.';

create table memory.tombstones (
  user_hash bytea not null,
  statement_hash bytea not null default '',
  forgotten_at timestamptz not null default statement_timestamp(),
  primary key (user_hash, statement_hash)
);
comment on table memory.tombstones is
'What was forgotten, as keyed hashes: it is neither extracted nor imported again.';
comment on column memory.tombstones.user_hash is 'HMAC-SHA256 of the user_id.';
comment on column memory.tombstones.statement_hash is
'HMAC-SHA256 of user_id and content_hash of a memory or message; empty for the user as a whole.';

create table memory.receipts (
  receipt_id uuid primary key,
  subject text not null,
  user_hash bytea not null,
  reason text,
  tables jsonb not null,
  forgotten_at timestamptz not null,
  constraint subject_is_known check (subject in ('memory', 'user'))
);
comment on table memory.receipts is
'What memory.forget_memory() and memory.forget_user() have removed: rows by table, without content and without '
'user_id.';
comment on column memory.receipts.user_hash is 'That of memory.tombstones.';
comment on column memory.receipts.reason is
'As the caller gave it, without the user_id and without what was forgotten.';

-- Triggers do not work for rows of a user who is copied or forgotten as a whole: the rows are counted once at the end.
-- A setting alone could be set by anybody, so the transaction must stand here as well. The table is empty to others.
create table memory.whole_user_changes (
  transaction_id xid8 primary key
);
comment on table memory.whole_user_changes is
'Transactions that import or forget a user; each removes its row before it ends.';

do $key$
declare
  key constant bytea := sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
    || uuid_send(gen_random_uuid()));
  inner_block bytea := decode(repeat('36', 64), 'hex');
  outer_block bytea := decode(repeat('5c', 64), 'hex');
begin
  for place in 0 .. 31 loop
    inner_block := set_byte(inner_block, place, get_byte(inner_block, place) # get_byte(key, place));
    outer_block := set_byte(outer_block, place, get_byte(outer_block, place) # get_byte(key, place));
  end loop;
  insert into memory.erasure_keys (inner_block, outer_block) values (inner_block, outer_block);
end;
$key$;
