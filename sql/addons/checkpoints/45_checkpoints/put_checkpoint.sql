create or replace function memory.put_checkpoint(
  user_id text, thread_id text, checkpoint_id text, checkpoint jsonb, metadata jsonb default '{}',
  namespace text default '', parent_id text default null, channels text[] default '{}', versions text[] default '{}',
  types text[] default '{}', blobs bytea[] default '{}'
)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  expires_at timestamptz;
begin
  if (memory._is_plain_checkpoint(user_id, thread_id, namespace, checkpoint_id, coalesce(parent_id, 'none'))
      and cardinality(channels) = all (array[cardinality(versions), cardinality(types), cardinality(blobs)])
      and num_nulls(variadic channels) + num_nulls(variadic versions) + num_nulls(variadic types) = 0
      and octet_length(array_to_string(channels, '') || array_to_string(versions, '')) <= 600
      and coalesce(octet_length(metadata ->> 'run_id'), 0) <= 600
      and memory._is_checkpoint(checkpoint) and memory._is_metadata(metadata)) is not true then
    perform memory._check_checkpoint(user_id, thread_id, namespace, checkpoint_id,
      array[cardinality(channels), cardinality(versions), cardinality(types), cardinality(blobs)],
      num_nulls(variadic channels) + num_nulls(variadic versions) + num_nulls(variadic types));
    perform memory._check_id('parent_id', coalesce(parent_id, 'none'));
    perform memory._check_metadata(metadata);
    perform memory._check_key('channels', 'a name with its version', c.name || c.version)
      from unnest(channels, versions) as c (name, version);
    perform memory._check_key('metadata', 'run_id', metadata ->> 'run_id');
    if metadata is null then
      perform memory._refuse('metadata', 'must be a JSON object', 'Pass the metadata of the checkpoint.');
    elsif memory._is_checkpoint(checkpoint) is not true then
      perform memory._refuse('checkpoint',
        'must be a JSON object, and so must channel_versions and channel_values in the checkpoint',
        'Pass the checkpoint without its larger values.');
    end if;
  end if;
  -- Hardly any thread has an expiry, so the policy is merged only if the thread may have one.
  if exists (
      select from memory.checkpoints as c
      where c.user_id = put_checkpoint.user_id and c.thread_id = put_checkpoint.thread_id and c.expires_at is not null)
    or exists (
      select from memory.policies as p
      where p.user_id in ('', put_checkpoint.user_id) and p.settings ? 'checkpoints') then
    expires_at := memory._renew_expiry(user_id, thread_id, namespace, parent_id);
  end if;
  if (checkpoint -> 'blobless_versions') ?| channels then -- another client has stored values of these channels
    checkpoint := checkpoint - 'blobless_versions';
  end if;
  insert into memory.checkpoints as c (
    user_id, thread_id, namespace, checkpoint_id, parent_id, checkpoint, metadata, expires_at)
  values (
    put_checkpoint.user_id, put_checkpoint.thread_id, put_checkpoint.namespace, put_checkpoint.checkpoint_id,
    put_checkpoint.parent_id, put_checkpoint.checkpoint, put_checkpoint.metadata, expires_at)
  on conflict on constraint checkpoints_pkey do update
  set checkpoint = excluded.checkpoint, metadata = excluded.metadata, expires_at = excluded.expires_at;
  if channels <> '{}' then -- Many steps change no larger value, and an insert of nothing took 40,000 instructions.
    insert into memory.checkpoint_blobs (user_id, thread_id, namespace, channel, version, type, blob)
    select put_checkpoint.user_id, put_checkpoint.thread_id, put_checkpoint.namespace, unnest(channels),
      unnest(versions), unnest(types), unnest(blobs)
    on conflict on constraint checkpoint_blobs_pkey do nothing;
  end if;
  -- The writer is noted for the whole thread, because later states are made of earlier ones.
  if memory._is_space(user_id) then
    perform memory._note_writer(user_id, 'checkpoint', thread_id, false);
  end if;
end;
$$;
comment on function memory.put_checkpoint(
  text, text, text, jsonb, jsonb, text, text, text[], text[], text[], bytea[]
) is
'Stores the state of a graph after a step, or replaces it. channels, versions, types and blobs are arrays of one '
'length: the serialised values that are new in this checkpoint; a value that the thread has in the same version stays '
'as it is. blobless_versions in checkpoint names versions of channels that have no value there: no value of these is '
'looked up. Policy checkpoints.expires_after says when all checkpoints of a thread expire after the last one.';

-- Removes the expiry from a thread, and returns the expiry for its next checkpoint; null for never. The last checkpoint
-- of a thread has the expiry of all. If the expiry has passed, the thread begins anew, unless a graph is still at work
-- that loaded a checkpoint (p_parent_id) before: such a graph passes only values that have changed since.
create or replace function memory._renew_expiry(p_user_id text, p_thread_id text, p_namespace text, p_parent_id text)
returns timestamptz
language plpgsql volatile parallel unsafe
as $$
begin
  if memory._checkpoints_have_expired(p_user_id, p_thread_id) and not exists (
    select from memory.checkpoints as c
    where c.user_id = p_user_id and c.thread_id = p_thread_id and c.namespace = p_namespace
      and c.checkpoint_id = p_parent_id)
  then
    perform memory._delete_checkpoints_of_thread(p_user_id, p_thread_id);
  end if;
  update memory.checkpoints as c set expires_at = null
  where c.user_id = p_user_id and c.thread_id = p_thread_id and c.expires_at is not null;
  return nullif(memory._expiry(memory._policy_section(p_user_id, null, 'checkpoints') ->> 'expires_after'), 'infinity');
