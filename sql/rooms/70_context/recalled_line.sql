-- A recalled message as one paragraph with its speaker. Further lines are indented, so that none of them looks like
-- another speaker or another day. If a speaker's name reads like a role, the paragraph shows the message's role
-- instead.
create or replace function memory._recalled_line(p_role text, p_metadata jsonb, p_said text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  name text := p_metadata ->> 'name';
begin
  if name is not null then
    -- A colon ends the name: with the name "Ana: I agree. Bob", the line would put words into Ana's mouth.
    name := btrim(translate(memory._memory_line(left(name, 100)), e':\u02d0\u2236\ua789\ufe13\ufe55\uff1a', '       '));
  end if;
  return case when coalesce(name, '') = '' or memory._reads_like_a_role(name) then p_role else name end || ': '
    || replace(memory._paragraph(p_said), e'\n', e'\n  ');
end;
$$;

-- Whether the letters of a name spell a role, whatever stands between the letters. Letters of other alphabets count as
-- the Latin letters that they look like.
create or replace function memory._reads_like_a_role(p_name text)
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  if octet_length(p_name) > length(p_name) and getdatabaseencoding() = 'UTF8' then
    p_name := translate(pg_catalog.normalize(p_name, 'NFKD'),
      'АЕМОРТаеморгтуѕіԁӏΑΕΜΟΡΤορν', 'AEMOPTaemoprtysidlAEMOPTopv');
  end if;
  return regexp_replace(lower(p_name), '[^[:alnum:]]', '', 'g')
    in ('user', 'assistant', 'agent', 'tool', 'system', 'developer');
end;
$$;

-- A passage of a message with "[...]" for the parts that are left out. A short first line of the message comes before
-- the passage, because such a line says which text the passage belongs to: "A plan for four weeks:", "Subject:
-- booking".
create or replace function memory._as_part(p_said text, p_passage text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  skipped constant int := strpos(p_said, p_passage) - 1;
  beginning constant text := substring(p_said from e'^\\s*(\\S[^\n]{0,119})\\n');
begin
  return concat_ws(e'\n[...]\n',
    case when btrim(left(p_said, skipped), e' \t\r\n') <> '' then
      case when length(beginning) <= skipped then beginning else '' end end,
    p_passage)
    || case when btrim(substr(p_said, skipped + length(p_passage) + 1), e' \t\r\n') <> '' then e'\n[...]' else '' end;
end;
$$;
