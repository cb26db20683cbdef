-- A recalled message as one paragraph with its speaker. Further lines are indented, so that none of them looks like
-- another speaker or another day. If the letters of a speaker's name spell a role, whatever stands between them, the
-- paragraph shows the message's role instead. Letters of other alphabets count as the Latin letters that they look
-- like.
create or replace function memory._recalled_line(p_role text, p_metadata jsonb, p_said text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  name text := p_metadata ->> 'name';
  letters text;
begin
  if name is not null then
    -- A colon ends the name: with the name "Ana: I agree. Bob", the line would put words into Ana's mouth.
    name := btrim(translate(memory._memory_line(left(name, 100)), e':\u02d0\u2236\ua789\ufe13\ufe55\uff1a', '       '));
    letters := name;
    if octet_length(name) > length(name) and getdatabaseencoding() = 'UTF8' then
      letters := translate(pg_catalog.normalize(name, 'NFKD'),
        'АЕМОРТаеморгтуѕіԁӏΑΕΜΟΡΤορν', 'AEMOPTaemoprtysidlAEMOPTopv');
    end if;
    letters := regexp_replace(lower(letters), '[^[:alnum:]]', '', 'g');
  end if;
  return case when coalesce(name, '') = ''
      or letters in ('user', 'assistant', 'agent', 'tool', 'system', 'developer') then p_role else name end || ': '
    || replace(memory._paragraph(p_said), e'\n', e'\n  ');
end;
$$;
