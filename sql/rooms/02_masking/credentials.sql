-- These functions keep credentials out of the texts that models read. A mark with the kind of the credential takes its
-- place: "(credential: GitHub token)". The mark looks like no credential, so a second call changes nothing more. Every
-- pattern takes time linear in the text: 10 MB without a blank take seconds.

-- Whether a text has a part that stands in every credential with a form of its own, or in every random one. One regular
-- expression takes 6 us for 1,750 characters; searches for each of the words take 50.
create or replace function memory._may_have_form(p_text text)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_text ~* '[A-Z0-9+/_-]{20}|://|authorization|curl|[-][-]';
end;

-- Whether a text has a word that stands in every name of a credential.
create or replace function memory._may_have_name(p_text text)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_text ~* 'pass|pwd|secret|key|token|contrase|senha'
    or octet_length(p_text) > length(p_text) and p_text ~ memory._foreign_password();
end;

-- The text with marks in place of credentials. Most texts have none, and the first tests find that in 10 us; the
-- patterns, which PostgreSQL prepares anew in each call, would take 300. To compile all patterns takes a session 20 ms,
-- and their parts half a millisecond (CPU, 2026-11).
create or replace function memory._without_credentials(p_text text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  may_have_form constant boolean := memory._may_have_form(p_text);
  form record;
begin
  if may_have_form and p_text ~ (select string_agg(f.part, '|') from memory._credential_forms() as f) then
    for form in select f.* from memory._credential_forms() as f where p_text ~ f.part loop
      p_text := regexp_replace(p_text, form.pattern, form.mark, 'g');
    end loop;
  end if;
  if memory._may_have_name(p_text) and p_text ~* memory._assignment() then
    p_text := (
      select string_agg(case when m.parts is null then g.gap else g.gap || memory._masked_assignment(m.parts) end, ''
                        order by g.place)
      from regexp_split_to_table(p_text, memory._assignment(), 'i') with ordinality as g (gap, place)
      left join regexp_matches(p_text, memory._assignment(), 'gi') with ordinality as m (parts, place)
        on m.place = g.place);
  end if;
  if may_have_form and p_text ~ memory._long_word() then
    p_text := memory._without_random_words(p_text);
  end if;
  return p_text;
end;
$$;

-- A JSON value with marks in its texts (memory._masked()); keys stay. A message with changed content gets is_cut, so
-- that no job stores the token count of the marked text as the count of the message. A value deeper than 100 levels
-- becomes a text: at about 1,000 levels the stack of the server ends, and no worker could claim a job with such a call
-- of a tool.
create or replace function memory._json_masked(p_value jsonb, p_masks text[], p_depth int default 0)
returns jsonb
language plpgsql immutable parallel safe
as $$
declare
  said text;
  masked jsonb;
begin
  if p_depth = 100 then
    return to_jsonb(memory._masked(p_value::text, p_masks));
  elsif p_depth <= 3 and jsonb_typeof(p_value) in ('array', 'object')
    and not jsonb_path_exists(p_value, 'strict $.**{97}') then
    -- Most values have nothing to mask. One look at all texts of a value takes a tenth of the time of a call for each.
    select string_agg(s.value #>> '{}', e'\n') into said
    from jsonb_path_query(p_value, 'strict $.** ? (@.type() == "string")') as s (value);
    if (memory._may_have_form(said) or memory._may_have_name(said)
        or p_masks <> '{credential}' and memory._may_have_personal_data(said)) is not true then
      return p_value;
    end if;
  end if;
  case jsonb_typeof(p_value)
    when 'string' then
      return to_jsonb(memory._masked(p_value #>> '{}', p_masks));
    when 'array' then
      select jsonb_agg(memory._json_masked(i.value, p_masks, p_depth + 1) order by i.position) into masked
      from jsonb_array_elements(p_value) with ordinality as i (value, position);
      return coalesce(masked, p_value);
    when 'object' then
      -- The ids of tool calls look random and must stay; signed and encrypted content of a provider must stay, too.
      select jsonb_object_agg(i.key, case when i.key ~ '(?:^|_)(?:id|signature|encrypted_content)$' then i.value
                                     else memory._json_masked(i.value, p_masks, p_depth + 1) end) into masked
      from jsonb_each(p_value) as i;
      masked := coalesce(masked, p_value);
      return case
        when masked ? 'token_count' and masked -> 'content' <> p_value -> 'content' then masked || '{"is_cut": true}'
        else masked
      end;
    else
      return p_value;
  end case;
end;
$$;

-- The credentials with a form of their own, and their marks. A text that a pattern matches also matches its part.
-- memory._assignment() finds further credentials by the name before them, and memory._long_word() finds credentials
-- that look random.
create or replace function memory._credential_forms()
returns table (part text, pattern text, mark text)
language sql immutable parallel safe
begin atomic
  select f.part, f.pattern, coalesce(f.mark, '(credential: ' || f.name || ')')
  from (values
    -- The pattern matches a whole key, and a key whose end is cut off.
    ('private key', 'PRIVATE KEY',
      '-{5}BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-{5}(?:(?:[^-]|-[^-])*-{5}END [A-Z0-9 ]*-{5}'
      || e'|(?:(?:\\s|\\\\[rn])*[A-Za-z0-9+/=]{16,})+)', null),
    ('password', e'://[^\\s/@]*@', e'(://[^\\s:/@"''<>]*:)[^\\s/@"''<>]+@', e'\\1(credential: password)@'),
    ('GitHub token', 'gh[pousr]_|github_pat_', e'\\m(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})', null),
    ('GitLab token', 'gl(?:pat|rt|dt|ptt|cbt|oas)-', e'\\mgl(?:pat|rt|dt|ptt|cbt|oas)-[A-Za-z0-9_.-]{20,}', null),
    ('AWS access key', 'A(?:KIA|SIA|BIA|CCA)', e'\\m(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\\M', null),
    ('Anthropic key', 'sk-ant-', e'\\msk-ant-[A-Za-z0-9_-]{20,}', null),
    ('OpenAI key', e'\\msk-', e'\\msk-[A-Za-z_-]{0,40}[0-9][A-Za-z0-9_-]{12,}', null),
    ('Stripe key', '[rs]k_(?:live|test)_|whsec_',
      e'\\m(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{20,}=*)', null),
    ('Slack token', 'xox[abeoprs]-|xapp-', e'\\m(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}', null),
    ('Slack webhook', 'hooks[.]slack[.]com',
      'hooks[.]slack[.]com/(?:services|workflows|triggers)/[A-Za-z0-9_/-]{20,}', null),
    ('Discord webhook', 'discord(?:app)?[.]com', 'discord(?:app)?[.]com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{20,}', null),
    ('Google API key', 'AIza', e'\\mAIza[A-Za-z0-9_-]{35}', null),
    ('Google token', 'ya29[.]|GOCSPX-|1//0',
      e'\\m(?:ya29[.][A-Za-z0-9_.-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}|1//0[A-Za-z0-9_-]{20,})', null),
    ('JSON web token', 'eyJ', e'\\meyJ[A-Za-z0-9_-]{8,}[.][A-Za-z0-9_-]{8,}(?:[.][A-Za-z0-9_-]*)+', null),
    ('SendGrid key', 'SG[.]', e'\\mSG[.][A-Za-z0-9_-]{16,}[.][A-Za-z0-9_-]{16,}', null),
    ('npm token', 'npm_', e'\\mnpm_[A-Za-z0-9]{30,}', null),
    ('PyPI token', 'pypi-', e'\\mpypi-[A-Za-z0-9_-]{50,}', null),
    ('Hugging Face token', 'hf_', e'\\mhf_[A-Za-z0-9]{30,}', null),
    ('DigitalOcean token', 'do[opr]_v1_', e'\\mdo[opr]_v1_[a-f0-9]{40,}', null),
    ('Twilio key', '(?:SK|AC)[0-9a-f]{4}', e'\\m(?:SK|AC)[0-9a-f]{32}\\M', null),
    ('Telegram token', ':AA', e'\\m[0-9]{8,10}:AA[A-Za-z0-9_-]{33}', null),
    ('Docker token', 'dckr_pat_', e'\\mdckr_pat_[A-Za-z0-9_-]{20,}', null),
    ('Shopify token', 'shp(?:at|ca|pa|ss)_', e'\\mshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}', null),
    ('Vault token', 'hv[sbr][.]', e'\\mhv[sbr][.][A-Za-z0-9_-]{20,}', null),
    ('authorization', '[Bb]earer |BEARER |[Tt]oken ',
      e'\\m([Bb]earer|BEARER|[Tt]oken) +[A-Za-z._~+/-]*[0-9][A-Za-z0-9._~+/-]{15,}=*',
      e'\\1 (credential: authorization)'),
    ('authorization', '[Aa]uthorization',
      e'([Aa]uthorization["'']?\\s*[:=]\\s*["'']?(?:Basic|Bearer|Token|Digest|basic|bearer|token)\\s+)'
      || e'(?![(])[^\\s"'']{6,}', e'\\1(credential: authorization)'),
    ('password', '-{2}[a-z-]*(?:passw|token|secret|api-key)',
      e'(\\s-{2}[a-z-]*(?:password|passwd|token|secret|api-key)[ =]+["'']?)[^\\s"''(]*[0-9][^\\s"'']*',
      e'\\1(credential: password)'),
    ('password', 'curl ',
      e'(\\mcurl [^\\n]*(?:-u|--user)[ =]*["'']?[^\\s:"'']+:)(?![(])[^\\s"'']+',
      e'\\1(credential: password)')
  ) as f (name, part, pattern, mark);
end;
