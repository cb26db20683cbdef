-- The map of a cluster: which server serves which users. Every server is an ordinary PostgreSQL with the whole schema.
-- The row is the same on all servers, except for the column node. A single server has no row.
create table memory.cluster_map (
  is_map boolean primary key default true check (is_map), -- flag
  version bigint not null, -- number
  partitions text[] not null, -- setting
  users jsonb not null default '{}', -- hash
  moving text[] not null default '{}', -- setting
  nodes jsonb not null, -- setting
  node text not null, -- setting
  changed_at timestamptz not null default clock_timestamp() -- time
);
comment on table memory.cluster_map is
'The map of a cluster: which node serves which partition of the users. One row, which is the same on all nodes but for '
'the column node; no row where one server serves all users. "agent-memory cluster" writes it.';
comment on column memory.cluster_map.is_map is 'Always true: the table has one row at most.';
comment on column memory.cluster_map.version is
'Grows by each change. Of two maps the one with the higher version counts.';
comment on column memory.cluster_map.partitions is
'The names of the nodes that serve the partitions: the first element is the node of partition 0.';
comment on column memory.cluster_map.users is
'The nodes of users who were moved by themselves, by the MD5 of their user_id in UTF-8 as hex digits.';
comment on column memory.cluster_map.moving is
'The partitions (by number) and users (by hash) that are being moved between nodes. No node serves them meanwhile.';
comment on column memory.cluster_map.nodes is
'The nodes by name: {"dsn": how a client connects, without role and password, "number": what makes ids of this node '
'different from those of the others}.';
comment on column memory.cluster_map.node is 'The name of the node that this database is.';
comment on column memory.cluster_map.changed_at is 'When this version of the map was written here.';

-- Nobody draws a number from this sequence. Calls hold a lock on it, so that a change of the map waits for them.
create sequence memory.cluster_map_lock;
