-- From 0.1.0 to 0.2.0: how a database of 0.1.0 gets the tables and types that tables.sql and types.sql of the rooms
-- describe. Each installation adds comments, statistics targets, policies and kinds of jobs by itself.

-- Columns. None of them writes a table anew.
--
-- is_stated is no generated column: that would write the table anew, and the planner takes an empty table that was
-- written anew for one that stays empty, so that a first load reads all memories of its agent for each memory.
--
-- PostgreSQL reads and plans the check constraints of a table anew in each statement: those that go took a tenth of the
-- instructions of add_memory (PostgreSQL 15). The triggers of memories apply the same rules.
alter table memory.memories
  drop constraint metadata_is_object,
  drop constraint confidence_is_share,
  drop constraint importance_is_share,
  drop constraint operation_is_known,
  add column is_stated boolean not null default true,
  add column said_at timestamptz,
  add column trust real not null default 1.0,
  add column quarantined_at timestamptz,
  add column quarantine_reason text,
  add column quarantined_with text,
  add column released_at timestamptz;
alter table memory.memory_history add column superseded_by uuid, add column supersede_reason text;
alter table memory.memory_scopes
  add column extracted_on date,
  add column extracted_count int not null default 0;
-- The threads of 0.1.0 start at 0: their summaries were made after each round.
alter table memory.threads
  add column tokens_since_summary bigint not null default 0,
  add column title text,
  add column metadata jsonb,
  add column settled_at timestamptz;
alter table memory.memory_types add column is_general boolean not null default true;
alter table memory.messages
  add column search_keys int[],
  add column artifact_key text,
  add column content_digest text;
alter table memory.artifacts
  add column content_id uuid,
  add column check_at timestamptz,
  add column awaits_description boolean not null default false,
  add column quarantined_at timestamptz,
  add column quarantine_reason text,
  add column released_at timestamptz;
alter table memory.documents
  add column trust real not null default 1.0,
  add column quarantined_at timestamptz,
  add column quarantine_reason text,
  add column quarantined_with text,
  add column released_at timestamptz,
  add constraint trust_is_share check (trust between 0 and 1);
alter table memory.summaries
  add column quarantined_at timestamptz,
  add column quarantine_reason text,
  drop constraint status_is_known,
  drop constraint completed_has_text;
alter table memory.summaries
  add constraint status_is_known check (status in ('processing', 'completed', 'failed', 'quarantined')),
  add constraint completed_has_text check ((status in ('completed', 'quarantined')) = (summary is not null)),
  add constraint quarantine_is_whole check ((status = 'quarantined') = (quarantined_at is not null)),
  alter constraint summaries_user_id_base_summary_id_fkey deferrable initially immediate;
alter table memory.models add column is_off boolean not null default false;
alter table memory.jobs
  add column is_delayed boolean not null default false,
  add column tokens_allowed bigint not null default 0,
  add column tokens_entered bigint not null default 0,
  add column calls_entered int not null default 0,
  add column variant text not null default '';
alter table memory.embeddings add column code bit varying;
alter table memory.embeddings alter column code set storage main;

-- A trigger for inserts and one for updates take the place of this one.
drop trigger memory_100_before_write on memory.memories;

-- Tables.
create table memory.texts_to_embed (
  user_id text not null,
  source text not null,
  id text not null,
  entry uuid not null default gen_random_uuid(),
  primary key (user_id, source, id, entry)
);
-- The first sweep queues a job for each user, which looks for texts without an embedding.
insert into memory.texts_to_embed (user_id, source, id)
select u.user_id, '', ''
from (select s.user_id from memory.memory_scopes as s union select d.user_id from memory.documents as d
      union select a.user_id from memory.artifacts as a) as u
where exists (select from memory.models as m where m.kind = 'embedding' and m.is_active);
create table memory.memory_uses (
  user_id text not null,
  memory_id uuid not null,
  used bigint not null default 0,
  helpful bigint not null default 0,
  wrong bigint not null default 0,
  outcome text not null,
  thread_id text,
  updated_at timestamptz not null,
  primary key (user_id, memory_id)
) with (fillfactor = 50);
create table memory.idempotency_keys (
  user_id text not null,
  thread_id text not null,
  idempotency_key text not null,
  seq bigint not null,
  digest text not null,
  token_count int not null,
  primary key (user_id, thread_id, idempotency_key)
);

