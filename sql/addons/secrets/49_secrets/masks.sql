-- A server with log_statement = all writes the parameters of each statement into its log, but never a result. So before
-- a client passes a secret or a key, it asks for a mask: random bytes that come as a result, and that the transaction
-- remembers. The client then passes, in hex, the exclusive or of its bytes and of a stream made from the mask.

-- Begins a transaction in which set_secret(), get_secret() and reencrypt_secrets() read their arguments through a mask,
-- and returns the mask.
create or replace function memory._secret_mask()
returns bytea
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Two UUIDs have 244 random bits.
  mask constant bytea := sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
begin
  perform set_config('agent_memory.secret_mask', encode(mask, 'hex'), true);
  return mask;
end;
$$;
comment on function memory._secret_mask() is
'For clients: random bytes that hide a secret, and a key, on their way to the server within this transaction. A role '
'that calls memory.set_secret() or memory.get_secret() through a client also needs the right to call this function.';

-- The bytes of an argument, without the mask if this transaction has one. p_label names the argument, so that two
-- arguments do not share one stream. The result is null for null and for an empty text.
create or replace function memory._unmasked(p_given text, p_label text)
returns bytea
language plpgsql stable parallel unsafe
as $$
declare
  mask constant bytea := decode(coalesce(current_setting('agent_memory.secret_mask', true), ''), 'hex');
  masked bytea;
begin
  if p_given = '' or p_given is null or mask = '' then
    return convert_to(nullif(p_given, ''), 'UTF8');
  end if;
  masked := memory._decoded(p_given, 'hex');
  return (
    with stream as (
      select string_agg(sha256(mask || convert_to(p_label || ' ' || block, 'UTF8')), '' order by block) as bytes
      from generate_series(0, octet_length(masked) / 32) as block)
    select string_agg(set_byte(decode('00', 'hex'), 0, get_byte(masked, i) # get_byte(s.bytes, i)), '' order by i)
    from stream as s, generate_series(0, octet_length(masked) - 1) as i);
end;
$$;

-- Ends the mask of memory._secret_mask(): later calls of the transaction read their arguments without a mask.
create or replace function memory._drop_secret_mask()
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if current_setting('agent_memory.secret_mask', true) <> '' then
    perform set_config(s.name, '', true)
    from (values ('agent_memory.secret_mask'), ('agent_memory.secret_key'), ('agent_memory.secret_key_previous'))
      as s (name);
  end if;
end;
$$;
