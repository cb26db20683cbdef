-- The sums of two objects of counts, such as {"memories": 2}. A count that one of them lacks is 0 there.
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
