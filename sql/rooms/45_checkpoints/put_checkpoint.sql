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
  lifetime text;
begin
  perform memory._check_checkpoint(user_id, thread_id, namespace, checkpoint_id);
  perform memory._check_id('parent_id', coalesce(parent_id, 'none'));
  if jsonb_typeof(checkpoint) is distinct from 'object' then
    perform memory._refuse('checkpoint', 'must be a JSON object', 'Pass the checkpoint without its larger values.');
  end if;
  metadata := coalesce(metadata, '{}');
  perform memory._check_metadata(metadata);
  perform memory._check_same_length('versions', channels, versions);
  perform memory._check_same_length('types', channels, types);
  perform memory._check_same_length('blobs', channels, blobs);

  lifetime := memory._policy_section(user_id, null, 'checkpoints') ->> 'expires_after';
  -- The last checkpoint has the expiry of all. If that has passed, the thread begins anew.
  if exists (
    select from memory.checkpoints as c
    where c.user_id = put_checkpoint.user_id and c.thread_id = put_checkpoint.thread_id and c.expires_at is not null)
  then
    if memory._checkpoints_have_expired(user_id, thread_id) then
      perform memory._delete_checkpoints_of_thread(user_id, thread_id);
    end if;
    update memory.checkpoints as c set expires_at = null
    where c.user_id = put_checkpoint.user_id and c.thread_id = put_checkpoint.thread_id and c.expires_at is not null;
  end if;
  if cardinality(channels) > 0 then
    insert into memory.checkpoint_blobs (user_id, thread_id, namespace, channel, version, type, blob)
    select put_checkpoint.user_id, put_checkpoint.thread_id, put_checkpoint.namespace, v.*
    from unnest(channels, versions, types, blobs) as v
    on conflict on constraint checkpoint_blobs_pkey do nothing;
  end if;
  insert into memory.checkpoints as c (
    user_id, thread_id, namespace, checkpoint_id, parent_id, checkpoint, metadata, expires_at)
  values (
    put_checkpoint.user_id, put_checkpoint.thread_id, put_checkpoint.namespace, put_checkpoint.checkpoint_id,
    put_checkpoint.parent_id, put_checkpoint.checkpoint, put_checkpoint.metadata,
    nullif(memory._expiry(lifetime), 'infinity'))
  on conflict on constraint checkpoints_pkey do update
  set checkpoint = excluded.checkpoint, metadata = excluded.metadata, expires_at = excluded.expires_at;
end;
$$;
comment on function memory.put_checkpoint(
  text, text, text, jsonb, jsonb, text, text, text[], text[], text[], bytea[]
) is
'Stores the state of a graph after a step, or replaces it. channels, versions, types and blobs are arrays of one '
'length: the serialised values that are new in this checkpoint; a value that the thread has in the same version stays '
'as it is. Policy checkpoints.expires_after says when all checkpoints of a thread expire after the last one.';

-- Refuses what names no checkpoint.
create or replace function memory._check_checkpoint(
  p_user_id text, p_thread_id text, p_namespace text, p_checkpoint_id text
)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._check_id('user_id', p_user_id);
  perform memory._check_id('thread_id', p_thread_id);
  perform memory._check_id('checkpoint_id', p_checkpoint_id);
  -- The namespace of a graph within graphs has a name and an id of each.
  if p_namespace is null or octet_length(p_namespace) > 1000 then
    perform memory._refuse('namespace', 'must have at most 1000 bytes and not be null', 'The graph itself has ''''.');
  end if;
end;
$$;

-- Refuses an array that has not as many entries as another one, or a null in its place.
create or replace function memory._check_same_length(p_argument text, p_names text[], p_list anyarray)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if (cardinality(p_names) = cardinality(p_list)) is not true then
    perform memory._refuse(p_argument,
      format('has %s entries where the names are %s', cardinality(p_list), cardinality(p_names)),
      'Pass arrays of one length.');
  end if;
end;
$$;

-- Whether all checkpoints of a thread have expired. Two sessions that store at once can leave two rows with an expiry:
-- the later one counts.
create or replace function memory._checkpoints_have_expired(p_user_id text, p_thread_id text)
returns boolean
language sql stable parallel safe
begin atomic
  select coalesce(max(c.expires_at) <= statement_timestamp(), false)
  from memory.checkpoints as c
  where c.user_id = p_user_id and c.thread_id = p_thread_id and c.expires_at is not null;
end;
