-- A queue in which users take turns, and a ledger that holds no more than a job can have taken.

-- What is due is found by kind and user, so that a claim goes from user to user without reading what one user has
-- piled up. What waits for its time is kept apart: 100,000 jobs that wait for the next day's budget would be met by
-- every claim.
alter table memory.jobs
  add column is_delayed boolean not null default false,
  add column tokens_allowed bigint not null default 0,
  add column tokens_entered bigint not null default 0,
  add column calls_entered int not null default 0;
comment on column memory.jobs.is_delayed is
'Waits for run_after: it failed, was released or cannot be handed out yet. The first claim after that time makes it '
'false.';
comment on column memory.jobs.tokens_allowed is
'How many tokens the ledger takes for this job at most, by what its attempts were given to read; 0 until it is handed '
'out.';
comment on column memory.jobs.tokens_entered is 'Tokens that the ledger has of this job.';
comment on column memory.jobs.calls_entered is 'Model calls that the ledger has of this job.';
update memory.jobs set is_delayed = true where status = 'pending' and run_after > statement_timestamp();
-- Those that were handed out before there was a limit.
update memory.jobs set tokens_allowed = 1000000 where status in ('pending', 'running') and attempts > 0;

drop index memory.jobs_pending_idx;
-- A user's place is a hash, which has one size whatever the id is, and no collation; halved, so that there is room
-- before the first and after the last.
create index jobs_turn_idx on memory.jobs (kind, (hashtextextended(user_id, 0) / 2), run_after, job_id)
  where status = 'pending' and not is_delayed;
create index jobs_delayed_idx on memory.jobs (run_after, job_id) where status = 'pending' and is_delayed;
create index jobs_running_idx on memory.jobs (user_id) where status = 'running';

-- The place of the user who had the last turn. Sequences, because they know no transactions: no claim waits for
-- another to note where it is, and a claim that fails does not begin with the same user again. Claims for other kinds
-- go round by themselves, or else one that wants only embeddings would pass by users whom another must not miss.
do $turns$
declare
  kinds text;
begin
  foreach kinds in array array['all', 'some', 'extract_memories', 'summarize_thread', 'compress_thread',
    'summarize_user',
    'reconcile_memories', 'consolidate', 'embed', 'backfill', 'chunk_documents'] loop
    execute format('create sequence memory.%I minvalue -4611686018427387904 start 0', 'turn_of_' || kinds);
    execute format('comment on sequence memory.%I is %L', 'turn_of_' || kinds,
                   format('Which user had the last turn among claims of %s: a hash of the id, halved.',
                          case kinds when 'all' then 'all kinds' when 'some' then 'several kinds'
                            else 'this kind' end));
  end loop;
end;
$turns$;
comment on column memory.marks.position is
'extract_memories and summarize_user: the seq up to which the thread was read. words: the seq up to which '
'memory.sweep() has checked that messages are parsed. extractions: how many there were. claims: how many claims took '
'jobs of the user; whoever does holds this row. reconcile_memories, consolidate: the time of the newest memory looked '
'at, in microseconds since 1970.';

create table memory.agent_budgets (
  agent_id text primary key,
  checks bigint not null default 1
);
comment on table memory.agent_budgets is
'Agents that have a budget: claims that check it hold its row, so that two of them cannot both take the last tokens.';
comment on column memory.agent_budgets.checks is
'Counts the checks: each claim writes the row, so that a concurrent claim under REPEATABLE READ fails.';

create table memory.gone_jobs (
  user_id text not null,
  job_id bigint not null,
  kind text not null,
  agent_id text,
  model text,
  calls_left int not null,
  tokens_left bigint not null,
  gone_at timestamptz not null default statement_timestamp(),
  primary key (user_id, job_id)
);
create index gone_jobs_gone_at_idx on memory.gone_jobs (gone_at);
comment on table memory.gone_jobs is
'Jobs that were deleted, with their thread as a rule, while a worker may have been at them: memory.record_calls() can '
'still enter what they took. memory.sweep() removes them after 7 days.';
comment on column memory.gone_jobs.calls_left is 'Model calls that may still be entered, as tokens_left for tokens.';