create table memory.agent_budgets (
  agent_id text primary key,
  checks bigint not null default 1
);

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

create table memory.artifact_parts (
  user_id text not null,
  content_id uuid not null,
  first_byte int not null,
  first_line int not null,
  content text not null,
  search_vector tsvector,
  primary key (user_id, content_id, first_byte)
);
create index artifact_parts_lines_idx on memory.artifact_parts (user_id, content_id, first_line, first_byte);
create index artifact_parts_unparsed_idx on memory.artifact_parts (user_id, content_id, first_byte)
  where search_vector is null;

create table memory.artifact_uploads (
  user_id text not null,
  upload_id uuid not null,
  updated_at timestamptz not null default statement_timestamp(),
  primary key (user_id, upload_id)
);
create index artifact_uploads_updated_at_idx on memory.artifact_uploads (updated_at);

create table memory.checkpoints (
  user_id text not null,
  thread_id text not null,
  namespace text not null,
  checkpoint_id text not null,
  parent_id text,
  checkpoint jsonb not null,
  metadata jsonb not null default '{}',
  created_at timestamptz not null default statement_timestamp(),
  expires_at timestamptz,
  primary key (user_id, thread_id, namespace, checkpoint_id)
);
create index checkpoints_run_idx on memory.checkpoints (user_id, (metadata ->> 'run_id')) where metadata ? 'run_id';
create index checkpoints_expiry_idx on memory.checkpoints (user_id, thread_id, expires_at)
  where expires_at is not null;
create index checkpoints_expires_at_idx on memory.checkpoints (expires_at) where expires_at is not null;

create table memory.checkpoint_blobs (
  user_id text not null,
  thread_id text not null,
  namespace text not null,
  channel text not null,
  version text not null,
  type text not null,
  blob bytea,
  primary key (user_id, thread_id, namespace, channel, version)
);

create table memory.checkpoint_writes (
  user_id text not null,
  thread_id text not null,
  namespace text not null,
  checkpoint_id text not null,
  task_id text not null,
  place int not null,
  channel text not null,
  type text not null,
  blob bytea,
  task_path text not null default '',
  primary key (user_id, thread_id, namespace, checkpoint_id, task_id, place)
);
create table memory.moved_users (
  user_id text primary key,
  contents jsonb not null,
  moved_at timestamptz not null default statement_timestamp()
);

create table memory.secrets (
  user_id text not null,
  name text not null,
  key_id bytea not null,
  sealed bytea not null,
  created_at timestamptz not null default statement_timestamp(),
  updated_at timestamptz not null default statement_timestamp(),
  primary key (user_id, name)
);
create index secrets_key_id_idx on memory.secrets (key_id); -- for memory.reencrypt_secrets()

create table memory.secret_reads (
  read_at timestamptz not null default clock_timestamp(),
  user_id text not null,
  name text not null,
  role text not null,
  login_role text not null default session_user
);
create index secret_reads_user_idx on memory.secret_reads (user_id, read_at);
create index secret_reads_read_at_idx on memory.secret_reads (read_at); -- for memory.sweep()

create table memory.erasure_keys (
  inner_block bytea not null primary key,
  outer_block bytea not null,
  made_at timestamptz not null default statement_timestamp()
);

create table memory.tombstones (
  user_hash bytea not null,
  statement_hash bytea not null default '',
  forgotten_at timestamptz not null default statement_timestamp(),
  primary key (user_hash, statement_hash)
);

create table memory.receipts (
  receipt_id uuid primary key,
  subject text not null,
  user_hash bytea not null,
  reason text,
  tables jsonb not null,
  forgotten_at timestamptz not null,
  constraint subject_is_known check (subject in ('memory', 'user'))
);

create table memory.whole_user_changes (
  transaction_id xid8 not null,
  change_name text not null,
  primary key (transaction_id, change_name)
);

