-- The bytes that a text encodes in base64 or hex; '' if the text is no such encoding, null if it is empty. The function
-- raises no error, because the error of decode() quotes the text.
create or replace function memory._decoded(p_text text, p_format text)
returns bytea
language plpgsql immutable parallel unsafe
as $$
begin
  return decode(nullif(btrim(p_text, e' \t\r\n'), ''), p_format);
exception
  when data_exception then
    return ''::bytea;
end;
$$;
