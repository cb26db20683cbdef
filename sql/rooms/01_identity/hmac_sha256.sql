-- HMAC-SHA256 (RFC 2104) by sha256() alone, because pgcrypto may be missing. The blocks are those of the key: padded to
-- 64 bytes, each combined with 0x36 or 0x5c.
create or replace function memory._hmac_sha256(p_message bytea, p_inner_block bytea, p_outer_block bytea)
returns bytea
language sql immutable parallel safe
begin atomic
  select sha256(p_outer_block || sha256(p_inner_block || p_message));
end;