create table memory.due_deletions (
  user_id text not null,
  thread_id text not null default '',
  deleted_before timestamptz not null,
  due_at timestamptz not null,
  primary key (user_id, thread_id, deleted_before)
);
create index due_deletions_due_at_idx on memory.due_deletions (due_at);

create table memory.bound_roles (
  role_name name primary key,
  user_id text,
  bound_at timestamptz not null default statement_timestamp(),
  claims_setting text,
  constraint has_one_user check ((user_id is null) <> (claims_setting is null))
);

create table memory.token_keys (
  is_previous boolean primary key,
  inner_block bytea not null,
  outer_block bytea not null,
  set_at timestamptz not null default statement_timestamp()
);

create table memory.role_grants (
  role_name name not null,
  object text not null,
  role_oid oid not null,
  granted_at timestamptz not null default statement_timestamp(),
  primary key (role_name, object)
);

create table memory.spaces (
  user_id text primary key,
  title text,
  metadata jsonb not null default '{}',
  created_at timestamptz not null default statement_timestamp()
);

create table memory.space_grants (
  user_id text not null,
  member text not null,
  access text not null,
  granted_at timestamptz not null default statement_timestamp(),
  primary key (user_id, member),
  constraint access_is_known check (access in ('read', 'write'))
);
create index space_grants_member_idx on memory.space_grants (member);

create table memory.space_writes (
  user_id text not null,
  member text not null,
  source text not null,
  id text not null,
  primary key (user_id, source, id, member)
);
create index space_writes_member_idx on memory.space_writes (member, user_id);

create table memory.quarantined_messages (
  user_id text not null,
  thread_id text not null,
  seq bigint not null,
  content text not null,
  content_digest text not null,
  reason text not null,
  quarantined_at timestamptz not null default statement_timestamp(),
  released_at timestamptz,
  primary key (user_id, thread_id, seq)
);

create table memory.audit (
  audit_id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  login_role text not null default session_user,
  role text not null,
  function text not null,
  user_id text,
  details jsonb not null default '{}'
);
create index audit_at_idx on memory.audit (at); -- for memory.sweep() and for readings of a time
create index audit_user_idx on memory.audit (user_id) where user_id is not null; -- for the erasure of a user

create table memory.imports (
  transaction_id xid8 primary key,
  user_hash bytea not null,
  rows_given bigint not null default 0,
  rows_stored bigint not null default 0
);

create table memory.cluster_map (
  is_map boolean primary key default true check (is_map),
  version bigint not null,
  partitions text[] not null,
  users jsonb not null default '{}',
  moving text[] not null default '{}',
  nodes jsonb not null,
  node text not null,
  changed_at timestamptz not null default clock_timestamp()
);
create table memory.merged_users (
  user_id text not null,
  former_user_id text not null,
  merged_at timestamptz not null default statement_timestamp(),
  primary key (user_id, former_user_id)
);
create table memory.user_locks (
  user_hash bytea primary key
);

create sequence memory.cluster_map_lock;

create sequence memory.turn_of_all minvalue -4611686018427387904 start 0;
create sequence memory.turn_of_some minvalue -4611686018427387904 start 0;

alter table memory.bound_roles enable row level security;
alter table memory.token_keys enable row level security;
alter table memory.role_grants enable row level security;
alter table memory.erasure_keys enable row level security;
alter table memory.tombstones enable row level security;
alter table memory.whole_user_changes enable row level security;
alter table memory.imports enable row level security;
alter table memory.user_locks enable row level security;

do $key$
declare
  key constant bytea := sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
    || uuid_send(gen_random_uuid()));
  inner_block bytea := decode(repeat('36', 64), 'hex');
  outer_block bytea := decode(repeat('5c', 64), 'hex');
