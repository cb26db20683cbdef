-- An upgrade makes calls wait. First it puts a check, the door, into the functions of the installed version, in a
-- transaction of its own. Calls pass the door until the upgrade shuts it. Calls that have passed it end before anything
-- is replaced, and calls that wait at it then call the new function. Without this pause a call that waited for a lock
-- inside an old function went on after the commit and missed what the upgrade had replaced; and calls that held one
-- table and waited for another kept the upgrade from getting all of them: at full load of ten sessions it gave up after
-- ten seconds.
--
-- The door is a lock of memory.migrations, which calls do not read otherwise. The functions of a version have no door,
-- so that their calls do not pay for one. While the procedure _door exists, the old version is installed; a call of
-- _door takes the doors away. An upgrade that fails leaves them open, which costs a call some microseconds, and the
-- next one uses them.
-- Installing the same version again needs no door.
begin isolation level read committed;
set local search_path = pg_catalog, pg_temp;
set local lock_timeout = '10s';

do $doors$
declare
  installed text;
  options constant text := '^\s*(?:#\w+ \w+\s*\n)*'; -- of a body, which stand before all else
  routine record;
  take_away text := '';
begin
  perform pg_advisory_xact_lock(hashtextextended('agent_memory install', 0));
  -- The next transaction says what is wrong with an installation that is another role's, newer, or not whole.
  if not exists (select from pg_namespace where nspname = 'memory' and pg_get_userbyid(nspowner) = current_user) then
    return; -- who may not use the schema may not look into it either
  end if;
  if to_regclass('memory.migrations') is null or to_regprocedure('memory.version()') is null
    or to_regprocedure('memory._door()') is not null
    or exists (select from pg_proc as p
               where p.pronamespace = to_regnamespace('memory') and p.proowner <> current_user::regrole
                 and p.proname = any (array[{{public functions}}])) then
    return;
  end if;
  execute 'select memory.version()' into installed;
  if installed = '{{version}}'
    or exists (select from memory.migrations as m
               where string_to_array(m.version, '.')::int[] > string_to_array('{{version}}', '.')::int[]) then
    return;
  end if;

  for routine in
    select p.oid::regprocedure as signature, p.prosrc as body, pg_get_functiondef(p.oid) as definition,
      -- The new function takes all arguments of the old one; it may have more, and more columns in its result.
      format('execute %L', format('select %s from memory.%I(%s)', coalesce(c.of_type, i.outputs, '*'), p.proname,
        i.inputs))
        || case when p.proretset or p.prorettype = 'void'::regtype then ''
             else ' into ' || coalesce(i.outputs, '"the answer"') end
        || coalesce(' using ' || i.numbers, '') as call,
      case when p.proretset then 'return query ' else '' end as verb,
      case when p.proretset or p.prorettype = 'void'::regtype or i.outputs is not null then 'return'
        else 'return "the answer"' end as ending,
      case when p.prorettype in ('void'::regtype, 'record'::regtype) then 'record'
        else format_type(t.oid, null) end as type
    from pg_proc as p
    join pg_language as l on l.oid = p.prolang and l.lanname = 'plpgsql'
    join pg_type as t on t.oid = p.prorettype
    cross join lateral (
      select string_agg(format('%I => $%s', a.name, a.number), ', ' order by a.number) filter (where a.is_input),
        string_agg('$' || a.number, ', ' order by a.number) filter (where a.is_input),
        string_agg(quote_ident(a.name), ', ' order by a.number) filter (where not a.is_input)
      from (select a.name, a.mode is null or a.mode in ('i', 'b', 'v') as is_input, a.number
            from unnest(p.proargnames, p.proargmodes) with ordinality as a (name, mode, number)) as a
    ) as i (inputs, numbers, outputs)
    cross join lateral (
      select string_agg(quote_ident(a.attname), ', ' order by a.attnum)
      from pg_attribute as a where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
    ) as c (of_type)
    -- Functions that clients call, and no others: these call the private ones.
    where p.pronamespace = 'memory'::regnamespace and p.prokind = 'f' and p.prosecdef
      and p.proname = any (array[{{public functions}}])
  loop
    take_away := take_away || format(e'execute %L;\n', routine.definition);
    execute replace(routine.definition, routine.body, format($body$%s
declare
  "the answer" %s;
begin
  perform from memory.migrations limit 1;
  if to_regprocedure('memory._door()') is null then
    %s%s;
    %s;
  end if;
  %s;
end;
$body$, substring(routine.body from options), routine.type, routine.verb, routine.call, routine.ending,
      rtrim(regexp_replace(routine.body, options, ''), e' \n\t;')));
    -- The call of the new function needs a snapshot of its own, so that it sees what the upgrade has written.
    execute format('alter function %s volatile', routine.signature);
  end loop;
  execute format('create procedure memory._door() language plpgsql set search_path = pg_catalog, pg_temp as %L',
    format(e'begin\n%sdrop procedure memory._door();\nend;', take_away));
  revoke all on procedure memory._door() from public;
end;
$doors$;
commit;
