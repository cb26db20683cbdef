-- Settings: policies per user and agent.
create table memory.policies (
  user_id text not null default '',
  agent_id text not null default '',
  settings jsonb not null,
  updated_at timestamptz not null default statement_timestamp(),
  primary key (user_id, agent_id)
);
comment on table memory.policies is 'What memory.set_policy() changed, one row per level; the empty string stands for every user or every agent.';
