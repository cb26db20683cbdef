-- The name before a value shows that the value is a credential: DB_PASSWORD=x, "api_key": "x", my password is x.

-- The words for password in Spanish, Russian, Chinese and Japanese. The escapes let every encoding read the file.
create or replace function memory._foreign_password()
returns text
language sql immutable parallel safe
begin atomic
  select e'contrase\\u00f1a|\\u043f\\u0430\\u0440\\u043e\\u043b\\u044c|\\u5bc6\\u7801'
    || e'|\\u30d1\\u30b9\\u30ef\\u30fc\\u30c9';
end;

-- A regular expression for a name, the joint between name and value, the value with its quotes, and the end of the line
-- if it follows. The matching ignores case.
create or replace function memory._assignment()
returns text
language sql immutable parallel safe
begin atomic
  select e'((pass(?:word|wd|phrase|code|wort)|(?:db|user|smtp|mysql|redis|ftp|root|admin|mail)_?pass'
    || '|pwd|mot de passe|senha|' || memory._foreign_password()
    || e'|(?:client|shared|signing|webhook|app)[_ -]?secret|secret(?:[_ -]?(?:access[_ -]?)?key)?'
    || e'|(?:api|access|auth|account|private|shared|signing|encryption|master|refresh|bearer|session|bot)'
    || e'[_ -]?(?:access[_ -]?)?(?:key|token)|apikey|token)'
    || e'(?:\\\\?["''`\\]]{0,2}\\s*(?:=>|:=|={1,3}|:|\\uff1a)\\s*|\\s+(?:is|was|to|ist|lautet|est|es)\\s*:?\\s+))'
    || e'(\\\\?"[^"\\n]+"|\\\\?''[^''\\n]+''|`[^`\\n]+`|\\\\?["''`]?[^\\s"''`]+)([ \\t]*(?:\\r?\\n|$))?';
end;

-- One match of memory._assignment() with a mark in place of its credential. p_parts has name and joint, name, value and
-- end of line. The function uses few regular expressions, because each takes microseconds and a text may have 100,000
-- matches.
create or replace function memory._masked_assignment(p_parts text[])
returns text
language plpgsql immutable parallel safe
as $$
declare
  name constant text := lower(p_parts[2]);
  joint constant text := substr(p_parts[1], length(p_parts[2]) + 1);
  opening constant text := case
    when left(p_parts[3], 1) in ('"', '''', '`') then left(p_parts[3], 1)
    when left(p_parts[3], 2) in (e'\\"', e'\\''') then left(p_parts[3], 2)
    else '' end;
  value text := substr(p_parts[3], length(opening) + 1);
  -- After a name in quotes, as in JSON, a value without quotes becomes a text in the same quotes.
  quote constant text := case opening when '' then coalesce(substring(joint from e'^\\\\?["'']'), '') else '' end;
  is_kept boolean;
begin
  if opening <> '' then
    value := rtrim(value, e'"''`\\');
  else
    if translate(value, ';&,', '') <> value then -- a=b;c=d has two values
      value := (regexp_split_to_array(value, '[;&,][A-Za-z_.-]*[A-Za-z_][=:]'))[1];
    end if;
    value := rtrim(value, '.,;:)]}>');
  end if;
  if length(value) < 4
    -- These values are no credentials: marks, placeholders and places ((credential: token), ${VAR}, <password>,
    -- {{ key }}, %s, ****, /run/secrets/x), code (os.environ[], self.token, read_token()) and files (server.pem).
    or value ~ (e'^(?:[$][A-Za-z_{(]|[<{(\\[]|%[A-Za-z({]'
      || e'|[*.x\\u2022\\u2026_-]+$|[.~]{0,2}/|[a-z]+/[a-z0-9-]+/|https?:|arn:)')
    or value ~ e'[.](?:pem|key|json|ya?ml|txt)$'
    or opening = '' and value ~ e'^[A-Za-z_]\\w*(?:[(\\[]|[.][A-Za-z_])' then
    is_kept := true;
  elsif right(name, 3) = 'key' or right(name, 5) = 'token' or right(name, 6) = 'secret' then
    -- A key has 8 characters or more, with letters and digits. A time, several words, and a name with a number such as
    -- "prod-2024" are no keys.
    is_kept := length(value) < 8 or strpos(value, ' ') > 0 or value !~ '[0-9]' or value !~ '[A-Za-z]'
      or value ~ '^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}T|[A-Za-z]+(?:[-_./+][A-Za-z]+)*[-_+]?[0-9]{1,4}$)';
  else
    is_kept := not memory._is_password(value, opening <> '', joint, p_parts[4] is not null);
  end if;
  return case
    when is_kept then concat(p_parts[1], p_parts[3], p_parts[4])
    else concat(p_parts[1], opening, quote,
      '(credential: ', case right(name, 3) when 'key' then 'key' when 'ken' then 'token' when 'ret' then 'secret'
                         else 'password' end, ')', quote,
      substr(p_parts[3], length(opening) + length(value) + 1), p_parts[4])
  end;
end;
$$;

-- Whether the value after the name of a password is a password. A plain word is a password in quotes, at the end of a
-- line, or after "=" without blanks. After "is" a word needs quotes, a digit or a sign.
create or replace function memory._is_password(p_value text, p_is_quoted boolean, p_joint text, p_ends_line boolean)
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  return case
    when p_value ~ '[0-9]|[a-z][A-Z]' then true
    -- Words about passwords, and names in a program, are no passwords.
    when lower(p_value) ~ 'pass|secret|token|key|cred|auth|env|pwd' or lower(p_value) = any ('{
    null, none, nil, undefined, true, false, yes, required, optional, string, text, bytes, char, varchar, value, input,
    field, example, todo, change, changed, expired, invalid, valid, missing, incorrect, correct, wrong, empty, unset,
    redacted, hidden, encrypted, hashed, stored, reset, forgotten, unknown, default, generated, your, this, that, there,
    what, when, where, must, should, will, have, been, being, never, always, only, with, from, need, needed, here, sent,
    safe, weak, strong, short, long, visible, shown, used, same, user, form, data, request}'::text[]) then false
    when p_joint ~ '[A-Za-z]' then p_is_quoted and p_value !~ ' ' or p_value ~ '^[A-Za-z]+[!#$%&*+=?@^_~]'
    else p_is_quoted or p_joint = '=' or p_ends_line
  end;
end;
$$;
