-- The first MiB of a text as pieces of at most 32 KiB, for search until a job has cut the whole text with a tokenizer.
-- A piece of 32 KiB can be parsed as a whole in every script; parsing 10 MiB at once would take 9 s. The pieces follow
-- each other without a gap. Each piece ends with the last sentence or line that ends in its last 1,000 bytes, else at
-- the last blank there, else between any two characters.
create or replace function memory._rough_pieces(p_content text)
returns table (number int, piece text)
language plpgsql immutable parallel safe
as $$
declare
  -- The function works on bytes, because PostgreSQL finds a place in a text by counting all characters before it.
  bytes constant bytea := convert_to(p_content, 'UTF8');
  size constant int := octet_length(bytes);
  max_bytes constant int := 32768;
  starts int := 0;
  ends int;
  blank int; -- the last blank
begin
  number := 0;
  while starts < size and number < 32 loop
    ends := memory._character_start(bytes, starts + max_bytes);
    if ends < size then
      blank := null;
      for place in reverse ends .. ends - 1000 loop
        if get_byte(bytes, place - 1) in (9, 10, 13, 32) then
          blank := coalesce(blank, place);
          if get_byte(bytes, place - 1) = 10 or get_byte(bytes, place - 2) in (33, 46, 63) then -- ! . ?
            blank := place;
            exit;
          end if;
        end if;
      end loop;
      ends := coalesce(blank, ends);
    end if;
    piece := convert_from(substring(bytes from starts + 1 for ends - starts), 'UTF8');
    return next;
    number := number + 1;
    starts := ends;
  end loop;
end;
$$;
