-- The rows that the functions of checkpoints return.
create type memory.checkpoint as (
  thread_id text, namespace text, checkpoint_id text, parent_id text, checkpoint jsonb, metadata jsonb,
  created_at timestamptz, channels text[], types text[], blobs bytea[], write_tasks text[], write_channels text[],
  write_types text[], write_blobs bytea[]
);
comment on type memory.checkpoint is
'A checkpoint with its values, as memory.get_checkpoint() and memory.list_checkpoints() return it. channels, types and '
'blobs are arrays of one length, one entry for each stored value; so are write_tasks, write_channels, write_types '
'and write_blobs, in the order in which the writes apply.';
