-- Who has called which administrative function.
create table memory.audit (
  audit_id bigint generated always as identity primary key, -- id
  at timestamptz not null default clock_timestamp(), -- time
  login_role text not null default session_user, -- name
  role text not null, -- name
  function text not null, -- word
  user_id text, -- user
  details jsonb not null default '{}' -- setting
);
create index audit_at_idx on memory.audit (at); -- for memory.sweep(), and to read the calls of a period
create index audit_user_idx on memory.audit (user_id) where user_id is not null; -- for the erasure of a user
-- For the erasure of a user who was merged into another one.
create index audit_merged_idx on memory.audit ((details ->> 'from_user_id')) where function = 'merge_users';
comment on table memory.audit is
'Each committed call of an administrative function, each installation and each upgrade. Rows cannot be changed or '
'deleted for 400 days. For administrators and auditors.';
comment on column memory.audit.audit_id is 'Rises with each row, in the order of the calls, not of their commits.';
comment on column memory.audit.at is 'When the function was called.';
comment on column memory.audit.login_role is 'The role that logged in.';
comment on column memory.audit.role is 'The role that was set by "set role", or else the role that logged in.';
comment on column memory.audit.function is
'The function that was called, without its schema; install and upgrade for the install file.';
comment on column memory.audit.user_id is
'The user whose data the call was about; null for none, and after the erasure of the user.';
comment on column memory.audit.details is
'What was asked for, without keys, secrets and content; {} after the erasure of the user.';
