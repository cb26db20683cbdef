-- The rows that the functions of changes return.
create type memory.change as (
  change_id bigint, at timestamptz, user_id text, source text, id text, operation text, actor text
);
comment on type memory.change is 'Something that was changed, as memory.list_changes() shows it.';
