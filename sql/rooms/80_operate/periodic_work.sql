-- Queues the jobs that become due with time, at most p_row_limit of each kind, and returns their number.
create or replace function memory._enqueue_periodic_work(p_row_limit int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  overdue record;
  queued bigint := 0;
begin
  for overdue in
    {{each kind with overdue, union all: select '<kind>' as kind, o.* from memory._<kind>_overdue(p_row_limit) as o}}
  loop
    queued := queued + memory._enqueue_due(overdue.user_id, overdue.kind, overdue.scope)::int;
  end loop;
  return queued;
end;
$$;
