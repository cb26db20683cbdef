-- The summaries of threads and users.
-- A row of memory.summaries may name one of memory.threads (user_id, thread_id).
create table memory.summaries (
  user_id text not null, -- user
  summary_id uuid not null, -- id
  kind text not null, -- word
  thread_id text not null, -- thread or all
  summary text, -- text with keys
  token_count int, -- number
  start_seq bigint not null, -- number
  end_seq bigint not null, -- number
  base_summary_id uuid, -- summary
  agent_ids text[] not null default '{}', -- agents
  status text not null default 'processing', -- word
  metadata jsonb not null default '{}', -- wording
  generation_time_ms int, -- any number
  created_at timestamptz not null default statement_timestamp(), -- time
  quarantined_at timestamptz, -- time
  quarantine_reason text, -- wording
  primary key (user_id, summary_id),
  constraint completed_has_text check ((status in ('completed', 'quarantined')) = (summary is not null)),
  constraint kind_is_known check (kind in ('rolling', 'thread', 'user')),
  constraint quarantine_is_whole check ((status = 'quarantined') = (quarantined_at is not null)),
  constraint range_is_ordered check (start_seq between 0 and end_seq),
  constraint status_is_known check (status in ('processing', 'completed', 'failed', 'quarantined')),
  constraint user_has_no_thread check ((kind = 'user') = (thread_id = '')),
  -- The foreign key is deferrable, because an import may bring a summary before the earlier summary that it continues.
  constraint summaries_user_id_base_summary_id_fkey foreign key (user_id, base_summary_id)
    references memory.summaries on delete set null (base_summary_id) deferrable
);
create index summaries_base_idx on memory.summaries (user_id, base_summary_id)
  where base_summary_id is not null; -- for the foreign key
create unique index summaries_one_processing_idx on memory.summaries (user_id, thread_id, kind)
  where status = 'processing';
-- Of two summaries of a thread with the same end the later one counts. Ids are in order of time, so summary_id at its
-- end makes the index give the latest summary first, and PostgreSQL need not sort the whole chain.
create index summaries_thread_idx on memory.summaries (user_id, thread_id, kind, status, end_seq desc, summary_id desc);
comment on table memory.summaries is
'Summaries, each naming the one it continued. rolling: the newest window of a thread. thread: a whole thread. user: '
'what is known of a user across threads.';
comment on column memory.summaries.user_id is 'The user to whom the row belongs.';
comment on column memory.summaries.summary_id is 'Names the summary; messages that it replaced name it.';
comment on column memory.summaries.kind is 'rolling, thread or user: the comment of the table explains them.';
comment on column memory.summaries.thread_id is 'Empty for the summary of a user.';
comment on column memory.summaries.summary is 'The text; null until a model has written it.';
comment on column memory.summaries.token_count is
'Exact tokens of the text, from the job that wrote it; null when it could not count.';
comment on column memory.summaries.start_seq is 'The first message that went into the summary.';
comment on column memory.summaries.end_seq is
'The last message that went into the summary; for the summary of a user the number of messages, from 0.';
comment on column memory.summaries.base_summary_id is 'The summary whose text went into this one.';
comment on column memory.summaries.agent_ids is
'The agents whose messages went into the summary or its predecessors: an agent that asks for its own context does '
'not get the words of another agent.';
comment on column memory.summaries.status is
'processing: a worker is at it, or will try again. completed. failed: its job is dead. quarantined: nobody sees it.';
comment on column memory.summaries.metadata is
'For the summary of a whole thread: its topics, entities, decisions and open questions.';
comment on column memory.summaries.generation_time_ms is 'Milliseconds the model took.';
comment on column memory.summaries.created_at is 'When the row was stored.';
comment on column memory.summaries.quarantined_at is 'Since when nobody sees it.';
comment on column memory.summaries.quarantine_reason is 'Why: the signs that a rule found, or what the caller gave.';
