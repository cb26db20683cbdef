-- What goes at the limit and can come back, what returns when its winner goes, and keys that outlive their messages.

-- A column of its own, so that the rule stands in one place (the trigger) and the index below can begin with it. Not a
-- generated column: that would write the table anew, and the planner takes an empty table that was written anew for one
-- that stays empty, so that a first load reads all memories of its agent for each memory.
alter table memory.memories add column is_stated boolean not null default true;
alter table memory.memories disable trigger user;
update memory.memories set is_stated = false where source in ('extraction', 'reconciliation');
alter table memory.memories enable trigger user;
comment on column memory.memories.is_stated is
'Whether somebody stated it; false when a model drew it from what was said.';

alter table memory.memories drop constraint operation_is_known;
alter table memory.memories add constraint operation_is_known
  check (operation in ('insert', 'update', 'supersede', 'delete', 'evict', 'restore'));
comment on column memory.memories.operation is
'The change that made this version; evict: it gave way to others at the limit.';

-- The memory that matters least comes first, which is what the limit takes.
create index memories_least_idx on memory.memories (user_id, agent_id, is_stated, importance, created_at, memory_id)
  where superseded_at is null and deleted_at is null;
create index memories_superseded_by_idx on memory.memories (user_id, superseded_by) where superseded_by is not null;

alter table memory.memory_history add column superseded_by uuid, add column supersede_reason text;
comment on column memory.memory_history.superseded_by is 'The memory or document that hid this version.';
create index memory_history_superseded_by_idx on memory.memory_history (user_id, superseded_by)
  where superseded_by is not null;

alter table memory.memory_scopes add column extracted_on date, add column extracted_count int not null default 0;
comment on column memory.memory_scopes.extracted_on is 'The day (UTC) that extracted_count counts.';
comment on column memory.memory_scopes.extracted_count is
'Memories that models extracted on that day, which policy memories.max_extracted_per_day limits.';

create table memory.idempotency_keys (
  user_id text not null,
  thread_id text not null,
  idempotency_key text not null,
  seq bigint not null,
  digest text not null,
  token_count int not null,
  primary key (user_id, thread_id, idempotency_key)
);
comment on table memory.idempotency_keys is
'Keys of messages that are no longer stored: a retry is still no new message. They go with their thread.';
comment on column memory.idempotency_keys.digest is
'Tells the same message from another one under the key: SHA-256 of role and content, which are not kept.';

-- Times that no client can read, and that the rules refuse from now on, become the nearest that one can: an update of
-- such a row would fail otherwise, and a sweep with it. Triggers would count that as changes.
do $times$
declare
  earliest constant timestamptz := '0001-01-02 00:00+00';
  latest constant timestamptz := '9999-12-30 00:00+00';
  changed text;
begin
  foreach changed in array array['messages', 'memories', 'documents', 'artifacts', 'embeddings'] loop
    execute format('alter table memory.%I disable trigger user', changed);
    execute format('update memory.%I set created_at = least(greatest(created_at, $1), $2) '
                   'where created_at not between $1 and $2', changed)
      using earliest, latest;
  end loop;
  update memory.threads set first_at = least(greatest(first_at, earliest), latest),
    last_at = least(greatest(last_at, earliest), latest)
  where first_at not between earliest and latest or last_at not between earliest and latest;
  update memory.messages set expires_at = 'infinity' where expires_at between latest and timestamptz '290000-01-01';
  update memory.memories
  set valid_from = case when valid_from < earliest then '-infinity' when valid_from <= latest then valid_from end,
      valid_to = case when valid_to < earliest then '-infinity' when valid_to <= latest then valid_to end,
      expires_at = case when expires_at <= latest then greatest(expires_at, earliest) end
  where valid_from not between earliest and latest or valid_to not between earliest and latest
    or expires_at not between earliest and latest;
  update memory.artifacts set expires_at = null where expires_at > latest;
  foreach changed in array array['messages', 'memories', 'documents', 'artifacts', 'embeddings'] loop
    execute format('alter table memory.%I enable trigger user', changed);
  end loop;
end;
$times$;
