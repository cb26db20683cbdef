-- The thread of a message's id. The id of a message among embeddings and results is thread_id/seq, and a thread_id may
-- have slashes and digits of its own.
create or replace function memory._thread_of(p_id text)
returns text
language sql immutable parallel safe
begin atomic
  select left(rtrim(p_id, '0123456789'), -1);
end;

create or replace function memory._seq_of(p_id text)
returns bigint
language sql immutable parallel safe
begin atomic
  select nullif(substr(p_id, length(rtrim(p_id, '0123456789')) + 1), '')::bigint;
end;
