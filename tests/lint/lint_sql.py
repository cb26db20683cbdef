"""Checks the built SQL: its escapes, and what pgspot and plpgsql_check find, of which everything is an error.

plpgsql_check looks at each PL/pgSQL function of an installed database. A trigger function is checked once for each of
its tables, with the transition tables that its triggers there give it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from typing import cast

import pglast
import psycopg

from tests.support.servers import INSTALL_SQL, install_agent_memory, running_server

# An unused argument of a public function is no finding: arguments are the contract.
FINDINGS = """
with checked as (
    select p.oid::regprocedure as function, coalesce(t.tgrelid, nodes.tgrelid) as tgrelid,
           max(t.tgoldtable) as oldtable, max(t.tgnewtable) as newtable
    from pg_proc p
    join pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql'
    left join pg_trigger t on t.tgfoid = p.oid
    -- Triggers that only nodes of a cluster have.
    left join (select 'memory.jobs'::regclass::oid as tgrelid) nodes on p.proname like E'\\\\_node\\\\_before\\\\_%'
    where p.pronamespace = 'memory'::regnamespace
    group by p.oid, coalesce(t.tgrelid, nodes.tgrelid)
)
select function::text || coalesce(' on ' || tgrelid::regclass::text, ''), c.lineno, c.level,
       concat_ws('. ', c.message, c.detail, c.hint)
from checked
cross join lateral plpgsql_check_function_tb(
    function, relid => coalesce(tgrelid, 0), oldtable => oldtable, newtable => newtable, fatal_errors => false,
    other_warnings => true, extra_warnings => true, security_warnings => true, compatibility_warnings => true
) c
where not (c.message like 'unused parameter %' and function::text !~ '^memory[.]_')
order by 1, 2
"""

# Functions that run with whatever search_path their caller has, although others than our own functions call them: from
# outside, as a trigger or in a view. SQL bodies are bound when they are created, and a procedure that commits must not
# set anything.
UNPINNED = """
select p.oid::regprocedure::text
from pg_proc as p
where p.pronamespace = 'memory'::regnamespace and p.prosqlbody is null and p.prokind = 'f'
  and not exists (select from unnest(p.proconfig) as c where c like 'search_path=%')
  and (p.proname not like E'\\\\_%' or p.prosecdef or p.prorettype = 'trigger'::regtype
       or exists (select from pg_depend as d where d.classid = 'pg_rewrite'::regclass
                  and d.refclassid = 'pg_proc'::regclass and d.refobjid = p.oid))
order by 1
"""
# Functions that are marked parallel safe and catch errors, themselves or in a function that they call: a process that
# works in parallel may not begin the subtransaction that this takes.
CATCHING = """
with recursive catching (function, name) as (
    select p.oid, p.proname from pg_proc as p
    where p.pronamespace = 'memory'::regnamespace and p.prosrc ~ E'\\\\mexception\\\\s+when'
    union
    select p.oid, p.proname
    from catching as c
    join pg_proc as p on p.pronamespace = 'memory'::regnamespace and p.proparallel = 's'
      and strpos(coalesce(pg_get_function_sqlbody(p.oid), p.prosrc), 'memory.' || c.name || '(') > 0
)
select c.function::regprocedure::text
from catching as c
join pg_proc as p on p.oid = c.function and p.proparallel <> 'u'
order by 1
"""
ESCAPED = re.compile(r"(?<![\w'])[eE]'((?:[^'\\]|\\.|'')*)'", re.DOTALL)
DROPPED = re.compile(r"\\(?:[bfnrtuUx0-7\\']|(.))", re.DOTALL)
PRIVATE = re.compile(
    r"^create or replace function memory\._\w+\((?:(?!^as )[\s\S])*?"
    r"^language (?:plpgsql|sql)(?! [^\n]*\nset search_path)",
    re.MULTILINE,
)


def readable_for_pgspot(sql: str) -> str:
    """The SQL without the constructs that pgspot cannot read or judge; line numbers stay.

    Functions with a standard body (RETURN or BEGIN ATOMIC) are blanked out: they are safe, because their names are
    bound when they are created. ``return next …`` becomes its equivalent ``return query select …``.
    """
    places = cast("tuple[slice, ...]", pglast.split(sql, only_slices=True))
    for statement, place in zip(pglast.parse_sql(sql), places, strict=True):
        if isinstance(statement.stmt, pglast.ast.CreateFunctionStmt) and statement.stmt.sql_body is not None:
            blank = "".join("\n" if character == "\n" else " " for character in sql[place])
            sql = sql[: place.start] + blank + sql[place.stop :]
    sql = PRIVATE.sub(lambda head: f"{head[0]} set search_path = pg_catalog, pg_temp", sql)
    return re.sub(r"\breturn next (?=\S)", "return query select ", sql)


def pgspot_is_content() -> bool:
    """Run pgspot, which prints what it finds."""
    sql = readable_for_pgspot(INSTALL_SQL.read_text(encoding="utf-8"))
    command = [sys.executable, "-m", "pgspot", "--ignore-lang=plpython3u"]
    result = subprocess.run(command, input=sql, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        print(result.stdout, result.stderr, sep="", end="", file=sys.stderr)
    return result.returncode == 0


def escapes_are_known() -> bool:
    r"""Print the texts with a backslash that PostgreSQL drops: e'\s' is the letter s, and e'\\s' is meant."""
    sql = INSTALL_SQL.read_text()
    findings = [
        f"line {sql.count(chr(10), 0, text.start()) + 1}: \\{escape[1]} is {escape[1]} in {text[0][:60]}"
        for text in ESCAPED.finditer(sql)
        for escape in DROPPED.finditer(text[1])
        if escape[1]
    ]
    print(*findings, sep="\n", end="\n" if findings else "", file=sys.stderr)
    return not findings


def plpgsql_check_is_content() -> bool:
    """Run plpgsql_check in fresh databases, one of them with the core alone, and print what it finds."""
    with running_server("system") as server:
        install_agent_memory(server, "postgres")
        with psycopg.connect(server.conninfo(), autocommit=True) as connection:
            connection.execute("create extension plpgsql_check")
            findings = connection.execute(FINDINGS).fetchall()
            unpinned = connection.execute(UNPINNED).fetchall()
            catching = connection.execute(CATCHING).fetchall()
            connection.execute("create database core")
        install_agent_memory(server, "core", is_core=True)
        with psycopg.connect(server.conninfo("core"), autocommit=True) as connection:
            connection.execute("create extension plpgsql_check")
            # What is unused where an add-on would use it is no finding.
            findings += [found for found in connection.execute(FINDINGS).fetchall() if found[2] == "error"]
    for function, line, level, message in findings:
        print(f"{function}, line {line}: {level}: {message}", file=sys.stderr)
    for (function,) in unpinned:
        print(f"{function} is called from outside and sets no search_path", file=sys.stderr)
    for (function,) in catching:
        print(f"{function} catches errors, or calls a function that does, and is marked parallel safe", file=sys.stderr)
    return not findings and not unpinned and not catching


if __name__ == "__main__":
    sys.exit(0 if all([escapes_are_known(), pgspot_is_content(), plpgsql_check_is_content()]) else 1)
