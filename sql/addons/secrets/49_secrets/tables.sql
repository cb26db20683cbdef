-- The secrets of users, encrypted, and the record of their readers.
-- A row of memory.secret_reads may name one of memory.secrets (user_id, name).
create table memory.secrets (
  user_id text not null, -- user
  name text not null, -- id
  key_id bytea not null, -- hash
  sealed bytea not null, -- secret
  created_at timestamptz not null default statement_timestamp(), -- time
  updated_at timestamptz not null default statement_timestamp(), -- time
  primary key (user_id, name)
);
create index secrets_key_id_idx on memory.secrets (key_id); -- for memory.reencrypt_secrets()
comment on table memory.secrets is
'Secrets of users, encrypted under a key that is not in the database. memory.get_secret() reads one.';
comment on column memory.secrets.user_id is 'The user to whom the row belongs.';
comment on column memory.secrets.name is 'The name of the secret, unique per user.';
comment on column memory.secrets.key_id is 'Which key encrypts the value: the first 8 bytes of a hash of the key.';
comment on column memory.secrets.sealed is
'Initialisation vector (16 bytes), AES-256-CBC of the value, HMAC-SHA256 (32 bytes) of user, name and both.';
comment on column memory.secrets.created_at is 'When the row was stored.';
comment on column memory.secrets.updated_at is 'When the row was last changed.';

create table memory.secret_reads (
  read_at timestamptz not null default clock_timestamp(), -- time
  user_id text not null, -- user
  name text not null, -- name
  role text not null, -- name
  login_role text not null default session_user -- name
);
create index secret_reads_read_at_idx on memory.secret_reads (read_at); -- for memory.sweep()
create index secret_reads_user_idx on memory.secret_reads (user_id, read_at);
comment on table memory.secret_reads is 'Each reading of a secret, for 400 days. For administrators.';
comment on column memory.secret_reads.read_at is 'When the secret was read.';
comment on column memory.secret_reads.user_id is 'The user to whom the row belongs.';
comment on column memory.secret_reads.name is 'The name of the secret that was read.';
comment on column memory.secret_reads.role is
'The role that was set by "set role" where one was, else the role that logged in.';
comment on column memory.secret_reads.login_role is 'The role that had logged in.';
