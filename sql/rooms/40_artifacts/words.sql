-- The words of artifacts are parsed after they were stored: parsing 10 MB takes seconds, storing them a quarter of one.

-- Whether a part lies at the end of a content.
create or replace function memory._is_last_part(p_first_byte int, p_token_count int)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_first_byte >= p_token_count * 4 - 32772;
end;

-- The key of the artifact to which a part belongs; p_id is key/first_byte.
create or replace function memory._part_key(p_id text)
returns text
language sql immutable parallel safe
begin atomic
  select substring(p_id from '^(.*)/');
end;

-- The text by which search finds a part: its own text, and for the first part also key and description.
create or replace function memory._part_text(p_key text, p_description text, p_first_byte int, p_content text)
returns text
language sql immutable parallel safe
begin atomic
  select case p_first_byte
    when 0 then concat_ws(e'\n', p_key, p_description, p_content) else p_content end;
end;

-- Parses parts that have no words yet, of one user or of all (p_user_id null): at least one, then up to p_max_bytes in
-- all. Returns how many. Parts that another transaction has locked are skipped. Rules judge parts before they are
-- parsed, 256 KiB at once, so a part with words was judged.
create or replace function memory._parse_parts(p_user_id text, p_max_bytes int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  part record;
  reader text[]; -- user and agent whose policy names the language
  language regconfig;
  bytes_left int := p_max_bytes;
  parsed bigint := 0;
  judged_id uuid; -- the content that a rule has looked at last, and how far
  judged_to int;
  was_judged boolean;
begin
  for part in
    select a.user_id, a.agent_id, a.key, p.content_id, p.first_byte,
      memory._part_text(a.key, a.description, p.first_byte, p.content) as said
    from memory.artifact_parts as p
    join memory.artifacts as a on a.user_id = p.user_id and a.content_id = p.content_id
    where p.search_vector is null and (p_user_id is null or p.user_id = p_user_id)
    order by p.user_id, p.content_id, p.first_byte
    for no key update of p skip locked
    for key share of a skip locked -- else a deletion would lock the artifact and then wait for its parts
  loop
    bytes_left := bytes_left - octet_length(part.said);
    exit when bytes_left < 0 and parsed > 0;
    if part.content_id is distinct from judged_id or part.first_byte >= judged_to then
      judged_id := part.content_id;
      judged_to := part.first_byte + 262144;
      was_judged := memory._judge_artifact(
        part.user_id, part.key, int4multirange(int4range(part.first_byte, judged_to)));
    end if;
    continue when not was_judged;
    if reader is distinct from array[part.user_id, part.agent_id] then
      reader := array[part.user_id, part.agent_id];
      language := memory._language(part.user_id, part.agent_id);
    end if;
    update memory.artifact_parts as p
    set search_vector = memory._text_vector(language, part.said)
    where p.user_id = part.user_id and p.content_id = part.content_id and p.first_byte = part.first_byte;
    parsed := parsed + 1;
  end loop;
  return parsed;
end;
$$;
