"""Takes agent_memory out of a database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import class_row

from .calls import translated
from .errors import ConflictError
from .install import installed_version
from .schema import cursors_in, schema_of


@dataclass(frozen=True)
class Part:
    """Something that an uninstallation removes, or leaves.

    Attributes:
        what: what it is.
        statement: the SQL that removes it.
        stays: why it stays; None if it goes.
    """

    what: str
    statement: str
    stays: str | None


# What "drop schema memory cascade" drops, by pg_depend. A view goes by its rule: what is a part of another object takes
# that along.
_GONE = """
    with recursive gone (classid, objid) as (
      select 'pg_namespace'::regclass::oid, 'memory'::regnamespace::oid
      union
      select d.classid, d.objid
      from gone as g
      cross join lateral (
        select u.classid, u.objid from pg_depend as u
        where u.refclassid = g.classid and u.refobjid = g.objid and u.deptype in ('n', 'a', 'i', 'P', 'S')
        union all
        select w.refclassid, w.refobjid from pg_depend as w
        where w.classid = g.classid and w.objid = g.objid and w.deptype = 'i') as d
    )"""
_OF_OTHERS = f"""{_GONE}
    select format('%s %s', i.type, i.identity) as what, '' as statement, null as stays
    from gone as g
    cross join lateral pg_identify_object(g.classid, g.objid, 0) as i
    left join pg_class as c on g.classid = 'pg_class'::regclass and c.oid = g.objid
    left join pg_proc as p on g.classid = 'pg_proc'::regclass and p.oid = g.objid
    cross join (select n.nspowner from pg_namespace as n where n.nspname = 'memory') as n
    where i.type not in ('rule', 'type', 'schema')
      and (coalesce(i.schema, substring(i.identity from '(?: on |^for )([^. ]+)[.]'))
             not in ('memory'::regnamespace::text, 'pg_toast')
           or coalesce(c.relowner, p.proowner) <> n.nspowner)
    order by 1"""
_SCHEDULES = ", ".join(
    f"'agent_' || 'memory'::regnamespace || ' {name} ' || current_database()" for name in ("jobs", "sweep")
)
_SCHEDULE = f"""
    select format('schedule "%s" of pg_cron', j.jobname) as what,
      format('select cron.unschedule(%s)', j.jobid) as statement, null as stays
    from cron.job as j
    where j.jobname in ({_SCHEDULES})
    order by j.jobname"""
_SCHEDULE_ELSEWHERE = f"""
    select 'schedules of pg_cron, if there are any' as what,
      format('select cron.unschedule(jobid) from cron.job where jobname in (%L, %L)',
        {_SCHEDULES}) as statement,
      format('pg_cron lives in database "%s": run the statement there', current_setting('cron.database_name')) as stays
    where current_setting('cron.database_name', true) <> current_database()"""
_PARTS = f"""{_GONE}
    select format('schema memory: %s tables with %s, for %s', count(*),
        pg_size_pretty(sum(pg_total_relation_size(c.oid))),
        (select case count(*) when 1 then '1 user' when 1000 then '1,000 users or more' else count(*) || ' users' end
           || ' with conversations'
         from (select from memory.threads group by user_id limit 1000) as u)) as what,
      'drop schema memory cascade' as statement, null as stays
    from pg_class as c where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r'
    union all
    select * from (
      select format('role %s', r.rolname), format('drop role %I', r.rolname),
        case
          when shobj_description(r.oid, 'pg_authid') like 'For login roles of agent_memory%' is not true
          then 'agent_memory has not made it'
          when exists (
            select from pg_shdepend as d
            where d.refclassid = 'pg_authid'::regclass and d.refobjid = r.oid
              and (d.dbid <> (select b.oid from pg_database as b where b.datname = current_database())
                   or (d.classid, d.objid) not in (select g.classid, g.objid from gone as g)))
          then 'it has rights elsewhere, or owns something'
          when not (me.rolsuper or me.rolcreaterole and (current_setting('server_version_num')::int < 160000
                                                         or pg_has_role(r.oid, 'member with admin option')))
          then format('role %s may not drop it', current_user)
        end
      from pg_roles as r cross join pg_roles as me
      where me.rolname = current_user and r.rolname in (
        select memory._role_name(n.name)
        from unnest(array['app', 'tenant', 'worker', 'reader', 'admin']) as n (name))
      order by r.rolname) as roles
    union all
    select * from (
      select format('extension %s', e.extname), format('drop extension %I', e.extname),
        case
          when obj_description(e.oid, 'pg_extension') like '%(made by agent_memory)' is not true
          then 'agent_memory has not made it'
          when exists (select from pg_proc as o
                       where o.proname = '_role_name' and o.pronamespace <> 'memory'::regnamespace)
          then 'another agent_memory in this database needs it'
          when exists (
            select from pg_depend as m
            join pg_depend as d on d.refclassid = m.classid and d.refobjid = m.objid and d.deptype in ('n', 'a')
            where m.refclassid = 'pg_extension'::regclass and m.refobjid = e.oid and m.deptype = 'e'
              -- parts of its operator families, and its types of arrays
              and d.classid not in ('pg_amop'::regclass, 'pg_amproc'::regclass, 'pg_type'::regclass)
              and (d.classid, d.objid) not in (select g.classid, g.objid from gone as g)
              and not exists (select from pg_depend as o
                              where o.classid = d.classid and o.objid = d.objid and o.deptype = 'e'
                                and o.refclassid = m.refclassid and o.refobjid = e.oid))
          then 'something else in this database needs it'
          when not pg_has_role(e.extowner, 'usage') then format('it belongs to role %s', pg_get_userbyid(e.extowner))
        end
      from pg_extension as e where e.extname in ('vector', 'pgcrypto', 'plpython3u')
      order by e.extname) as extensions"""


def uninstall(connection: psycopg.Connection[Any], *, dry_run: bool = False, schema: str | None = None) -> list[Part]:
    """Remove agent_memory from a database with all that it stores there: all or nothing.

    Schedules, the schema, the roles that no other database uses, and the extensions that it has made go. What others
    have made stays, also if agent_memory uses that.

    Args:
        connection: of the owner of the schema, in autocommit mode.
        dry_run: remove nothing.
        schema: as in ``install``.

    Returns:
        What goes, in this order, and what stays.

    Raises:
        ConflictError: objects of others depend on the schema, such as a view that reads it. Nothing was changed.
        NotInstalledError: the database has no agent_memory.
        PermissionDeniedError: the role may not do that. Nothing was changed.
    """
    schema = schema_of(connection, schema)
    installed_version(connection, schema)
    with (
        connection.transaction(),
        translated(connection, schema=schema),
        cursors_in(schema)(connection, row_factory=class_row(Part)) as cursor,
    ):
        if of_others := [part.what for part in cursor.execute(_OF_OTHERS).fetchall()]:
            raise ConflictError(
                f"schema {schema}: others have objects that would go with it: {', '.join(of_others)}",
                hint="Nothing was changed. Drop these objects, or move them away, and try again.",
            )
        has_cron = cursor.execute("select from pg_extension where extname = 'pg_cron'").rowcount == 1
        parts: list[Part] = cursor.execute(_SCHEDULE if has_cron else _SCHEDULE_ELSEWHERE).fetchall()
        parts += cursor.execute(_PARTS).fetchall()
        if not dry_run:
            cursor.execute("set local lock_timeout = '10s'")
            for part in parts:
                if part.stays is None:
                    psycopg.Cursor(connection).execute(part.statement.encode())  # as the database has written it
    return parts
