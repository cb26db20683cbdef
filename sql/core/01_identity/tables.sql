-- The rights that the install file has granted. The table has row security without a policy, so only the owner can read
-- and write it, whatever rights on it are granted.
create table memory.role_grants (
  role_name name not null, -- id
  object text not null, -- id
  role_oid oid not null, -- number
  granted_at timestamptz not null default statement_timestamp(), -- time
  primary key (role_name, object)
);
alter table memory.role_grants enable row level security;
comment on table memory.role_grants is
'What the install file has granted to memory_app and the other roles of agent_memory. It grants each right once, so '
'that what an administrator has revoked stays revoked.';
comment on column memory.role_grants.role_name is 'The role that got the right.';
comment on column memory.role_grants.object is
'The object that the role may use: its kind, and its name in schema memory.';
comment on column memory.role_grants.role_oid is
'The role''s number when the right was granted. A role that was dropped and created again has another number, and '
'gets its rights again.';
comment on column memory.role_grants.granted_at is 'When the install file granted it.';
