-- Who reaches one user only. These tables, and those of earlier parts that hold keys or that triggers believe, have row
-- security without any policy: whatever is granted on them, only the owner reads and writes them.

create table memory.bound_roles (
  role_name name primary key,
  user_id text not null,
  bound_at timestamptz not null default statement_timestamp()
);
comment on table memory.bound_roles is
'Login roles that reach one user only, without a token; see memory.bind_role(). By name, as a dump names roles: '
'another server gives them other numbers.';

create table memory.token_keys (
  is_previous boolean primary key,
  inner_block bytea not null,
  outer_block bytea not null,
  set_at timestamptz not null default statement_timestamp()
);
comment on table memory.token_keys is
'The keys that tokens of tenants are signed with, as HMAC-SHA256 takes them; see memory.set_token_key(). Whoever reads '
'this table, or a dump of it, can make tokens of every user.';

create table memory.role_grants (
  role_name name not null,
  object text not null,
  role_oid oid not null,
  granted_at timestamptz not null default statement_timestamp(),
  primary key (role_name, object)
);
comment on table memory.role_grants is
'What the install file has granted to memory_app and the other roles of agent_memory. It grants each right once, '
'so that what an administrator has revoked stays revoked.';

alter table memory.bound_roles enable row level security;
alter table memory.token_keys enable row level security;
alter table memory.role_grants enable row level security;
alter table memory.erasure_keys enable row level security;
alter table memory.tombstones enable row level security;
alter table memory.whole_user_changes enable row level security;
