-- Shuts the door, where an upgrade has put one (door.sql). Calls that began before that have passed none: they end
-- first, or two seconds pass, because a session may keep a transaction open for hours. An idle one is in no function.
do $drain$
declare
  calls constant text[] := array(
    select l.virtualxid
    from pg_locks as l
    join pg_stat_activity as a on a.pid = l.pid
    where l.locktype = 'virtualxid' and l.pid <> pg_backend_pid() and a.usesysid is not null
      and a.datname = current_database() and a.state is distinct from 'idle in transaction');
  ends_at constant timestamptz := clock_timestamp() + interval '2 s';
begin
  if to_regprocedure('memory._door()') is not null then
    while clock_timestamp() < ends_at and exists (
      select from pg_locks as l where l.locktype = 'virtualxid' and l.virtualxid = any (calls)) loop
      perform pg_sleep(0.005);
    end loop;
    call memory._lock();
    drop procedure memory._door();
  end if;
end;
$drain$;
