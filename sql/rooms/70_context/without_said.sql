-- The candidates without the sentences that p_said has, so that each sentence stands in a context once. A sentence of
-- few letters ("Yes, please") always stays, because its letters do not show that it means the same.
create or replace function memory._without_said(p_candidates memory._recalled[], p_said text)
returns memory._recalled[]
language plpgsql stable parallel safe
as $$
declare
  said constant text := memory._wording(p_said, 1000000);
begin
  if said is null then
    return p_candidates;
  end if;
  return array(
    select row(c.thread_id, c.seq, n.line, c.token_count, c.said_on, c.said_at, c.score, c.of_hit, c.wording,
               c.keys)::memory._recalled
    from unnest(p_candidates) with ordinality as c (
      thread_id, seq, line, token_count, said_on, said_at, score, of_hit, wording, keys, place)
    cross join lateral substring(c.line from '^[^:]*: ') as speaker
    cross join lateral (
      select case when bool_and(s.is_new) then c.line
                  else speaker || string_agg(s.sentence, ' ' order by s.place) filter (where s.is_new) end as line
      from (
        select t.sentence, t.place, not (octet_length(w.wording) >= 12 and strpos(said, w.wording) > 0) as is_new
        from regexp_split_to_table(substr(c.line, length(speaker) + 1),
                                   e'(?<=[.!?])\\s+|(?<=[\\u3002\\uff01\\uff1f])|\\n+')
             with ordinality as t (sentence, place)
        cross join lateral memory._wording(t.sentence) as w (wording)) as s) as n
    where n.line is not null
    order by c.place);
end;
$$;
