-- The candidates without the sentences that p_said has: each sentence stands in a context once. Of a sentence of few
-- letters ("Yes, please") one cannot say that it is the same.
create or replace function memory._without_said(p_candidates memory._recalled[], p_said text)
returns memory._recalled[]
language plpgsql stable parallel safe
as $$
declare
  said constant text := memory._wording(p_said, 1000000);
  candidate memory._recalled;
  others memory._recalled[] := array[]::memory._recalled[];
  speaker text;
  new_words text;
begin
  if said is null then
    return p_candidates;
  end if;
  foreach candidate in array p_candidates loop
    speaker := substring(candidate.line from '^[^:]*: ');
    select case when bool_and(s.is_new) then candidate.line else speaker || string_agg(s.sentence, ' ' order by s.place)
                filter (where s.is_new) end
    into new_words
    from (
      select t.sentence, t.place, not (octet_length(w.wording) >= 12 and strpos(said, w.wording) > 0) as is_new
      from regexp_split_to_table(substr(candidate.line, length(speaker) + 1),
                                 e'(?<=[.!?])\\s+|(?<=[\u3002\uff01\uff1f])|\n+') with ordinality as t (sentence, place)
      cross join lateral memory._wording(t.sentence) as w (wording)) as s;
    continue when new_words is null;
    candidate.line := new_words;
    others := others || candidate;
  end loop;
  return others;
end;
$$;
