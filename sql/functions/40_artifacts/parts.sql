-- Contents of artifacts lie in memory.artifact_parts. The first 48 KiB become parts of at most 3 KiB, passages that are
-- embedded one by one; what follows becomes parts of at most 32 KiB, which are found by their words. Places are bytes
-- of UTF-8 from the beginning of the content.

create or replace function memory._max_artifact_bytes()
returns int
language sql immutable parallel safe
begin atomic
  select 209715200; -- 200 MiB
end;

-- Whether a part is one of the passages at the beginning. Inlined by the planner, hence no SET clause.
create or replace function memory._is_passage(p_first_byte int)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_first_byte < 49152;
end;

-- Adds a text to the end of a content. The last part is cut anew with what follows it, so that a content which comes in
-- pieces has the same parts as one which comes at once. Nothing is parsed: 10 MB of a log take 1.0 s, inserted as one
-- row 0.65 (PostgreSQL 15, median of five in turns).
create or replace function memory._append_content(p_user_id text, p_content_id uuid, p_piece text)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  part_byte int := 0; -- where the part begins that is being cut
  part_line int := 0;
  rest text; -- the last part
  bytes bytea; -- because to find a place in a text PostgreSQL counts all characters before it
  size int;
  starts int := 0;
  ends int;
  part text;
begin
  delete from memory.artifact_parts as p
  where p.user_id = p_user_id and p.content_id = p_content_id and p.first_byte = (
    select max(l.first_byte) from memory.artifact_parts as l
    where l.user_id = p_user_id and l.content_id = p_content_id)
  returning p.first_byte, p.first_line, p.content into part_byte, part_line, rest;
  part_byte := coalesce(part_byte, 0);
  part_line := coalesce(part_line, 0);
  bytes := convert_to(coalesce(rest, '') || p_piece, 'UTF8');
  size := octet_length(bytes);
  if part_byte + size > memory._max_artifact_bytes() then
    perform memory._refuse_size('content', part_byte + size, memory._max_artifact_bytes(),
      'Split it, or store it elsewhere and keep a reference.');
  end if;
  while starts < size loop
    ends := least(starts + case when memory._is_passage(part_byte) then 3072 else 32768 end, size);
    while ends < size and get_byte(bytes, ends) & 192 = 128 loop -- the inner bytes of a character
      ends := ends - 1;
    end loop;
    part := convert_from(substring(bytes from starts + 1 for ends - starts), 'UTF8');
    if ends < size then
      part := memory._whole_lines(part);
    end if;
    insert into memory.artifact_parts (user_id, content_id, first_byte, first_line, content)
    values (p_user_id, p_content_id, part_byte, part_line, part);
    ends := starts + octet_length(convert_to(part, 'UTF8'));
    part_byte := part_byte + ends - starts;
    part_line := part_line + memory._line_breaks(part);
    starts := ends;
  end loop;
end;
$$;

create or replace function memory._line_breaks(p_text text)
returns int
language sql immutable parallel safe
begin atomic
  select octet_length(p_text) - octet_length(replace(p_text, e'\n', ''));
end;

-- A text up to its last line break, or else up to its last blank; all of it if it has neither.
create or replace function memory._whole_lines(p_text text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  rest int; -- characters after the last line break or blank
begin
  -- Most lines are short: the end of the text is looked at first, which takes a tenth of the time.
  rest := strpos(reverse(right(p_text, 1000)), e'\n') - 1;
  if rest < 0 then
    rest := strpos(reverse(p_text), e'\n') - 1;
  end if;
  if rest < 0 then
    rest := strpos(reverse(p_text), ' ') - 1;
  end if;
  return case when rest > 0 then left(p_text, -rest) else p_text end;
end;
$$;

-- How many bytes a content has.
create or replace function memory._content_bytes(p_user_id text, p_content_id uuid)
returns int
language plpgsql volatile parallel safe -- sees what another transaction has stored while this statement waited for it
as $$
begin
  return (
    select p.first_byte + octet_length(convert_to(p.content, 'UTF8'))
    from memory.artifact_parts as p
    where p.user_id = p_user_id and p.content_id = p_content_id
    order by p.first_byte desc limit 1);
end;
$$;

-- The bytes of a content from p_first_byte on, up to p_end_byte if that is not null. A character belongs to the slice
-- in which it begins, so that slices join to the whole. Only the parts that have some of these bytes are read.
create or replace function memory._content_slice(
  p_user_id text, p_content_id uuid, p_first_byte bigint default 0, p_end_byte bigint default null
)
returns text
language plpgsql volatile parallel safe -- as memory._content_bytes()
as $$
declare
  read_from int;
  slice text;
begin
  select p.first_byte into read_from
  from memory.artifact_parts as p
  where p.user_id = p_user_id and p.content_id = p_content_id and p.first_byte <= p_first_byte
  order by p.first_byte desc limit 1;
  select string_agg(p.content, '') into slice
  from (
    select p.content
    from memory.artifact_parts as p
    where p.user_id = p_user_id and p.content_id = p_content_id and p.first_byte >= read_from
      and p.first_byte < coalesce(p_end_byte, 2147483648) -- not "or", which no index can search for
    order by p.first_byte) as p;
  return case
    when slice is null then ''
    when p_first_byte = 0 and p_end_byte is null then slice
    else memory._byte_slice(slice, p_first_byte - read_from, p_end_byte - read_from) end;
end;
$$;

-- Whether two contents of a user are equal, compared by the MiB.
create or replace function memory._is_same_content(p_user_id text, p_content_id uuid, p_other_id uuid)
returns boolean
language plpgsql volatile parallel safe -- as memory._content_bytes()
as $$
declare
  size constant int := memory._content_bytes(p_user_id, p_content_id);
begin
  if size is distinct from memory._content_bytes(p_user_id, p_other_id) then
    return false;
  end if;
  for first_byte in 0 .. size - 1 by 1048576 loop
    if memory._content_slice(p_user_id, p_content_id, first_byte, first_byte + 1048576)
      <> memory._content_slice(p_user_id, p_other_id, first_byte, first_byte + 1048576) then
      return false;
    end if;
  end loop;
  return true;
end;
$$;

create or replace function memory._delete_content(p_user_id text, p_content_id uuid)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  delete from memory.artifact_parts as p where p.user_id = p_user_id and p.content_id = p_content_id;
end;
$$;
