-- One transaction at a time forgets something of a user or imports the user. The lock is a row: every role sees the
-- number of an advisory lock in pg_locks while another session holds it, and could keep that lock from then on.
create table memory.user_locks (
  user_hash bytea primary key
);
comment on table memory.user_locks is
'Users of whom something was forgotten, or who were imported; the row is locked meanwhile.';
comment on column memory.user_locks.user_hash is 'That of memory.tombstones.';

alter table memory.user_locks enable row level security;
