-- When a user was forgotten as a whole; null if never.
create or replace function memory._user_forgotten_at(p_user_id text)
returns timestamptz
language plpgsql stable parallel safe
as $$
begin
  return max(t.forgotten_at)
  from memory.erasure_keys as k
  join memory.tombstones as t on t.user_hash = memory._keyed_hash(k, p_user_id) and t.statement_hash = '';
end;
$$;

-- The hashes of a user, and of the users who were merged into this one.
create or replace function memory._user_hashes(p_key memory.erasure_keys, p_user_id text)
returns setof bytea
language sql stable parallel safe
begin atomic
  select memory._keyed_hash(p_key, p_user_id)
  union all
  select m.former_user_hash from memory.merged_users as m where m.user_id = p_user_id;
end;

-- The hash of a forgotten statement. The same statement has the same hash if it has another mark at its end, stands in
-- quotes or is spelled in another way.
create or replace function memory._statement_hash(p_content text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  wording constant text := memory._compared_text(p_content);
begin
  return memory._content_hash(coalesce(
    nullif(regexp_replace(wording, e'^[\\s[:punct:]]+|[\\s[:punct:]]+$', '', 'g'), ''), wording));
end;
$$;

-- Whether a statement of a user was forgotten.
create or replace function memory._is_forgotten(p_user_id text, p_content text)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  -- If nothing was ever forgotten, no hash is computed.
  return exists (select from memory.tombstones) and exists (
    select from memory.erasure_keys as k
    cross join lateral memory._user_hashes(k, p_user_id) as u (user_hash)
    join memory.tombstones as t on t.user_hash = u.user_hash
      and t.statement_hash = memory._keyed_statement(k, u.user_hash, p_content));
end;
$$;

-- Stores the tombstones of statements.
create or replace function memory._bury(p_user_id text, p_contents text[])
returns void
language plpgsql volatile parallel unsafe
set debug_print_plan = off -- every session may have plans sent to itself, and plans show the key
as $$
declare
  key constant memory.erasure_keys := memory._erasure_key();
begin
  insert into memory.tombstones (user_hash, statement_hash)
  select distinct u.user_hash, memory._keyed_statement(key, u.user_hash, c)
  from memory._keyed_hash(key, p_user_id) as u (user_hash) cross join unnest(p_contents) as c
  order by 2 -- so that two sessions that forget the same statements do not wait for each other
  on conflict do nothing;
end;
$$;

-- Stores the tombstone of a user in place of the tombstones of single statements, and returns the number of these. From
-- then on statements from before are never stored, and statements of a new user with this id may be extracted.
create or replace function memory._bury_user(p_user_id text)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  lifted bigint;
begin
  delete from memory.tombstones as t
  using memory.erasure_keys as k
  where t.user_hash = memory._keyed_hash(k, p_user_id) and t.statement_hash <> ''
    and not exists (select from memory.merged_users as m where m.former_user_hash = t.user_hash);
  get diagnostics lifted = row_count;
  insert into memory.tombstones (user_hash, forgotten_at)
  values (memory._keyed_hash(memory._erasure_key(), p_user_id), clock_timestamp())
  on conflict on constraint tombstones_pkey do update set forgotten_at = excluded.forgotten_at;
  return lifted;
end;
$$;
