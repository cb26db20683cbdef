-- The text whose words find a message. It has the speaker's name and the date, as questions ask "what did Ana say in
-- May".
create or replace function memory._said_in_message(p_content text, p_metadata jsonb, p_created_at timestamptz)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return concat_ws(' ', to_char(memory._day_of(p_created_at), 'FMDD FMMonth YYYY'), p_metadata ->> 'name', p_content);
end;
$$;
