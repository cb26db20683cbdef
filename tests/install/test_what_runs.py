"""docs/what-runs-in-my-database.md and the first lines of the install file say what is true."""

from __future__ import annotations

import re

import pytest

from tests.support.installer import install, open_as
from tests.support.servers import INSTALL_SQL, ROOT
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F33")

PAGE = (ROOT / "docs" / "what-runs-in-my-database.md").read_text(encoding="utf-8")
ABOUT = INSTALL_SQL.read_text(encoding="utf-8").partition("\n\n")[0]
ELSEWHERE = """
select pg_describe_object(o.classid, o.objid, 0) from (
  select 'pg_class'::regclass as classid, oid as objid, relnamespace as schema from pg_class
  union all select 'pg_proc'::regclass, oid, pronamespace from pg_proc
  union all select 'pg_type'::regclass, oid, typnamespace from pg_type where typelem = 0
  union all select 'pg_event_trigger'::regclass, oid, null from pg_event_trigger
  union all select 'pg_foreign_server'::regclass, oid, null from pg_foreign_server
  union all select 'pg_namespace'::regclass, oid, oid from pg_namespace) as o
left join pg_namespace as n on n.oid = o.schema
where o.objid >= 16384 and n.nspname is distinct from 'memory' and n.nspname !~ '^pg_'
  and not exists (select from pg_depend as d where d.classid = o.classid and d.objid = o.objid and d.deptype = 'e')
union all
select format('setting %s', setdatabase::regclass) from pg_db_role_setting
"""


def test_the_numbers_of_the_head_are_those_of_the_database(api: Api) -> None:
    count = {
        "tables": "pg_class where relnamespace = 'memory'::regnamespace and relkind = 'r'",
        "views": "pg_class where relnamespace = 'memory'::regnamespace and relkind = 'v'",
        "triggers": "pg_trigger as t join pg_class as c on c.oid = t.tgrelid"
        " where c.relnamespace = 'memory'::regnamespace and not t.tgisinternal",
        "functions": "pg_proc where pronamespace = 'memory'::regnamespace",
        "of them public": "pg_proc where pronamespace = 'memory'::regnamespace and not starts_with(proname, '_')",
    }
    said = {what: int(number) for number, what in re.findall(rf"(\d+) ({'|'.join(count)})", ABOUT)}
    assert said == {what: api.value(f"select count(*) from {rows}") for what, rows in count.items()}


def test_nothing_is_made_or_set_elsewhere(empty_dsn: str) -> None:
    with open_as(empty_dsn) as connection:
        before = connection.execute(ELSEWHERE).fetchall()
        install(empty_dsn)
        assert connection.execute(ELSEWHERE).fetchall() == before


def test_the_statements_of_the_page_run(api: Api) -> None:
    statements = [
        statement
        for block in re.findall(r"^```sql\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
        for statement in re.sub(r" *--.*", "", block).split(";\n")
        if statement.strip()
    ]
    assert len(statements) >= 6
    for statement in statements:
        assert api.connection.execute(statement).description
