-- The models, their prompts, and the ledger of their calls.
-- A row of memory.model_calls may name one of memory.jobs (user_id, job_id).
-- A row of memory.model_calls may name one of memory.models (model).
create table memory.models (
  name text primary key, -- id
  kind text not null, -- word
  provider text not null, -- word
  model text not null, -- setting
  settings jsonb not null default '{}', -- setting
  dimensions int, -- number
  is_active boolean not null default false, -- flag
  created_at timestamptz not null default statement_timestamp(), -- time
  is_off boolean not null default false, -- flag
  context_tokens int, -- number
  constraint kind_is_known check (kind in ('chat', 'embedding', 'rerank', 'screen')),
  constraint provider_is_known check (provider in ('local', 'openai', 'azure')),
  constraint settings_is_object check (jsonb_typeof(settings) = 'object')
);
create unique index models_one_active_idx on memory.models (kind) where is_active;
insert into memory.models (name, kind, provider, model, is_active) values ('local', 'chat', 'local', 'patterns', true);
comment on table memory.models is
'Models that jobs may use. Keys are never here: settings.api_key_env names an environment variable of the process '
'that calls.';
comment on column memory.models.name is 'The name under which functions and policies know the model.';
comment on column memory.models.kind is 'chat, embedding, rerank or screen.';
comment on column memory.models.provider is 'local, openai (and all that speak its protocol) or azure.';
comment on column memory.models.model is 'The name of the model at its provider.';
comment on column memory.models.settings is
'Address, limits, prices and where the key is found; see memory.register_model().';
comment on column memory.models.dimensions is
'The length of the model''s first embedding, and so of all its embeddings. settings.dimensions is the length that '
'the provider is asked for.';
comment on column memory.models.is_active is 'Whether the model is in use for its kind.';
comment on column memory.models.created_at is 'When the row was stored.';
comment on column memory.models.is_off is
'Whether memory.deactivate_model() has switched the model off: it gets no calls, and nothing is compared with its '
'embeddings, until it is activated or registered again.';
comment on column memory.models.context_tokens is
'How many tokens a prompt and its reply may have together, as the server of a chat model told a worker; null before. '
'settings.context_tokens prevails over this number.';

create table memory.prompt_versions (
  name text not null, -- id
  version int not null, -- id
  template text, -- setting
  changed_by text not null default session_user, -- name
  changed_at timestamptz not null default statement_timestamp(), -- time
  primary key (name, version)
);
comment on table memory.prompt_versions is
'Edits of prompts. Version 1 is the built-in prompt and has no row; the highest version of a name is in use.';
comment on column memory.prompt_versions.name is 'The prompt: a kind of job, rerank or placeholders.';
comment on column memory.prompt_versions.version is 'From 2 on; the ledger names the version that a call used.';
comment on column memory.prompt_versions.template is
'The text; null if this version went back to the built-in prompt, which later versions of agent_memory may change.';
comment on column memory.prompt_versions.changed_by is 'The role that had logged in.';
comment on column memory.prompt_versions.changed_at is
'When memory.set_prompt() or memory.reset_prompt() was called.';

create table memory.model_calls (
  user_id text not null, -- user
  call_id uuid not null, -- id
  job_id bigint, -- job
  kind text not null, -- word
  agent_id text, -- agent
  model text not null, -- model
  prompt_version int, -- any number
  tokens_in bigint, -- number
  tokens_out bigint, -- number
  duration_ms bigint, -- number
  price numeric, -- number
  error text, -- wording
  called_at timestamptz not null, -- time
  reply_model text, -- name
  refusals jsonb, -- number
  primary key (user_id, call_id),
  constraint refusals_are_counts check (jsonb_typeof(refusals) = 'object' and not jsonb_path_exists(
    refusals, 'strict $.* ? (@.type() != "number" || @ < 0 || @ > 1000000)'))
);
create index model_calls_agent_idx on memory.model_calls (agent_id, called_at)
  include (tokens_in, tokens_out)
  where agent_id is not null;
create index model_calls_called_at_idx on memory.model_calls (called_at);
create index model_calls_user_idx on memory.model_calls (user_id, called_at) include (tokens_in, tokens_out);
comment on table memory.model_calls is
'The ledger: one row per call of a model, failed ones included. It holds no content and outlives the jobs.';
comment on column memory.model_calls.user_id is
'The user for whom the model was called; empty once that user is forgotten.';
comment on column memory.model_calls.call_id is 'Names the call.';
comment on column memory.model_calls.job_id is 'The job that called; null for a search or a context.';
comment on column memory.model_calls.kind is 'The kind of the job; embed and rerank also for searches.';
comment on column memory.model_calls.agent_id is 'Whose budget the call counts against; null for no agent.';
comment on column memory.model_calls.model is 'The name of the model in memory.models.';
comment on column memory.model_calls.prompt_version is
'The version of the prompt in memory.prompt_versions; null where none was used.';
comment on column memory.model_calls.tokens_in is 'Tokens that the provider read; null where it did not say.';
comment on column memory.model_calls.tokens_out is 'Tokens that the provider wrote; null where it did not say.';
comment on column memory.model_calls.duration_ms is 'Milliseconds that the call took.';
comment on column memory.model_calls.price is
'By the prices in the model''s settings when the call was entered; null when it has none.';
comment on column memory.model_calls.error is 'Why the call failed; null when it did not.';
comment on column memory.model_calls.called_at is 'When the call was entered.';
comment on column memory.model_calls.reply_model is
'The model that replied, as the server names it: a version, or another one behind a gateway; null where it named none.';
comment on column memory.model_calls.refusals is
'How much of the reply was not stored, by reason (docs/jobs.md); null where nothing was refused.';

create table memory.agent_budgets (
  agent_id text primary key, -- id
  checks bigint not null default 1 -- number
);
comment on table memory.agent_budgets is
'Agents that have a budget: claims that check it hold its row, so that two of them cannot both take the last '
'tokens.';
comment on column memory.agent_budgets.agent_id is 'The agent of that user.';
comment on column memory.agent_budgets.checks is
'Counts the checks: each claim writes the row, so that a concurrent claim under REPEATABLE READ fails.';
