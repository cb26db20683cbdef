-- Three kinds of rows: keyed hashes, which remain of users and memories that were forgotten; deletions that become
-- final later; changes of a whole user that are under way. The tables of hashes and of changes under way have row
-- security without a policy, so only the owner can read and write them.
create table memory.erasure_keys (
  inner_block bytea primary key, -- secret
  outer_block bytea not null, -- secret
  made_at timestamptz not null default statement_timestamp() -- time
);
alter table memory.erasure_keys enable row level security;
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
comment on table memory.erasure_keys is
'The keys of the hashes in memory.tombstones: 32 random bytes made at installation, and those that came with moved '
'users. For the owner only.';
comment on column memory.erasure_keys.inner_block is
'The key, padded to 64 bytes, each combined with 0x36 (HMAC, RFC 2104).';
comment on column memory.erasure_keys.outer_block is 'The same, combined with 0x5c.';
comment on column memory.erasure_keys.made_at is 'When the key was made; the first one is that of this database.';

create table memory.tombstones (
  user_hash bytea not null, -- hash
  statement_hash bytea not null default '', -- hash
  forgotten_at timestamptz not null default statement_timestamp(), -- time
  primary key (user_hash, statement_hash)
);
alter table memory.tombstones enable row level security;
comment on table memory.tombstones is
'What was forgotten, as keyed hashes: it is neither extracted nor imported again.';
comment on column memory.tombstones.user_hash is 'HMAC-SHA256 of the user_id.';
comment on column memory.tombstones.statement_hash is
'HMAC-SHA256 of user_hash and content_hash of a memory or message; empty for the user as a whole.';
comment on column memory.tombstones.forgotten_at is 'When it was forgotten.';

-- A statement's hash is made with the user who had the statement forgotten, and cannot be turned into the hash of
-- another user. So a merged user keeps the hashes of the former users.
create table memory.merged_users (
  user_id text not null, -- user
  former_user_hash bytea not null, -- hash
  merged_at timestamptz not null default statement_timestamp(), -- time
  primary key (user_id, former_user_hash)
);
comment on table memory.merged_users is
'Users who were merged into another one and had statements forgotten, which stay forgotten for that one.';
comment on column memory.merged_users.user_id is 'The user to whom the row belongs.';
comment on column memory.merged_users.former_user_hash is
'HMAC-SHA256 of the merged user, as in memory.tombstones. The tombstones of this user count as well.';
comment on column memory.merged_users.merged_at is 'When memory.merge_users() merged the users.';

-- When rows that applications have deleted go for good. No column of messages or memories says so: one row here stands
-- for all messages of a thread, or all memories of a user, that were deleted within an hour.
create table memory.due_deletions (
  user_id text not null, -- user
  thread_id text not null default '', -- thread or all
  deleted_before timestamptz not null, -- time
  due_at timestamptz not null, -- time
  primary key (user_id, thread_id, deleted_before)
);
create index due_deletions_due_at_idx on memory.due_deletions (due_at);
comment on table memory.due_deletions is
'Soft deletions that calls and workers finish when they are due (policy erasure.delete_after), without '
'memory.sweep().';
comment on column memory.due_deletions.user_id is 'The user to whom the row belongs.';
comment on column memory.due_deletions.thread_id is
'The thread whose cleared messages go; empty for the deleted memories of the user.';
comment on column memory.due_deletions.deleted_before is
'The end of the hour in which the rows were deleted. Rows that were deleted later have an entry of their own here.';
comment on column memory.due_deletions.due_at is
'The time from which a call of the user, or an idle worker, deletes the rows for good.';

-- One transaction at a time forgets something of a user or imports the user. The lock is a row and no advisory lock:
-- every role sees the number of an advisory lock in pg_locks while another session holds it, and could then take and
-- keep that lock.
create table memory.user_locks (
  user_hash bytea primary key -- hash
);
alter table memory.user_locks enable row level security;
comment on table memory.user_locks is
'One row for each user of whom something was forgotten, or who was imported. The transaction that does so locks the '
'row.';
comment on column memory.user_locks.user_hash is 'HMAC-SHA256 of the user_id, as in memory.tombstones.';

-- The transactions in which a user is copied or forgotten as a whole. Triggers do nothing for the rows of this user,
-- which are counted once at the end. Every role can set the setting that tells the triggers so, so the transaction must
-- stand here as well.
create table memory.whole_user_changes (
  transaction_id xid8 not null, -- number
  change_name text not null, -- word
  primary key (transaction_id, change_name)
);
alter table memory.whole_user_changes enable row level security;
comment on table memory.whole_user_changes is
'Transactions that import or forget a user; each removes its row before it ends.';
comment on column memory.whole_user_changes.transaction_id is 'The transaction that the row is about.';
comment on column memory.whole_user_changes.change_name is
'Tells the changes of one transaction apart, as the setting memory.change_name does.';
