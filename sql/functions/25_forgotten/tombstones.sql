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

-- Whether a statement of a user was forgotten. p_content_hash is that of memory._content_hash().
create or replace function memory._is_forgotten(p_user_id text, p_content_hash text)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  -- Where nothing was ever forgotten, no hash is computed.
  return exists (select from memory.tombstones) and exists (
    select from memory.erasure_keys as k
    join memory.tombstones as t on t.user_hash = memory._keyed_hash(k, p_user_id)
      and t.statement_hash = memory._keyed_hash(k, p_user_id, p_content_hash));
end;
$$;

-- Stores the tombstones of statements.
create or replace function memory._bury(p_user_id text, p_content_hashes text[])
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  key constant memory.erasure_keys := memory._erasure_key();
begin
  insert into memory.tombstones (user_hash, statement_hash)
  select distinct memory._keyed_hash(key, p_user_id), memory._keyed_hash(key, p_user_id, h)
  from unnest(p_content_hashes) as h
  order by 2 -- so that two sessions that forget the same statements do not wait for each other
  on conflict do nothing;
end;
$$;

-- Stores the tombstone of a user. Those of single statements stay: what is imported later may state them again.
create or replace function memory._bury_user(p_user_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  insert into memory.tombstones as t (user_hash, forgotten_at)
  values (memory._keyed_hash(memory._erasure_key(), p_user_id), clock_timestamp())
  on conflict on constraint tombstones_pkey do update set forgotten_at = excluded.forgotten_at;
end;
$$;

-- Removes all tombstones of a user.
create or replace function memory._lift_tombstones(p_user_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  delete from memory.tombstones as t
  using memory.erasure_keys as k
  where t.user_hash = memory._keyed_hash(k, p_user_id);
end;
$$;
