-- The rows that the functions of secrets return.
create type memory.secret as (name text, created_at timestamptz, updated_at timestamptz);
comment on type memory.secret is 'A secret as memory.list_secrets() returns it: without its value.';
