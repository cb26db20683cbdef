-- Secrets of users: encrypted, and who has read them.
create table memory.secrets (
  user_id text not null,
  name text not null,
  key_id bytea not null,
  sealed bytea not null,
  created_at timestamptz not null default statement_timestamp(),
  updated_at timestamptz not null default statement_timestamp(),
  primary key (user_id, name)
);
create index secrets_key_id_idx on memory.secrets (key_id); -- for memory.reencrypt_secrets()
comment on table memory.secrets is 'Secrets of users, encrypted under a key that is not in the database. memory.get_secret() reads one.';
comment on column memory.secrets.key_id is 'Which key encrypts the value: the first 8 bytes of a hash of the key.';
comment on column memory.secrets.sealed is 'Initialisation vector (16 bytes), AES-256-CBC of the value, HMAC-SHA256 (32 bytes) of user, name and both.';

create table memory.secret_reads (
  read_at timestamptz not null default clock_timestamp(),
  user_id text not null,
  name text not null,
  role text not null,
  login_role text not null default session_user
);
create index secret_reads_user_idx on memory.secret_reads (user_id, read_at);
create index secret_reads_read_at_idx on memory.secret_reads (read_at); -- for memory.sweep()
comment on table memory.secret_reads is 'Each reading of a secret, for 400 days. For administrators.';
comment on column memory.secret_reads.role is 'The role that was set by "set role" where one was, else the role that logged in.';

create type memory.secret as (name text, created_at timestamptz, updated_at timestamptz);
comment on type memory.secret is 'A secret as memory.list_secrets() returns it: without its value.';

-- What memory.load_user() reads: of 100,000 memories the 50 that matter most, without a sort. The columns that the filters
-- need are in the index, so that another agent's memories are passed over without reading the table.
create index memories_profile_idx on memory.memories (user_id, memory_type, importance desc, created_at desc, memory_id desc)
  include (agent_id, expires_at, valid_to)
  where superseded_at is null and deleted_at is null and memory_type in ('preference', 'fact');
