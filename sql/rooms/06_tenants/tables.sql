-- Who reaches one user only, and what the install file has granted. These three tables have row security without a
-- policy: whatever is granted on them, only the owner reads and writes them.
create table memory.bound_roles (
  role_name name primary key,
  user_id text,
  bound_at timestamptz not null default statement_timestamp(),
  claims_setting text,
  constraint has_one_user check ((user_id is null) <> (claims_setting is null))
);
alter table memory.bound_roles enable row level security;
comment on table memory.bound_roles is
'Roles that reach one user only, without a token: login roles that memory.bind_role() has bound, and roles whose user '
'is told by claims, see memory.trust_claims(). By name, as a dump names roles: another server gives them other '
'numbers.';
comment on column memory.bound_roles.role_name is 'The role.';
comment on column memory.bound_roles.user_id is
'The only user whom sessions of the role reach; null where claims say who that is.';
comment on column memory.bound_roles.bound_at is 'When that was first said.';
comment on column memory.bound_roles.claims_setting is
'The setting with the claims of the user whom a session in this role reaches; null where the role is bound.';

create table memory.token_keys (
  is_previous boolean primary key,
  inner_block bytea not null,
  outer_block bytea not null,
  set_at timestamptz not null default statement_timestamp()
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

create table memory.role_grants (
  role_name name not null,
  object text not null,
  role_oid oid not null,
  granted_at timestamptz not null default statement_timestamp(),
  primary key (role_name, object)
);
alter table memory.role_grants enable row level security;
comment on table memory.role_grants is
'What the install file has granted to memory_app and the other roles of agent_memory. It grants each right once, so '
'that what an administrator has revoked stays revoked.';
comment on column memory.role_grants.role_name is 'The role that got the right.';
comment on column memory.role_grants.object is 'What it may use: the kind of object and its name in schema memory.';
comment on column memory.role_grants.role_oid is
'The number of the role then: a role that was dropped and created again has another one, and gets its rights again.';
comment on column memory.role_grants.granted_at is 'When the install file granted it.';
