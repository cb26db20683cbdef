-- The roles and keys of sessions that reach one user only. These two tables have row security without a policy, so only
-- the owner can read and write them, whatever rights on them are granted.
create table memory.bound_roles (
  role_name name primary key, -- id
  user_id text, -- user
  bound_at timestamptz not null default statement_timestamp(), -- time
  claims_setting text, -- setting
  constraint has_one_user check ((user_id is null) <> (claims_setting is null))
);
alter table memory.bound_roles enable row level security;
comment on table memory.bound_roles is
'Roles that reach one user only, without a token: login roles that memory.bind_role() has bound, and roles whose '
'user is told by claims, see memory.trust_claims(). Roles are stored by name, because another server gives them '
'other numbers.';
comment on column memory.bound_roles.role_name is 'The role.';
comment on column memory.bound_roles.user_id is
'The only user whom sessions of the role reach; null where claims say who that is.';
comment on column memory.bound_roles.bound_at is 'When the role was first bound, or its claims were first trusted.';
comment on column memory.bound_roles.claims_setting is
'The setting with the claims of the user whom a session in this role reaches; null where the role is bound.';

create table memory.token_keys (
  is_previous boolean primary key, -- flag
  inner_block bytea not null, -- secret
  outer_block bytea not null, -- secret
  set_at timestamptz not null default statement_timestamp() -- time
);
alter table memory.token_keys enable row level security;
comment on table memory.token_keys is
'The keys that tokens of tenants are signed with, as HMAC-SHA256 takes them; see memory.set_token_key(). Whoever '
'reads this table, or a dump of it, can make tokens of every user.';
comment on column memory.token_keys.is_previous is
'Whether this is the previous key, which is accepted during a rotation.';
comment on column memory.token_keys.inner_block is
'The key, padded to 64 bytes, each combined with 0x36 (HMAC, RFC 2104).';
comment on column memory.token_keys.outer_block is 'The same, combined with 0x5c.';
comment on column memory.token_keys.set_at is 'When memory.set_token_key() set it.';

-- Spaces, their members, and the record of who wrote what there.
-- Each row of memory.space_grants belongs to one of memory.spaces (user_id).
-- Each row of memory.space_writes belongs to one of memory.spaces (user_id).
create table memory.spaces (
  user_id text primary key, -- user
  title text, -- kept
  metadata jsonb not null default '{}', -- kept
  created_at timestamptz not null default statement_timestamp() -- time
);
comment on table memory.spaces is
'Memory that several users share, see memory.create_space(). The rows of a space have its user_id.';
comment on column memory.spaces.user_id is 'The user_id of the space: space: and its name.';
comment on column memory.spaces.title is 'As the caller of memory.create_space() gave it.';
comment on column memory.spaces.metadata is 'As the caller of memory.create_space() gave it.';
comment on column memory.spaces.created_at is 'When it was created.';

create table memory.space_grants (
  user_id text not null, -- user
  member text not null, -- member
  access text not null, -- word
  granted_at timestamptz not null default statement_timestamp(), -- time
  primary key (user_id, member),
  constraint access_is_known check (access in ('read', 'write'))
);
create index space_grants_member_idx on memory.space_grants (member);
comment on table memory.space_grants is 'Who may read or write a space, see memory.grant_space().';
comment on column memory.space_grants.user_id is 'The user_id of the space.';
comment on column memory.space_grants.member is 'The user who may read or write the space.';
comment on column memory.space_grants.access is 'read or write; who may write may read.';
comment on column memory.space_grants.granted_at is 'When the space was first granted to the user.';

create table memory.space_writes (
  user_id text not null, -- user
  member text not null, -- member
  source text not null, -- word
  id text not null, -- id
  primary key (user_id, source, id, member)
);
create index space_writes_member_idx on memory.space_writes (member, user_id);
comment on table memory.space_writes is
'Which user wrote which texts of a space in sessions of tenants, for memory.forget_user(spaces => ''forget''). In '
'other sessions nobody knows who writes.';
comment on column memory.space_writes.user_id is 'The user_id of the space.';
comment on column memory.space_writes.member is 'The user who wrote, or reworded, the text.';
comment on column memory.space_writes.source is
'The kind of text: memory, document, artifact, message, title, metadata (of a thread), checkpoint, upload or secret.';
comment on column memory.space_writes.id is
'The id of the memory, document or upload, the key of the artifact, thread_id/seq of the message, the name of the '
'secret, or the thread of a title, metadata or checkpoints.';
