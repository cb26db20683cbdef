-- Lists say where a memory comes from, and all blanks of Unicode count as spaces when memories are compared.
alter type memory.memory add attribute source text, add attribute source_seqs bigint[];

comment on column memory.memories.content_hash is
'SHA-256 of the content in lower case with single spaces and without blanks of no width, first 32 hex digits.';

-- The hashes of memories with such blanks, spelled as memory._plainly_spelled() does. Two current memories that differ
-- in blanks only cannot have one hash: the older one gets it, unless a memory without such blanks has it already, and
-- the others keep the hash that they have, so that none is lost. Triggers would count that as changes.
do $hashes$
declare
  wide constant text := e'\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
  of_no_width constant text := e'\\u200b\\u2060\\ufeff';
begin
  alter table memory.memories disable trigger user;
  with respelled as materialized (
    select m.user_id, m.memory_id, m.agent_id, m.memory_type, m.created_at,
      m.superseded_at is null and m.deleted_at is null as is_current,
      left(encode(sha256(convert_to(btrim(regexp_replace(regexp_replace(regexp_replace(lower(m.content),
        '[' || of_no_width || ']', '', 'g'), '[' || wide || ']', ' ', 'g'), e'\\s+', ' ', 'g')), 'UTF8')), 'hex'), 32)
        as content_hash
    from memory.memories as m
    where octet_length(m.content) > length(m.content) and m.content ~ ('[' || wide || of_no_width || ']')
  ), placed as (
    select r.*, row_number() over (
        partition by r.user_id, r.agent_id, r.memory_type, r.content_hash, r.is_current
        order by r.created_at, r.memory_id) as place
    from respelled as r
  )
  update memory.memories as m
  set content_hash = p.content_hash
  from placed as p
  where m.user_id = p.user_id and m.memory_id = p.memory_id and m.content_hash <> p.content_hash
    and (not p.is_current or p.place = 1 and not exists (
      select from memory.memories as o
      where o.user_id = p.user_id and o.agent_id = p.agent_id and o.memory_type = p.memory_type
        and o.content_hash = p.content_hash and o.superseded_at is null and o.deleted_at is null));
  alter table memory.memories enable trigger user;
end;
$hashes$;
