-- A mark, such as "(credential: GitHub token)" or "(masked: email)", takes the place of a text that must not be stored
-- or sent. No mark looks like a text that is masked, so a second call changes nothing more. The patterns are data:
-- lists/credentials.toml and lists/personal_data.toml. Every pattern takes time linear in the text.

-- Whether a text may have something to mask. p_masks names classes of personal data, and 'credential'. Most texts have
-- nothing to mask, and this test takes a hundredth of the time of the patterns.
create or replace function memory._may_be_masked(p_text text, p_masks text[])
returns boolean
language sql immutable parallel safe
begin atomic
  select 'credential' = any (p_masks) and p_text ~* {{pattern credentials may}}
    or p_masks && '{email,ip,iban,card,phone}' and p_text ~* {{pattern personal_data may}};
end;

-- The text with marks of the classes p_masks. Credentials are masked first, because a password in an address
-- (https://ana:pass@example.org) would otherwise look like an email address.
create or replace function memory._masked(p_text text, p_masks text[])
returns text
language plpgsql immutable parallel unsafe
as $$
declare
  fence text; -- stands in no text that it is joined with
  form record;
  pieces text[];
begin
  if memory._may_be_masked(p_text, p_masks) is not true then
    return p_text;
  end if;
  if 'credential' = any (p_masks) then
    p_text := memory._without_credentials(p_text);
  end if;
  if p_masks && '{email,ip,iban,card,phone}' then
    fence := encode(sha256(convert_to(p_text, 'UTF8')), 'hex');
    pieces := memory._pieces_to_mask(p_text);
    for form in
      select f.*
      from (values
      {{rows personal_data: class, part, pattern, replacement}}) as f (class, part, pattern, replacement)
      where f.class = any (p_masks)
    loop
      -- The statement tests each piece before it cuts the piece at the matches: finding one match takes 100 us, as long
      -- as testing a piece without a match.
      pieces := array(
        select case when p.piece !~* form.part or p.piece !~* form.pattern then p.piece else (
          select string_agg(case when f.place % 2 = 0 then memory._marked(form.class, f.said) else f.said end, ''
                            order by f.place)
          from string_to_table(
            regexp_replace(p.piece, form.pattern, replace(form.replacement, '|', fence), 'gi'), fence)
            with ordinality as f (said, place)) end
        from unnest(pieces) with ordinality as p (piece, place)
        order by p.place);
    end loop;
    p_text := array_to_string(pieces, '');
  end if;
  return p_text;
end;
$$;

-- A JSON value with marks in its texts. Keys stay. A message with changed content gets is_cut, so that no job stores
-- the token count of the marked text as the count of the message. A value that is nested deeper than 100 levels becomes
-- a text: at about 1,000 levels the stack of the server ends, and no worker could claim a job with it.
create or replace function memory._json_masked(p_value jsonb, p_masks text[], p_depth int default 0)
returns jsonb
language plpgsql immutable parallel unsafe
as $$
declare
  masked jsonb;
begin
  if p_depth = 100 then
    return to_jsonb(memory._masked(p_value::text, p_masks));
  elsif p_depth = 0 and not jsonb_path_exists(p_value, 'strict $.**{97}') and memory._may_be_masked((
      select string_agg(s.value #>> '{}', e'\n')
      from jsonb_path_query(p_value, 'strict $.** ? (@.type() == "string")') as s (value)), p_masks) is not true then
    return p_value;
  end if;
  case jsonb_typeof(p_value)
    when 'string' then
      return to_jsonb(memory._masked(p_value #>> '{}', p_masks));
    when 'array' then
      select jsonb_agg(memory._json_masked(i.value, p_masks, p_depth + 1) order by i.position) into masked
      from jsonb_array_elements(p_value) with ordinality as i (value, position);
      return coalesce(masked, p_value);
    when 'object' then
      -- The ids of tool calls stay, although they look random. Signed and encrypted content of a provider stays, too.
      select jsonb_object_agg(i.key, case when i.key ~ '(?:^|_)(?:id|signature|encrypted_content)$' then i.value
                                     else memory._json_masked(i.value, p_masks, p_depth + 1) end) into masked
      from jsonb_each(p_value) as i;
      masked := coalesce(masked, p_value);
      return case
        when masked ? 'token_count' and masked -> 'content' <> p_value -> 'content' then masked || '{"is_cut": true}'
        -- Nobody counts the tokens of a masked text: contexts show the text itself.
        when masked ? 'count' and masked -> 'text' <> p_value -> 'text' then masked - 'count'
        else masked
      end;
    else
      return p_value;
  end case;
end;
$$;
