-- An id as a log shows it: without the characters that would begin another line.
create or replace function memory._in_a_line(p_id text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return regexp_replace(p_id, '[[:cntrl:]]', '?', 'g');
end;
$$;
