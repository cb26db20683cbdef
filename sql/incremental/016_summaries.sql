-- Summaries that are made when a context needs them, two kinds of them side by side, and messages that search finds
-- after compression.

-- The threads of earlier versions start at 0: their summaries were made after each round.
alter table memory.threads add column tokens_since_summary bigint not null default 0;
comment on column memory.threads.tokens_since_summary is
'Tokens that were appended since the newest summary of the thread. It says when policy summary.when needed makes the '
'next one. It is set anew when a summary is stored, and may be too high after messages are cleared or expire.';

-- Both kinds of summaries of a thread can be waiting at the same time.
alter table memory.jobs add column variant text not null default '';
comment on column memory.jobs.variant is
'Which of several things a kind of job makes: of summarize_thread rolling or thread, empty for what the policy makes; '
'of other kinds empty.';
drop index memory.jobs_one_open_idx;
create unique index jobs_one_open_idx on memory.jobs (user_id, kind, scope, variant)
  where status in ('pending', 'running');

-- Two summaries of one thread are told apart.
alter type memory.thread_summary add attribute kind text;

-- Compressed messages stay until they expire. memory.sweep() looks for those that were cleared, and would read all
-- compressed ones in an index of both.
drop index memory.messages_inactive_idx;
create index messages_cleared_idx on memory.messages (user_id, thread_id) where not is_active and summary_id is null;
comment on column memory.messages.is_active is
'False once cleared or compressed (soft delete). A cleared message is invisible to the API and readable here until '
'memory.sweep() removes it. A compressed one (summary_id is set) has left its thread, and search finds it until it '
'expires.';
comment on column memory.messages.search_vector is
'What keywords find it by: its words, its speaker''s name and its date. Null until the first job that reads the '
'message, memory.sweep() or a change of its content fills it; search parses the text until then.';

-- Compressed messages were not parsed. Sweeps look through their threads again.
delete from memory.marks as k
where k.kind = 'words' and exists (
  select from memory.messages as m
  where m.user_id = k.user_id and m.thread_id = k.scope
    and not m.is_active and m.summary_id is not null and m.search_vector is null);