end;
$$;

-- Whether memory.get_checkpoint() and memory.prune_checkpoints() can read a checkpoint.
create or replace function memory._is_checkpoint(p_checkpoint jsonb)
returns boolean
language sql immutable parallel safe
begin atomic
  select jsonb_typeof(p_checkpoint) = 'object'
    and coalesce(jsonb_typeof(p_checkpoint -> 'channel_versions'), 'object') = 'object'
    and coalesce(jsonb_typeof(p_checkpoint -> 'channel_values'), 'object') = 'object';
end;

-- Refuses a part of an index entry that is too long to fit beside the ids.
create or replace function memory._check_key(p_argument text, p_what text, p_key text)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if octet_length(p_key) > 600 then
    perform memory._refuse(p_argument, format('%s has %s bytes, at most 600 are allowed', p_what, octet_length(p_key)),
      'Use a shorter one.', '54000');
  end if;
end;
$$;

-- Whether a text may be the namespace of a checkpoint; null for null.
create or replace function memory._is_namespace(p_namespace text)
returns boolean
language sql immutable parallel safe
begin atomic
  select octet_length(p_namespace) <= 1000;
end;

-- Whether these ids, and another one beside them, are certainly allowed. If the result is false, for example for long
-- ids, memory._check_checkpoint() decides. A graph stores a checkpoint in each step, so speed counts: the planner
-- inlines the function, and PL/pgSQL prepares one expression for all checks; calls took 100,000 instructions.
-- PostgreSQL prepares each operator anew in each transaction, so the function checks all ids at once.
create or replace function memory._is_plain_checkpoint(
  p_user_id text, p_thread_id text, p_namespace text, p_checkpoint_id text, p_other_id text default 'none'
)
returns boolean
language sql stable parallel unsafe
begin atomic
  select '' <> all (array[p_user_id, p_thread_id, p_checkpoint_id, p_other_id])
    and octet_length(p_user_id || p_thread_id || p_checkpoint_id || p_other_id) <= 255
    and memory._is_namespace(p_namespace) and memory._may_reach(p_user_id) and memory._is_here(p_user_id);
end;

-- Refuses ids and namespaces that cannot name a checkpoint. Also refuses arrays of different lengths (p_lengths), and
-- arrays with nulls (p_nulls says how many). The first length is that of the argument channels, which the error names.
create or replace function memory._check_checkpoint(
  p_user_id text, p_thread_id text, p_namespace text, p_checkpoint_id text, p_lengths int[] default '{}',
  p_nulls int default 0
)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._check_id('user_id', p_user_id);
  perform memory._check_id('thread_id', p_thread_id);
  perform memory._check_id('checkpoint_id', p_checkpoint_id);
  if memory._is_namespace(p_namespace) is not true then
    perform memory._refuse('namespace', 'must have at most 1000 bytes and not be null',
      'Pass an empty text for the graph itself, or the path of a subgraph.');
  elsif octet_length(p_user_id || p_thread_id || p_namespace || p_checkpoint_id) > 2000 then -- no index holds more
    perform memory._refuse('namespace', 'has more than 2000 bytes with the ids beside it', 'Use shorter ids.', '54000');
  elsif (p_lengths[1] = all (p_lengths)) is not true then
    perform memory._refuse('channels', format('has %s entries, the arrays beside it have %s', p_lengths[1],
      array_to_string(p_lengths[2:], ', ', 'null')), 'Pass arrays of one length.');
  elsif p_nulls > 0 then
    perform memory._refuse('channels', format('has %s nulls with the arrays beside it', p_nulls),
      'Take the nulls out; only blobs may have them.');
  end if;
end;
$$;

-- Whether all checkpoints of a thread have expired. The function is PL/pgSQL, because a session keeps its plan: an SQL
-- function took 85 us in each transaction.
create or replace function memory._checkpoints_have_expired(p_user_id text, p_thread_id text)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return coalesce((
    select e.at <= statement_timestamp() from memory._expiry_of_checkpoints(p_user_id, p_thread_id) as e (at)), false);
end;
$$;

-- The time at which all checkpoints of a thread expire; no row if they never expire. Two sessions that store at the
-- same time can leave two rows with an expiry, of which the later one counts. The planner inlines the function.
create or replace function memory._expiry_of_checkpoints(p_user_id text, p_thread_id text)
returns setof timestamptz
language sql stable parallel safe
begin atomic
  select c.expires_at
  from memory.checkpoints as c
  where c.user_id = p_user_id and c.thread_id = p_thread_id and c.expires_at is not null
  order by c.expires_at desc
  limit 1;
end;
