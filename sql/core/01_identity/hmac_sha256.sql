-- The HMAC-SHA256 (RFC 2104) of a message. The function uses only sha256(), because pgcrypto may be missing. Each block
-- is the key padded to 64 bytes and combined with 0x36 (inner) or 0x5c (outer).
create or replace function memory._hmac_sha256(p_message bytea, p_inner_block bytea, p_outer_block bytea)
returns bytea
language sql immutable parallel safe
begin atomic
  select sha256(p_outer_block || sha256(p_inner_block || p_message));
end;
