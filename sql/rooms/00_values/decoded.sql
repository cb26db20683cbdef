-- The bytes of a text in base64 or hex, '' for a text that is neither, null for an empty text. The error of decode()
-- would quote the text.
create or replace function memory._decoded(p_text text, p_format text)
returns bytea
language plpgsql immutable parallel safe
as $$
begin
  return decode(nullif(btrim(p_text, e' \t\r\n'), ''), p_format);
exception
  when data_exception then
    return ''::bytea;
end;
$$;