begin
  for place in 0 .. 31 loop
    inner_block := set_byte(inner_block, place, get_byte(inner_block, place) # get_byte(key, place));
    outer_block := set_byte(outer_block, place, get_byte(outer_block, place) # get_byte(key, place));
  end loop;
  insert into memory.erasure_keys (inner_block, outer_block) values (inner_block, outer_block);
end;
$key$;

-- Types.
alter type memory.memory
  add attribute source text, add attribute source_seqs bigint[], add attribute trust real,
  add attribute quarantined_at timestamptz, add attribute quarantine_reason text, add attribute space text;
alter type memory.document
  add attribute trust real, add attribute quarantined_at timestamptz, add attribute quarantine_reason text;
alter type memory.thread_summary add attribute kind text;
alter type memory.thread add attribute title text, add attribute metadata jsonb;
alter type memory.search_result add attribute valid_from timestamptz;
create type memory.space as (
  space text, title text, access text, member_count bigint, memory_count bigint, created_at timestamptz,
  total_count bigint, metadata jsonb
);
create type memory.shortened_message as (
  content text, metadata jsonb, token_count int, artifact_key text, content_digest text, memory_ref text
);
create type memory._search_filters as (
  thread_id text, exclude_thread_id text, memory_types text[], tags_all text[], tags_any text[],
  exclude_tags text[], filter jsonb, min_confidence double precision, created_after timestamptz,
  created_before timestamptz, as_of timestamptz, include_superseded boolean, doc_types text[], namespaces text[]
);
create type memory.secret as (name text, created_at timestamptz, updated_at timestamptz);
create type memory.checkpoint as (
  thread_id text, namespace text, checkpoint_id text, parent_id text, checkpoint jsonb, metadata jsonb,
  created_at timestamptz, channels text[], types text[], blobs bytea[], write_tasks text[], write_channels text[],
  write_types text[], write_blobs bytea[]
);
create type memory.quarantined as (
  source text, id text, content text, trust real, quarantined_at timestamptz, reason text, quarantined_with text,
  total_count bigint
);
create type memory._message_candidates as (
  thread_ids text[], seqs bigint[], texts bigint, frequencies bigint[], lowest double precision,
  deviation double precision
);
create type memory._candidate as (
  source text, id text, thread_id text, number bigint, created_at timestamptz, similarity double precision,
  vector tsvector, content text, metadata jsonb
);
create type memory._scored as (
  source text, id text, thread_id text, number bigint, created_at timestamptz, similarity double precision,
  keyword double precision, terms jsonb, vector_rank bigint, keyword_rank bigint, keyword_share double precision,
  keyword_around double precision, keyword_weight double precision, score double precision,
  neighbour double precision, reply double precision, speaker double precision, dates double precision,
  newer double precision, result double precision
);
create type memory.memory_need as (decision text, reason text, details jsonb);
create type memory._passage as (key text, content_id uuid, first_byte int, end_byte int, score double precision);
create type memory._recalled as (
  thread_id text, seq bigint, line text, token_count int, said_on date, said_at timestamptz, score real,
  of_hit bigint, wording text, keys text[]
);

-- Rows. Each step finds the rows as the steps before it have left them.

-- Triggers would take the steps for changes by users. The last step gives each trigger the state back that it has now.
do $pause$
declare
  changed constant text[] := array['messages', 'memories', 'documents', 'artifacts', 'embeddings'];
begin
  perform set_config('agent_memory.paused_triggers', (
    select coalesce(jsonb_agg(format('alter table memory.%I %s trigger %I', c.relname, case t.tgenabled
        when 'O' then 'enable' when 'R' then 'enable replica' else 'enable always' end, t.tgname)), '[]')::text
    from pg_trigger as t
    join pg_class as c on c.oid = t.tgrelid
    where c.relnamespace = 'memory'::regnamespace and c.relname = any (changed)
      and not t.tgisinternal and t.tgenabled <> 'D'), true);
  for place in 1 .. cardinality(changed) loop
    execute format('alter table memory.%I disable trigger user', changed[place]);
  end loop;
end;
$pause$;

-- What a model drew from messages was not stated.
update memory.memories set is_stated = false where source in ('extraction', 'reconciliation');

-- Times that no client can read, and that the rules refuse from now on, become the nearest that one can: an update of
-- such a row would fail otherwise, and a sweep with it.
do $times$
declare
  earliest constant timestamptz := '0001-01-02 00:00+00';
  latest constant timestamptz := '9999-12-30 00:00+00';
  changed text;
begin
  foreach changed in array array['messages', 'memories', 'documents', 'artifacts', 'embeddings'] loop
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
end;
$times$;

-- Jobs that wait for their time.
update memory.jobs set is_delayed = true where status = 'pending' and run_after > statement_timestamp();
-- Those that were handed out before there was a limit.
update memory.jobs set tokens_allowed = 1000000 where status in ('pending', 'running') and attempts > 0;

-- An embedding of zeros is as near to everything as to nothing. Whatever is embedded so is embedded again.
do $zeros$
declare
  vector_schema constant text := current_setting('agent_memory.vector_schema');
begin
  execute format('delete from memory.embeddings where %I.l2_norm(embedding) = 0', vector_schema);
  execute format('delete from memory.query_embeddings where %I.l2_norm(embedding) = 0', vector_schema);
  execute format('alter table memory.embeddings add constraint embedding_has_a_direction check (%I.l2_norm(embedding) > 0)', vector_schema);
  execute format('alter table memory.query_embeddings add constraint embedding_has_a_direction check (%I.l2_norm(embedding) > 0)', vector_schema);
end;
$zeros$;

-- What was kept until now may repeat prompts. What kind of failure it was stays.
update memory.model_calls as c
set error = coalesce(substring(c.error from '^(Error code: [0-9]{3}|no reply from [^ ]+|no answer from the model|the model refused|the reply|cancelled|[A-Z][A-Za-z]*Error)'),
                     'failed') || ' (the rest was removed)'
where c.error is not null and c.error <> 'cancelled' and c.error not like 'the lease of worker %';
update memory.jobs as j
set error = coalesce(substring(j.error from '^(Error code: [0-9]{3}|no reply from [^ ]+|no answer from the model|the model refused|the reply|result|[A-Z][A-Za-z]*Error)'),
                     'failed') || ' (the rest was removed)'
where j.error is not null and j.error not like 'AM002%' and j.error not like 'the lease of worker %';

-- The next sweeps check all messages again, also compressed ones, and fill search_keys.
delete from memory.marks where kind = 'words';

-- The hashes of memories with such blanks, spelled as memory._plainly_spelled() does. Two current memories that differ
-- in blanks only cannot have one hash: the older one gets it, unless a memory without such blanks has it already, and
-- the others keep the hash that they have, so that none is lost.
do $hashes$
declare
  wide constant text := e'\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
  of_no_width constant text := e'\\u200b\\u2060\\ufeff';
begin
  with respelled as materialized (
    select m.user_id, m.memory_id, m.agent_id, m.memory_type, m.created_at,
      m.superseded_at is null and m.deleted_at is null as is_current,
      left(encode(sha256(convert_to(btrim(regexp_replace(regexp_replace(regexp_replace(lower(m.content),
        '[' || of_no_width || ']', '', 'g'), '[' || wide || ']', ' ', 'g'), e'\\s+', ' ', 'g')), 'UTF8')), 'hex'), 32)
        as content_hash
    from memory.memories as m
    where octet_length(m.content) > length(m.content) and m.content ~ ('[' || wide || of_no_width || ']')
  ), placed as (
    select r.*, row_number() over (
        partition by r.user_id, r.agent_id, r.memory_type, r.content_hash, r.is_current
        order by r.created_at, r.memory_id) as place
    from respelled as r
  )
  update memory.memories as m
  set content_hash = p.content_hash
  from placed as p
  where m.user_id = p.user_id and m.memory_id = p.memory_id and m.content_hash <> p.content_hash
    and (not p.is_current or p.place = 1 and not exists (
      select from memory.memories as o
      where o.user_id = p.user_id and o.agent_id = p.agent_id and o.memory_type = p.memory_type
        and o.content_hash = p.content_hash and o.superseded_at is null and o.deleted_at is null));
end;
$hashes$;

-- The contents that are there already, cut as memory._append_content() cuts: the first 48 KiB into parts of at most
-- 3 KiB, the rest into parts of at most 32 KiB. The words of a content that becomes one part are kept.
do $parts$
declare
  artifact record;
  id uuid;
  bytes bytea;
  size int;
  starts int;
  ends int;
  lines int;
  piece text;
  back int;
begin
  for artifact in select a.user_id, a.key from memory.artifacts as a loop
    select convert_to(a.content, 'UTF8') into bytes
    from memory.artifacts as a where a.user_id = artifact.user_id and a.key = artifact.key;
    id := gen_random_uuid();
    size := octet_length(bytes);
    starts := 0;
    lines := 0;
    while starts < size loop
      ends := least(starts + case when starts < 49152 then 3072 else 32768 end, size);
      while ends < size and get_byte(bytes, ends) & 192 = 128 loop -- the inner bytes of a character
        ends := ends - 1;
      end loop;
      piece := convert_from(substring(bytes from starts + 1 for ends - starts), 'UTF8');
      if ends < size then
        back := coalesce(nullif(strpos(reverse(piece), e'\n'), 0), nullif(strpos(reverse(piece), ' '), 0), 1) - 1;
        if back > 0 then
          piece := left(piece, -back);
        end if;
      end if;
      insert into memory.artifact_parts (user_id, content_id, first_byte, first_line, content)
      values (artifact.user_id, id, starts, lines, piece);
      starts := starts + octet_length(convert_to(piece, 'UTF8'));
      lines := lines + octet_length(piece) - octet_length(replace(piece, e'\n', ''));
    end loop;
    update memory.artifacts as a set content_id = id where a.user_id = artifact.user_id and a.key = artifact.key;
  end loop;
  update memory.artifact_parts as p
  set search_vector = a.search_vector
  from memory.artifacts as a
  where p.user_id = a.user_id and p.content_id = a.content_id and a.content = p.content;
  -- Embeddings have the id of their part from now on. The mark before it keeps that of artifact "a" apart from the
  -- embedding of an artifact with the key "a/0".
  update memory.embeddings as e
  set id = e'\x01' || e.id || '/0'
  from memory.artifacts as a
  where e.source = 'artifact' and a.user_id = e.user_id and a.key = e.id and exists (
    select from memory.artifact_parts as p
    where p.user_id = a.user_id and p.content_id = a.content_id and p.content = a.content);
  delete from memory.embeddings as e
  where e.source = 'artifact' and exists (
    select from memory.artifacts as a where a.user_id = e.user_id and a.key = e.id);
  update memory.embeddings as e set id = substr(e.id, 2) where e.source = 'artifact' and e.id like e'\x01%';
  alter table memory.artifacts alter column content drop not null;
  update memory.artifacts set content = null;
end;
$parts$;

alter table memory.artifacts drop column search_vector;
alter table memory.artifacts alter column content_id set not null;

-- What was deleted before this table was there. The rows are few, and partial indexes find them.
insert into memory.due_deletions (user_id, thread_id, deleted_before, due_at)
select m.user_id, m.thread_id, statement_timestamp(), statement_timestamp() + interval '30 days'
from memory.messages as m where not m.is_active and m.summary_id is null
group by m.user_id, m.thread_id
union all
select m.user_id, '', statement_timestamp(), statement_timestamp() + interval '30 days'
from memory.memories as m where m.deleted_at is not null
group by m.user_id;

-- Ids that begin with "space:" are those of spaces from now on. Users who have such an id become spaces that nobody is
-- granted, so that applications and memory.sweep() reach them as before.
insert into memory.spaces (user_id)
select u.user_id
from (
  select t.user_id from memory.threads as t
  union select s.user_id from memory.memory_scopes as s
  union select d.user_id from memory.documents as d
  union select a.user_id from memory.artifacts as a
  union select j.user_id from memory.jobs as j
  union select p.user_id from memory.policies as p) as u
where starts_with(u.user_id, 'space:');

-- No rule has looked at what is stored already. memory.sweep() looks at it in batches: of a thread at the messages up
-- to the mark, of a user (scope '') at the memories and documents that were stored before it.
insert into memory.marks (user_id, scope, kind, position)
select t.user_id, t.thread_id, 'unchecked', t.next_seq - 1 from memory.threads as t where t.next_seq > 0
union all
select u.user_id, '', 'unchecked', floor(extract(epoch from statement_timestamp()) * 1000000)::bigint
from (select m.user_id from memory.memories as m union select d.user_id from memory.documents as d) as u
on conflict do nothing;

-- Rules look at artifacts, too. memory.sweep() looks at those that are stored already.
insert into memory.marks (user_id, scope, kind, position)
select distinct a.user_id, '', 'unchecked_artifacts',
  floor(extract(epoch from statement_timestamp()) * 1000000)::bigint
from memory.artifacts as a
on conflict do nothing;

-- Rules look at all of a document, not at its first 64 KiB. memory.sweep() looks at those that are stored already, a
-- few at a time, apart from the memories.
insert into memory.marks (user_id, scope, kind, position)
select distinct d.user_id, '', 'unchecked_documents',
  floor(extract(epoch from statement_timestamp()) * 1000000)::bigint
from memory.documents as d
on conflict do nothing;

-- Summaries can be in quarantine, and rules look at those that are stored already.
insert into memory.marks (user_id, scope, kind, position)
select distinct s.user_id, '', 'unchecked_summaries',
  floor(extract(epoch from statement_timestamp()) * 1000000)::bigint
from memory.summaries as s where s.status = 'completed'
on conflict do nothing;

-- One memory for one wording: the same words of an agent are one memory, whatever type they were stored as. Earlier
-- versions stored them once per type. Of those the memory stays that has not expired, was stated, is more than a plain
-- fact, and came first, in this order; it hides the others as duplicates, so that none is lost. What triggers would do
-- besides is done here.
with duplicates as materialized (
  select w.user_id, w.memory_id, w.agent_id, w.winner
  from (
    select m.user_id, m.memory_id, m.agent_id, first_value(m.memory_id) over (
        partition by m.user_id, m.agent_id, m.content_hash
        order by coalesce(m.expires_at <= statement_timestamp(), false), m.is_stated desc, m.memory_type = 'fact',
          m.created_at, m.memory_id) as winner
    from memory.memories as m
    where m.superseded_at is null and m.deleted_at is null) as w
  where w.winner <> w.memory_id
), kept as (
  insert into memory.memory_history (
    user_id, memory_id, version, operation, content, metadata, tags, confidence, importance, expires_at, changed_at,
    changed_by)
  select m.user_id, m.memory_id, m.version, m.operation, m.content, m.metadata, m.tags, m.confidence, m.importance,
    m.expires_at, m.updated_at, m.changed_by
  from duplicates as d join memory.memories as m on m.user_id = d.user_id and m.memory_id = d.memory_id
), unfindable as (
  update memory.embeddings as e
  set valid_until = '-infinity'
  from duplicates as d
  where e.user_id = d.user_id and e.source = 'memory' and e.id = d.memory_id::text
), counted as (
  update memory.memory_scopes as s
  set memory_count = s.memory_count - d.hidden
  from (select x.user_id, x.agent_id, count(*) as hidden from duplicates as x group by x.user_id, x.agent_id) as d
  where s.user_id = d.user_id and s.agent_id = d.agent_id
)
update memory.memories as m
set superseded_by = d.winner, supersede_reason = 'duplicate', superseded_at = statement_timestamp(),
    updated_at = statement_timestamp(), version = m.version + 1, operation = 'supersede', changed_by = session_user
from duplicates as d
where m.user_id = d.user_id and m.memory_id = d.memory_id;

-- The words of texts are parsed by the language of each text. The words of earlier texts were all parsed by
-- search.language: these watermarks have jobs parse them anew, and meanwhile a search compares the query in that
-- language.
insert into memory.marks (user_id, scope, kind, position)
select u.user_id, 'language:' || coalesce(
    (select p.settings #>> '{search,language}' from memory.policies as p where p.user_id = '' and p.agent_id = ''),
    'english'), 'language', (extract(epoch from statement_timestamp()) * 1000000)::bigint
from (
  select t.user_id from memory.threads as t
  union select s.user_id from memory.memory_scopes as s
  union select d.user_id from memory.documents as d
  union select a.user_id from memory.artifacts as a) as u
order by u.user_id;

do $resume$
declare
  statement text;
begin
  for statement in select jsonb_array_elements_text(current_setting('agent_memory.paused_triggers')::jsonb) loop
    execute statement;
  end loop;
end;
$resume$;

-- Indexes.
drop index memory.memories_content_hash_idx, memory.messages_inactive_idx, memory.jobs_one_open_idx,
  memory.jobs_pending_idx, memory.summaries_thread_idx;
create index policies_language_idx on memory.policies (user_id) where settings -> 'search' ? 'language';
create index jobs_dead_idx on memory.jobs (finished_at) where status = 'dead';
create index jobs_delayed_idx on memory.jobs (run_after, job_id) where status = 'pending' and is_delayed;
create index jobs_failed_idx on memory.jobs (run_after) where status = 'pending' and error is not null;
create unique index jobs_one_open_idx on memory.jobs (user_id, kind, scope, variant)
  where status in ('pending', 'running');
create index jobs_running_idx on memory.jobs (user_id) where status = 'running';
create index jobs_turn_idx on memory.jobs (kind, (hashtextextended(user_id, 0) / 2), run_after, job_id)
  where status = 'pending' and not is_delayed;
create index threads_unsettled_idx on memory.threads (user_id, thread_id) where settled_at is null;
create index threads_settled_idx on memory.threads (user_id, settled_at desc, thread_id) where settled_at is not null;
create index marks_words_idx on memory.marks (user_id, (hashtextextended(scope, 0))) include (scope)
  where kind || '' = 'words';
create index marks_languages_idx on memory.marks (user_id) where kind in ('language', 'parsed_anew');
create index embeddings_codes_idx on memory.embeddings (user_id, model, created_at)
  include (id, agent_id, code)
  where source = 'message' and code is not null;
create index embeddings_uncoded_idx on memory.embeddings (user_id, model) where source = 'message' and code is null;
create index artifacts_check_at_idx on memory.artifacts (check_at) where check_at < 'infinity';
create unique index artifacts_content_idx on memory.artifacts (user_id, content_id);
create index artifacts_undescribed_idx on memory.artifacts (user_id, created_at, key) where awaits_description;
create index messages_artifact_idx on memory.messages (user_id, thread_id, artifact_key)
  where artifact_key is not null;
create index messages_artifact_seq_idx on memory.messages (user_id, thread_id, seq) where artifact_key is not null;
create index messages_cleared_idx on memory.messages (user_id, thread_id) where not is_active and summary_id is null;
create index messages_search_keys_idx on memory.messages using gin (search_keys)
  with (fastupdate = on, gin_pending_list_limit = 128)
  where search_keys is not null;
create index summaries_thread_idx on memory.summaries (user_id, thread_id, kind, status, end_seq desc, summary_id desc);
create unique index memories_wording_idx on memory.memories (user_id, agent_id, content_hash)
  where superseded_at is null and deleted_at is null;
create index memories_hidden_hash_idx on memory.memories (user_id, agent_id, content_hash)
  where superseded_at is not null and deleted_at is null;
create index memories_least_idx on memory.memories (user_id, agent_id, is_stated, importance, created_at, memory_id)
  where superseded_at is null and deleted_at is null;
create index memories_profile_idx
  on memory.memories (user_id, memory_type, importance desc, created_at desc, memory_id desc)
  include (agent_id, expires_at, valid_to)
  where superseded_at is null and deleted_at is null and memory_type in ('preference', 'fact');
create index memories_quarantined_idx on memory.memories (user_id, agent_id, content_hash)
  where quarantined_at is not null;
create index memories_superseded_by_idx on memory.memories (user_id, superseded_by) where superseded_by is not null;
create index memory_history_superseded_by_idx on memory.memory_history (user_id, superseded_by)
  where superseded_by is not null;
