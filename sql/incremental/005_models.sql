-- Models: which there are, what they are asked, and what that costs.
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

create table memory.prompt_versions (
  name text not null,
  version int not null,
  template text,
  changed_by text not null default session_user,
  changed_at timestamptz not null default statement_timestamp(),
  primary key (name, version)
);
comment on table memory.prompt_versions is 'Edits of prompts. Version 1 is the built-in prompt and has no row; the highest version of a name is in use.';
comment on column memory.prompt_versions.template is 'Null where the prompt went back to the built-in one, whatever that is by now.';

create table memory.model_calls (
  user_id text not null,
  call_id uuid not null,
  job_id bigint,
  kind text not null,
  agent_id text,
  model text not null,
  prompt_version int,
  tokens_in bigint,
  tokens_out bigint,
  duration_ms bigint,
  price numeric,
  error text,
  called_at timestamptz not null,
  primary key (user_id, call_id)
);
create index model_calls_user_idx on memory.model_calls (user_id, called_at) include (tokens_in, tokens_out);
create index model_calls_agent_idx on memory.model_calls (agent_id, called_at) include (tokens_in, tokens_out) where agent_id is not null;
create index model_calls_called_at_idx on memory.model_calls (called_at);
comment on table memory.model_calls is 'The ledger: one row per call of a model, failed ones included. It holds no content and outlives the jobs.';
comment on column memory.model_calls.price is 'By the prices in the model''s settings when the call was entered; null when it has none.';
