-- The settings of each user and agent.
create table memory.policies (
  user_id text not null default '', -- user
  agent_id text not null default '', -- agent or all
  settings jsonb not null, -- setting
  updated_at timestamptz not null default statement_timestamp(), -- time
  primary key (user_id, agent_id)
);
-- A search looks up whether search.language was changed for the user. Few users have such rows.
create index policies_language_idx on memory.policies (user_id) where settings -> 'search' ? 'language';
comment on table memory.policies is
'What memory.set_policy() changed, one row per level; the empty string stands for every user or every agent.';
comment on column memory.policies.user_id is 'The user whose settings these are; empty for every user.';
comment on column memory.policies.agent_id is 'The agent whose settings these are; empty for every agent.';
comment on column memory.policies.settings is
'Only what was set at this level; memory.get_policy() merges the levels.';
comment on column memory.policies.updated_at is 'When the row was last changed.';
