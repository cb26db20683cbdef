-- Writes the map of the cluster into this node. "agent-memory cluster" calls the function on one node after the other.
-- The function refuses a map that is older than the one here, and a map that takes users away from this node while
-- their rows are still here: these rows must be removed before, in the same transaction.
create or replace function memory._set_cluster_map(
  p_node text, p_version bigint, p_partitions text[], p_nodes jsonb, p_users jsonb default '{}',
  p_moving text[] default '{}'
)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  before memory.cluster_map;
  seen bigint;
  problem text;
  left_behind text;
begin
  select m.* into before from memory.cluster_map as m;
  seen := before.version;
  -- A user who is being moved gets no rows meanwhile, so this long search need not hold up the calls of all others.
  if memory._given_up(before, p_partitions, p_users) <@ before.moving then
    left_behind := memory._user_left_behind(before, p_node, p_partitions, p_users);
  else
    seen := null;
  end if;
  perform memory._lock_map();
  select m.* into before from memory.cluster_map as m;
  problem := case
    when (p_version >= 1) is not true then 'p_version: must be at least 1'
    when (cardinality(p_partitions) between 1 and 65536 and array_lower(p_partitions, 1) = 1) is not true
      then 'p_partitions: must name the node of 1 to 65536 partitions'
    when cardinality(before.partitions) <> cardinality(p_partitions)
      then format('p_partitions: the cluster has %s partitions, which cannot change', cardinality(before.partitions))
    when jsonb_typeof(p_nodes) is distinct from 'object' then 'p_nodes: must be an object'
    when exists (
      select from jsonb_each(p_nodes) as n
      where jsonb_typeof(n.value -> 'dsn') is distinct from 'string'
        or jsonb_typeof(n.value -> 'number') is distinct from 'number'
        or ((n.value ->> 'number')::numeric between 0 and 1023) is not true)
      then 'p_nodes: each node needs a dsn and a number from 0 to 1023'
    when (select count(distinct n.value -> 'number') <> count(*) from jsonb_each(p_nodes) as n)
      then 'p_nodes: two nodes have the same number'
    when (select count(distinct n.value ->> 'dsn') <> count(*) from jsonb_each(p_nodes) as n)
      then 'p_nodes: two nodes have the same dsn'
    when not p_nodes ? coalesce(p_node, '') then format('p_node: "%s" is no node of the map', p_node)
    when exists (select from unnest(p_partitions) as p (node) where (p_nodes ? p.node) is not true)
      then 'p_partitions: names a node that p_nodes lacks'
    when exists (select from jsonb_each_text(p_users) as u where u.key !~ '^[0-9a-f]{32}$' or not p_nodes ? u.value)
      then 'p_users: must be names of nodes by MD5'
    when exists (select from unnest(p_moving) as m (what) where (m.what ~ '^([0-9]{1,5}|[0-9a-f]{32})$') is not true)
      then 'p_moving: must be numbers of partitions or MD5s'
    when (before.nodes -> before.node -> 'number') <> (p_nodes -> p_node -> 'number')
      then 'p_nodes: the number of this node cannot change, because ids of jobs contain it'
  end;
  if problem is not null then
    raise exception '%', problem using errcode = '22023', hint = 'Let "agent-memory cluster" make the map.';
  elsif p_version < before.version or p_version = before.version
    and (before.partitions, before.users, before.moving, before.nodes, before.node) is distinct from
      (p_partitions, p_users, p_moving, p_nodes, p_node) then
    raise exception 'p_version: this node has version % of the map', before.version using errcode = '40001',
      hint = 'Read the newest map of all nodes, and begin again with the next version.';
  end if;
  if seen is distinct from before.version or seen is null then
    left_behind := memory._user_left_behind(before, p_node, p_partitions, p_users);
  end if;
  if left_behind is not null then
    raise exception 'p_partitions: user "%" has rows here and would belong to node "%"', left(left_behind, 255),
      memory._node_of(left_behind, p_partitions, p_users) using errcode = '23503',
      hint = 'Move the users first: agent-memory cluster move.';
  end if;
  insert into memory.cluster_map as m (version, partitions, users, moving, nodes, node)
  values (p_version, p_partitions, p_users, p_moving, p_nodes, p_node)
  on conflict on constraint cluster_map_pkey do update
  set version = excluded.version, partitions = excluded.partitions, users = excluded.users,
    moving = excluded.moving, nodes = excluded.nodes, node = excluded.node, changed_at = excluded.changed_at;
  perform memory._route_by_map();
  perform memory._audit('set_cluster_map', jsonb_build_object('version', p_version, 'node', p_node));
