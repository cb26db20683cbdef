-- Settings: policies per user and agent, and the models that do the work.
create table memory.policies (
  user_id text not null default '',
  agent_id text not null default '',
  settings jsonb not null,
  updated_at timestamptz not null default statement_timestamp(),
  primary key (user_id, agent_id)
);
comment on table memory.policies is 'What memory.set_policy() changed, one row per level; the empty string stands for every user or every agent.';

create table memory.models (
  name text primary key,
  kind text not null,
  provider text not null,
  model text not null,
  settings jsonb not null default '{}',
  dimensions int,
  is_active boolean not null default false,
  created_at timestamptz not null default statement_timestamp(),
  constraint kind_is_known check (kind in ('chat', 'embedding', 'rerank')),
  constraint provider_is_known check (provider in ('local', 'openai', 'azure')),
  constraint settings_is_object check (jsonb_typeof(settings) = 'object')
);
create unique index models_one_active_idx on memory.models (kind) where is_active;
comment on table memory.models is 'Models that jobs may use. Keys are never here: settings.api_key_env names an environment variable of the process that calls.';
comment on column memory.models.dimensions is 'How long the first embedding of this model was, and all of them are. settings.dimensions is what a provider is asked for.';
insert into memory.models (name, kind, provider, model, is_active) values ('local', 'chat', 'local', 'patterns', true);
