create or replace function memory.list_changes(
  after bigint default null, user_id text default null, row_limit int default 100
)
returns setof memory.change
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if user_id is not null then
    perform memory._check_id('user_id', user_id);
  end if;
  perform memory._check_page(row_limit, 0);
  perform memory._number_changes(100000);
  -- Two statements, because a session would keep one plan for both, which reads the changes of all users.
  if user_id is null then
    return query
    select c.change_id, c.at, c.user_id, c.source, c.id, c.operation, c.actor
    from memory.changes as c
    where c.change_id > coalesce(after, 0)
    order by c.change_id limit row_limit;
  else
    return query
    select c.change_id, c.at, c.user_id, c.source, c.id, c.operation, c.actor
    from memory.changes as c
    where c.user_id = list_changes.user_id and c.change_id > coalesce(after, 0)
    order by c.change_id limit row_limit;
  end if;
end;
$$;
comment on function memory.list_changes(bigint, text, int) is
'What was added, changed, hidden, deleted or forgotten, of one user or all, without content, in the order in which it '
'became visible: a later call never returns a row with a change_id that is not above those of an earlier call. Poll '
'with the change_id of the last row, kept after the call is committed. Rows are kept for policy changes.keep. For '
'administrators.';

-- Numbers at most p_row_limit of the committed changes, the earliest first. A transaction that commits later gets later
-- numbers, even if it began earlier, so a reader of a page misses no row before the end of the page. Only one
-- transaction at a time gives numbers: it holds the row of kind changes in memory.marks until it ends, so numbers
-- become visible in their order. Other calls skip the work and read what has numbers. A sequence gives the numbers, so
-- a number that a reader saw in a transaction that rolled back is not given again. Two changes of one row are in the
-- order of the clock, because the second waits for the transaction of the first.
create or replace function memory._number_changes(p_row_limit int)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if current_setting('transaction_read_only')::boolean or not exists (select from memory.new_changes) then
    return;
  end if;
  perform from memory.marks as k
  where k.user_id = '' and k.scope = '' and k.kind = 'changes' for no key update skip locked;
  if not found then
    return;
  end if;
  with taken as (
    delete from memory.new_changes as n where n.ctid = any (array(
      select o.ctid from memory.new_changes as o order by o.at limit p_row_limit for update skip locked))
    returning n.*
  )
  insert into memory.changes (at, user_id, source, id, operation, actor)
  select t.at, t.user_id, t.source, concat_ws('/', t.id, t.seq), t.operation, t.actor
  from taken as t order by t.at, t.seq;
end;
$$;