end;
$$;

-- Waits for the transactions that have called a function of this schema, and holds up calls until this transaction
-- ends. Calls also wait behind a session that waits for the lock, so each wait is short, and calls pass between two
-- waits.
create or replace function memory._lock_map()
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  attempts_left int := 150;
begin
  perform set_config('lock_timeout', '200ms', true);
  loop
    begin
      alter sequence memory.cluster_map_lock no cycle; -- changes nothing, but takes the lock for which calls wait
      return;
    exception when lock_not_available then
      attempts_left := attempts_left - 1;
      if attempts_left = 0 then
        raise;
      end if;
    end;
    perform pg_sleep(0.2);
  end loop;
end;
$$;

-- The partitions and users that a new map takes away from this node, in the form of the column "moving".
create or replace function memory._given_up(p_before memory.cluster_map, p_partitions text[], p_users jsonb)
returns text[]
language sql stable parallel safe
begin atomic
  select array(
    select (p.place - 1)::text
    from unnest(p_before.partitions, p_partitions) with ordinality as p (was, becomes, place)
    where p.was = p_before.node and p.becomes <> p_before.node
    union all
    select u.digest
    from (
      select d.digest, memory._partition_of_digest(d.digest, cardinality(p_before.partitions)) + 1 as place
      from (select jsonb_object_keys(p_before.users) union select jsonb_object_keys(p_users)) as d (digest)
      where d.digest ~ '^[0-9a-f]{32}$') as u
    where coalesce(p_before.users ->> u.digest, p_before.partitions[u.place]) = p_before.node
      and coalesce(p_users ->> u.digest, p_partitions[u.place]) <> p_before.node);
end;

-- A user whom a new map takes away from this node and who has rows here. Rows that did not belong here under the old
-- map do not count: "agent-memory cluster doctor" finds them.
create or replace function memory._user_left_behind(
  p_before memory.cluster_map, p_node text, p_partitions text[], p_users jsonb
)
returns text
language plpgsql stable parallel unsafe
as $$
begin
  if p_before.version is not null and memory._given_up(p_before, p_partitions, p_users) = '{}' then
    return null;
  end if;
  return (
    select e
    from memory._users_elsewhere(p_node, p_partitions, p_users) as e
    where p_before.version is null
      or memory._node_of(e, p_before.partitions, p_before.users) = p_before.node
    limit 1);
end;
$$;

-- The users who have rows in this database although a map gives them to another node.
create or replace function memory._users_elsewhere(p_node text, p_partitions text[], p_users jsonb)
returns setof text
language plpgsql stable parallel unsafe
as $$
declare
  relation regclass;
begin
  for relation in -- in every table with rows of users the primary key begins with user_id
    select c.oid
    from pg_class as c
    join pg_constraint as k on k.conrelid = c.oid and k.contype = 'p'
    join pg_attribute as a on a.attrelid = c.oid and a.attnum = k.conkey[1] and a.attname = 'user_id'
    where c.relnamespace = 'memory'::regnamespace and c.relname <> 'moved_users'
  loop
    -- The statement takes one step through the index for each user, not one for each row.
    return query execute format($query$
      with recursive u as (
        (select t.user_id from %1$s as t where t.user_id <> '' order by t.user_id limit 1)
        union all
        select (select t.user_id from %1$s as t where t.user_id > u.user_id order by t.user_id limit 1)
        from u
        where u.user_id is not null
      )
      select u.user_id from u where u.user_id is not null and memory._node_of(u.user_id, $1, $2) <> $3
    $query$, relation) using p_partitions, p_users, p_node;
  end loop;
end;
$$;

-- Makes memory._is_here() ask the map, if there is one. PostgreSQL inlines a volatile function only into volatile
-- functions, so memory._is_user() becomes volatile.
create or replace function memory._route_by_map()
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  map memory.cluster_map;
  number int;
  following bigint;
