-- Adds two objects of counts, such as {"memories": 2}, key by key. A count that one object lacks is 0 there.
create or replace function memory._added(p_a jsonb, p_b jsonb)
returns jsonb
language plpgsql immutable parallel safe
as $$
begin
  return (
    select coalesce(jsonb_object_agg(c.key, c.total), '{}')
    from (
      select e.key, sum(e.value::bigint) as total
      from (select * from jsonb_each_text(p_a) union all select * from jsonb_each_text(p_b)) as e
      group by e.key) as c);
end;
$$;

-- Adds a number to one of the counts. The number 0 or null leaves the counts as they are.
create or replace function memory._counting(p_counts jsonb, p_name text, p_number bigint)
returns jsonb
language plpgsql immutable parallel safe
as $$
begin
  return case when p_number > 0
    then p_counts || jsonb_build_object(p_name, coalesce((p_counts ->> p_name)::bigint, 0) + p_number)
    else p_counts end;
end;
$$;

-- The value of a counter after a change. If plain SQL has set the counter beyond 10^15 or below 0, the counter first
-- moves to that limit, so that one such row does not stop memory.sweep() of other rows.
create or replace function memory._counted_on(p_counter bigint, p_change bigint)
returns bigint
language sql immutable parallel safe
begin atomic
  select greatest(0, least(greatest(p_counter, 0), 1000000000000000) + p_change);
end;
