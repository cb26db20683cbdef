-- The signs that put a text of this trust into quarantine; null when it has none. Signs are a sieve of few words
-- (lists/signs.toml, lists/signs/): they accuse hardly any harmless text, and find only attacks that make no effort to
-- hide. The user and the application may give the model orders ("ignore emails from Bob"), so no phrase counts in their
-- texts. docs/poisoning.md has the measured detection and false alarms.
--
-- A new session takes 140 ms to prepare the expressions of all phrases. So an expression is used only for a text that
-- has words of its phrases. For a text that is too long for a tsvector every expression is used.
create or replace function memory._verdict(p_text text, p_trust double precision)
returns text
language plpgsql immutable parallel safe
as $$
declare
  said text := lower(p_text);
  said_words constant tsvector := case when p_trust < 0.9 and octet_length(said) < 250000
    then to_tsvector('simple', regexp_replace(said, '\w{100,}|\W+', ' ', 'g')) end;
  signs text;
begin
  for look in 1 .. 2 loop
    select string_agg(s.sign, ', ' order by s.place) into signs
    from (
      select 1 as place, c.* from (values
      {{signs certain}}) as c (sign, pattern)
      union all
      select 2, l.* from (values
      {{signs likely}}) as l (sign, pattern)
      where p_trust < 0.9
      union all
      select 2, f.sign, case
          when f.words is null and said ~ '[\u3041-\u9fff]' or coalesce(said_words @@ f.words, f.words is not null)
            then f.pattern end
      from (values
      {{signs phrases}}) as f (sign, words, pattern)
      where p_trust < 0.9) as s
    where said ~ s.pattern;
    exit when signs is null or said !~ {{pattern signs about_attacks}};
    said := regexp_replace(said, {{pattern signs quoted}}, '', 'g');
  end loop;
  return signs;
end;
$$;

-- The reason for which a text of low trust is in quarantine until the screen model has judged it.
create or replace function memory._waiting_reason()
returns text
language sql immutable parallel safe
begin atomic
  select 'screen: waiting for a verdict';
end;