begin
  select m.* into map from memory.cluster_map as m;
  if not found then
    return;
  end if;
  execute $asks$
    create or replace function memory._is_here(p_user_id text)
    returns boolean
    language sql volatile parallel unsafe
    begin atomic
      select coalesce(
        memory._is_in_map(p_user_id, pg_sequence_last_value('memory.cluster_map_lock'), pg_current_snapshot()),
        memory._is_in_new_map(p_user_id, memory._map_seen()));
    end
  $asks$;
  alter function memory._is_user(text) volatile parallel unsafe;
  perform memory._write_map_into_function(map);
  -- Ids of jobs differ between nodes, because each node gives ids of one remainder modulo 1024. A proxy has no number,
  -- and makes no jobs.
  number := coalesce((map.nodes -> map.node ->> 'number')::int, 1023);
  select (s.last_value / 1024 + 1) * 1024 + number into following
  from memory.jobs_job_id_seq as s, pg_sequence as q
  where q.seqrelid = 'memory.jobs_job_id_seq'::regclass and (q.seqincrement <> 1024 or s.last_value % 1024 <> number);
  if found then
    execute format('alter sequence memory.jobs_job_id_seq increment by 1024 restart with %s', following);
  end if;
  perform memory._guard_place();
end;
$$;

-- Writes the answers of memory._is_in_map() for most users into its body: which partitions this node serves, and since
-- which transaction. memory._is_in_new_map() decides about users who have a place of their own or are being moved.
create or replace function memory._write_map_into_function(p_map memory.cluster_map)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  exceptions text[] := array(
    select e from jsonb_object_keys(p_map.users) as e
    union all
    select m from unnest(p_map.moving) as m where length(m) = 32);
begin
  execute format($creates$
    create or replace function memory._is_in_map(p_user_id text, p_lock bigint, p_seen pg_snapshot)
    returns boolean
    language plpgsql volatile parallel unsafe
    as $body$
    begin
      return case
        when pg_visible_in_snapshot(%L, p_seen)
          and (%L::boolean[])[memory._partition_of_digest(md5(convert_to(p_user_id, 'UTF8')), %s) + 1] %s
          then true
      end;
    end;
    $body$
  $creates$, pg_current_xact_id(),
    array(
      select p.node = p_map.node and (p.place - 1)::text <> all (p_map.moving)
      from unnest(p_map.partitions) with ordinality as p (node, place)
      order by p.place),
    cardinality(p_map.partitions),
    case when exceptions <> '{}'
      then format('and md5(convert_to(p_user_id, ''UTF8'')) <> all (%L::text[])', exceptions) end);
end;
$$;

-- Makes the triggers that only a node of a cluster has, so that a single server does not pay for them.
create or replace function memory._guard_place()
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  guarded text;
begin
  for guarded in
    select g.on_table
    from unnest('{messages, memories, documents, artifacts}'::text[]) as g (on_table)
    where not exists (
      select from pg_trigger as t
      where t.tgrelid = ('memory.' || g.on_table)::regclass and t.tgname = 'node_050_before_change')
  loop
    -- The trigger ignores the owner, who alone may create objects here: our functions run as the owner and have checked
    -- the user, and copies of users are made by the owner.
    execute format($trigger$
      create trigger node_050_before_change before update or delete on memory.%I
      for each row when (not has_schema_privilege(current_user, 'memory', 'create'))
      execute function memory._node_before_change()$trigger$, guarded);
  end loop;
  if not exists (
    select from pg_trigger as t where t.tgrelid = 'memory.jobs'::regclass and t.tgname = 'node_050_before_insert') then
    create trigger node_050_before_insert before insert on memory.jobs
    for each row when (current_setting('memory.rows_are_copied', true) is distinct from 'yes')
    execute function memory._node_before_job();
  end if;
end;
$$;

-- Before an application changes or deletes a row directly, this trigger checks that this node serves the user. The
-- change of a row that has been copied to another node would be lost.
create or replace function memory._node_before_change()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not memory._is_user(old.user_id) then
    perform memory._check_id('user_id', old.user_id);
  end if;
  return case tg_op when 'DELETE' then old else new end;
end;
$$;

-- Before a job is stored, this trigger drops it if another node serves the user: a function that makes jobs for all
-- users may have seen the user before the user moved. A job of a user who is being moved is refused, so that no job is
-- lost.
create or replace function memory._node_before_job()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return case when memory._is_here(new.user_id) then new end;
end;
$$;
