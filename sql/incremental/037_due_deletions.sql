-- When what applications have deleted goes for good. Not a column of messages or memories: one row here stands for all
-- that was deleted of a thread, or of a user's memories, within an hour.
create table memory.due_deletions (
  user_id text not null,
  thread_id text not null default '',
  deleted_before timestamptz not null,
  due_at timestamptz not null,
  primary key (user_id, thread_id, deleted_before)
);
create index due_deletions_due_at_idx on memory.due_deletions (due_at);
comment on table memory.due_deletions is
'Soft deletions that calls and workers finish when they are due (policy erasure.delete_after), without '
'memory.sweep().';
comment on column memory.due_deletions.thread_id is
'The thread whose cleared messages go; empty for the deleted memories of the user.';
comment on column memory.due_deletions.deleted_before is
'The end of the hour in which they were deleted: what was deleted later has a row of its own.';

-- What was deleted before this table was there. The rows are few, and partial indexes find them.
insert into memory.due_deletions (user_id, thread_id, deleted_before, due_at)
select m.user_id, m.thread_id, statement_timestamp(), statement_timestamp() + interval '30 days'
from memory.messages as m where not m.is_active and m.summary_id is null
group by m.user_id, m.thread_id
union all
select m.user_id, '', statement_timestamp(), statement_timestamp() + interval '30 days'
from memory.memories as m where m.deleted_at is not null
group by m.user_id;
