"""The counts on docs/what-runs-in-my-database.md; reference.py writes them between two marks of that page."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "what-runs-in-my-database.md"
COUNTS = re.compile(r"(?<=<!-- counts -->\n).*?(?=<!-- end of counts -->)", re.DOTALL)
TOGETHER = """
select
  (select count(*) from pg_class where relnamespace = 'memory'::regnamespace and relkind = 'r'),
  (select count(*) from pg_class where relnamespace = 'memory'::regnamespace and relkind = 'v'),
  count(*) filter (where not starts_with(proname, '_')), count(*) filter (where starts_with(proname, '_')),
  count(*) filter (where prosecdef),
  (select count(*) from pg_trigger as t join pg_class as c on c.oid = t.tgrelid
   where c.relnamespace = 'memory'::regnamespace and not t.tgisinternal)
from pg_proc where pronamespace = 'memory'::regnamespace
"""
FUNCTIONS = """
select proname, bool_or(prosecdef), bool_or(prorettype = 'trigger'::regtype)
from pg_proc where pronamespace = 'memory'::regnamespace group by proname
"""
ROLES = """
select substring(r.rolname from '^memory_(.*)'),
  (select count(*) from pg_proc as p, aclexplode(p.proacl) as a
   where p.pronamespace = 'memory'::regnamespace and a.grantee = r.oid),
  (select count(*) from pg_class as c, aclexplode(c.relacl) as a
   where c.relnamespace = 'memory'::regnamespace and c.relkind = 'v' and a.grantee = r.oid),
  (select count(*) from pg_class as c, aclexplode(c.relacl) as a
   where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r' and a.grantee = r.oid)
from pg_roles as r where r.rolname in ('memory_app', 'memory_tenant', 'memory_worker', 'memory_reader', 'memory_admin')
order by 2 desc, 1 desc
"""


def page(connection: psycopg.Connection) -> str:
    """Return the page with the counts of this database."""
    found = {name: (is_definer, is_trigger) for name, is_definer, is_trigger in connection.execute(FUNCTIONS)}
    [together] = connection.execute(TOGETHER).fetchall()
    lines = [
        "| tables | views | public functions | private functions | of both with the owner's rights | triggers |",
        "|--:|--:|--:|--:|--:|--:|",
        f"| {' | '.join(map(str, together))} |",
        "",
        "| role | functions that it may call | views that it may read | tables |",
        "|---|--:|--:|--:|",
        *(f"| `memory_{' | '.join(map(str, [f'{name}`', *rights]))} |" for name, *rights in connection.execute(ROLES)),
        "",
        f"Public functions with the caller's rights: {_names(found, is_public=True, is_definer=False)}.",
        "Private ones with the owner's rights, beside those of triggers: "
        f"{_names(found, is_public=False, is_definer=True)}.",
        "",
    ]
    return COUNTS.sub(lambda _: "\n".join(lines), PAGE.read_text(encoding="utf-8"))


def _names(found: dict[str, tuple[bool, bool]], *, is_public: bool, is_definer: bool) -> str:
    names = [
        f"`{name}`"
        for name, (definer, is_trigger) in sorted(found.items())
        if definer is is_definer and name.startswith("_") is not is_public and not is_trigger
    ]
    return ", ".join(names) or "none"
