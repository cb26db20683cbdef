-- Parses parts that no job has parsed yet, of one user or of all (p_user_id null): at least one, then up to p_max_bytes
-- in all. Returns how many. Parts that another transaction has locked are skipped. Rules judge parts before they are
-- parsed, 256 KiB at once, so a parsed part was judged.
create or replace function memory._artifacts_parse(p_user_id text, p_max_bytes int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  part record;
  bytes_left int := p_max_bytes;
  parsed bigint := 0;
  judged_id uuid; -- the content that a rule has looked at last, and how far
  judged_to int;
  was_judged boolean;
begin
  for part in
    select a.user_id, a.key, p.content_id, p.first_byte, octet_length(p.content) as bytes
    from memory.artifact_parts as p
    join memory.artifacts as a on a.user_id = p.user_id and a.content_id = p.content_id
    where not p.is_parsed and (p_user_id is null or p.user_id = p_user_id)
    order by p.user_id, p.content_id, p.first_byte
    for no key update of p skip locked
    for key share of a skip locked -- else a deletion would lock the artifact and then wait for its parts
  loop
    bytes_left := bytes_left - part.bytes;
    exit when bytes_left < 0 and parsed > 0;
    if part.content_id is distinct from judged_id or part.first_byte >= judged_to then
      judged_id := part.content_id;
      judged_to := part.first_byte + 262144;
      was_judged := memory._judge_artifact(
        part.user_id, part.key, int4multirange(int4range(part.first_byte, judged_to)));
    end if;
    continue when not was_judged;
    update memory.artifact_parts as p set is_parsed = true
    where p.user_id = part.user_id and p.content_id = part.content_id and p.first_byte = part.first_byte;
    perform memory._store_texts(part.user_id, 'artifact', array[part.key || '/' || part.first_byte]);
    parsed := parsed + 1;
  end loop;
  return parsed;
end;
$$;
