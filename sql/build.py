"""Builds build/agent_memory.sql, the one file that installs and upgrades.

Order: about.sql, door.sql, head.sql, roles.sql, role_name.sql, upgrade.sql with row_security.sql, drain.sql; the tables
and types of all rooms, which a new installation makes, and migrations/, of which an upgrade runs those since its
version; statistics.sql, comments.sql with the comments of tables and types, kinds.sql; replaced.sql with the heads of
all functions, the functions of all rooms in the order of their numbers with the built-in prompts and settings, those of
plpython/ with its two packages inside, the triggers of all rooms, privileges.sql with grants.sql. house.py says where
the rooms are, compose.py puts lists into them.

Also builds build/agent_memory_core.sql, which is the same without the add-ons, build/agent_memory_roles.sql from
roles_file.sql, and the Python modules of lists/, because tomllib needs Python 3.11 and the package runs on 3.10. Needs
nothing but the standard library of Python 3.11.

    python sql/build.py            write the file
    python sql/build.py --check    fail when the file is not what the sources build, or what was released has changed
    python sql/build.py --freeze   note what this version has released
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from pathlib import Path

SQL = Path(__file__).resolve().parent
ROOT = SQL.parent
OUTPUT = ROOT / "build" / "agent_memory.sql"
CORE = ROOT / "build" / "agent_memory_core.sql"
ROLES = ROOT / "build" / "agent_memory_roles.sql"
MOVE = ROOT / "python_client" / "agent_memory" / "move" / "registry.py"
MODELS = ROOT / "plpython" / "agent_memory_models"
# The modules that are made of lists, and their lists. A query's call needs the second alone: in the server each session
# compiles what it imports.
LIST_MODULES = {
    MODELS / "text" / "lists.py": ("attributes", "languages", "lasting", "other_languages", "statements", "times"),
    MODELS / "providers" / "lists.py": ("models", "providers", "windows"),
    ROOT / "python_client" / "agent_memory" / "cli" / "lists.py": ("servers",),
}

sys.path[:0] = [str(SQL), str(ROOT / "plpython")]
import compose  # noqa: E402  (the same)
import house  # noqa: E402  (the same)
import planner  # noqa: E402  (the same)
import statements  # noqa: E402  (the same)
import tables  # noqa: E402  (the same)
import triggers  # noqa: E402  (the same)
from compose import HEADER, composed  # noqa: E402  (the same)
from embed import embed  # noqa: E402  (the same)
from house import House  # noqa: E402  (the same)

import lists  # noqa: E402  (a neighbour, not an installed package)

WHOLE = house.whole(SQL)
MIGRATION = """\
call memory._migrate('{part}', {begins}, '{ends}', '{sha256}', $migration$
{body}$migration$);
"""
DEFINED = re.compile(r"^create or replace (?:function|procedure|view) memory\.(\w+)", re.MULTILINE)
# SQL that PostgreSQL binds when it creates the object, and the names in it.
BOUND = re.compile(
    r"^begin atomic\n.*?^end;|^language sql [^\n]*\n(?:set [^\n]*\n)*as \$\$\n.*?^\$\$;|^create or replace view .*?;$",
    re.MULTILINE | re.DOTALL,
)
NAMED = re.compile(r"memory\.(\w+)")
PGVECTOR = "-- needs pgvector on the search_path\n"  # the mark, a file's first line
# pgvector may live in any schema, and whoever may create objects there must not slip functions of his own into ours:
# the search_path of a file without the mark has that schema not on it.
VECTOR_SCHEMA = """\
do $$
begin
  perform set_config('search_path', format('pg_catalog, %I, pg_temp', current_setting('agent_memory.vector_schema')),
    true);
end;
$$;
"""
IS_TENANT = re.compile(r"function memory\._is_tenant\(.*?^  select (.*?);$", re.MULTILINE | re.DOTALL)
VIEW = re.compile(r"^create or replace view memory\.(\w+) as\n(.*?);$", re.MULTILINE | re.DOTALL)


def rooms(home: House = WHOLE) -> dict[Path, str]:
    """The files with functions and views of all rooms, with the lists of the build, ordered by path."""
    others = ("tables.sql", "types.sql", "triggers.sql")
    paths = (path for path in home.files("*.sql") if path.name not in others)
    texts = {path: compose.without_answered(home, path, path.read_text()) for path in paths}
    made = {path: planner.with_settings(path, composed(home, text)) for path, text in texts.items()}
    for path, text in made.items():
        if left := re.search(r"\{\{each .*", text):
            raise SystemExit(f"{path.relative_to(ROOT)}: a list begins and ends a line of its own, and not {left[0]}")
    return made


def in_build_order(texts: dict[Path, str]) -> list[Path]:
    """The files by path, but each after those whose functions its SQL-language functions and views name.

    PL/pgSQL looks names up when it runs; PostgreSQL looks up those in SQL bodies and views when it creates them.
    """
    homes = {name: path for path, text in texts.items() for name in DEFINED.findall(text)}
    ordered: dict[Path, None] = {}
    open_paths: set[Path] = set()

    def place(path: Path) -> None:
        if path in open_paths:
            return
        open_paths.add(path)
        for body in BOUND.findall(texts[path]):
            for name in NAMED.findall(body):
                if name in homes:
                    place(homes[name])
        ordered[path] = None

    for path in texts:
        place(path)
    return list(ordered)


def with_pgvector(text: str) -> str:
    """The text of a file, which runs with pgvector's schema on the search_path where its first line asks for that."""
    if not text.startswith(PGVECTOR):
        return text
    return f"{VECTOR_SCHEMA}{text}\nset local search_path = pg_catalog, pg_temp;\n"


def installation(home: House) -> str:
    """The calls that make all tables and types of the core and of each add-on at once, and those that upgrade them."""
    steps = []
    for part in home.parts:
        texts = (tables.COMMENT_ON.sub("", composed(home, text)) for text in tables.files(home, part).values())
        body = "\n".join(map(with_pgvector, texts))
        steps.append((part, "null", tables.version(SQL, part), tables.digest(home, part), body))
        for path in tables.migrations(SQL, part):
            text = path.read_text()
            steps.append((part, f"'{path.stem.split('-')[0]}'", tables.ends(path), tables.sha256(text), text))
    return "\n".join(
        MIGRATION.format(part=part, begins=a, ends=b, sha256=digest, body=body) for part, a, b, digest, body in steps
    )


def replaceable(text: str) -> str:
    """The SQL with each view created by memory._replace_view()."""
    if len(VIEW.findall(text)) != text.count("create or replace view"):
        raise SystemExit("a view has another head than build.py reads: create or replace view memory.name as")
    return VIEW.sub(r"call memory._replace_view('\1', $view$\n\2\n$view$);", text)


def headers(text: str) -> str:
    """Kind, name and signature of every function in the text, as the rows of a VALUES list."""
    found = HEADER.findall(text)
    if len(found) != len(re.findall("create or replace (?:function|procedure)", text)):
        raise SystemExit("a function has another head than build.py reads: its language begins a line of its own")
    rows = [
        f"      ('{kind}', '{name}', $header${signature}$header$)" for kind, name, signature in dict.fromkeys(found)
    ]
    return ",\n".join(rows)


def is_tenant(home: House) -> str:
    """The expression of memory._is_tenant(), for the policies of the tables, which may call only pg_catalog's."""
    [path] = home.files("who_may_reach.sql")
    found = IS_TENANT.search(path.read_text())
    assert found, "who_may_reach.sql has no memory._is_tenant() that is one expression"
    return " ".join(found[1].split())


def roles(home: House, missing: str) -> str:
    """The SQL that creates the roles, with the level of the message about a role that may not be created."""
    return composed(home, (SQL / "roles.sql").read_text()).replace("{{missing}}", missing)


def roles_file() -> str:
    """build/agent_memory_roles.sql, for administrators."""
    text = (SQL / "roles_file.sql").read_text().replace("{{create roles}}", roles(WHOLE, "exception"))
    return text.replace("{{version}}", tables.project_version(SQL))


def runner() -> str:
    """The functions of plpython/, created only where plpython3u is or can be had."""
    plpython = ROOT / "plpython"
    sources = embed(plpython / "agent_memory_models", plpython / "agent_memory_server")
    functions = "".join(path.read_text() for path in sorted((plpython / "functions").glob("*.sql")))
    template = (SQL / "runner.sql").read_text()
    return template.replace("{{functions}}", functions.replace("{{sources}}", sources))


def build(home: House = WHOLE) -> str:
    texts = rooms(home)
    functions = "\n".join(with_pgvector(texts[path]) for path in in_build_order(texts))
    python = runner()
    views = ",".join(name for name, _ in VIEW.findall(functions))
    role_name = (SQL / "role_name.sql").read_text()
    upgrade = role_name + (SQL / "upgrade.sql").read_text().replace("{{views}}", views)
    row_security = (SQL / "row_security.sql").read_text().replace("{{is tenant}}", is_tenant(home).replace("'", "''"))
    our_tables = tables.names(home)
    upgrade += statements.with_tables(home, row_security)
    heads = headers(upgrade + functions + python)
    replaced = (SQL / "replaced.sql").read_text().replace("{{headers}}", heads)
    rows = ",\n".join(f"      ('{role}', '{kind}', '{name}')" for role, kind, name in compose.grants(home))
    ours = sorted({name for _, name, _ in HEADER.findall(role_name + functions + python)})
    public = ", ".join(sorted({f"'{name}'" for _, name, _ in HEADER.findall(functions) if not name.startswith("_")}))
    door = composed(home, (SQL / "door.sql").read_text()).replace("{{public functions}}", public)
    about, head, drain, statistics = ((SQL / f"{n}.sql").read_text() for n in ("about", "head", "drain", "statistics"))
    made = {(name, *signature.split()) for _, name, signature in HEADER.findall(role_name + functions + python)}
    about = about.replace(
        "{{counts}}",
        f"{our_tables.count(',') + 1} tables, {len(VIEW.findall(functions))} views, {triggers.names(home).count('(')} "
        f"triggers and {len(made)} functions, {sum(name[0] != '_' for name, *_ in made)} of them public",
    )
    head = composed(home, head.replace("{{tables}}", our_tables))
    head = head.replace("{{known migrations}}", tables.known_migrations(home))
    parts = [about, door, head, roles(home, "notice"), upgrade, drain]
    privileges = composed(home, (SQL / "privileges.sql").read_text()).replace(
        "{{rights of roles}}", (SQL / "grants.sql").read_text()
    )
    parts += [
        installation(home),
        statistics.replace("{{tables}}", our_tables),
        (SQL / "comments.sql").read_text().replace("{{comments}}", tables.comments(home)),
        composed(home, (SQL / "kinds.sql").read_text()),
        replaced,
        replaceable(functions),
        python,
        triggers.statements(home),
        privileges.replace("{{grants}}", rows).replace("{{functions}}", ", ".join(f"'{name}'" for name in ours)),
    ]
    return "\n".join(parts).replace("{{version}}", tables.project_version(SQL))


def main() -> int:
    if "--freeze" in sys.argv[1:]:
        tables.freeze(SQL)
    if problems := tables.changes_of_releases(SQL):
        print("\n".join(problems), file=sys.stderr)
        return 1
    # The modules are in the installation.
    modules = {path: functools.partial(lists.module, *names) for path, names in LIST_MODULES.items()}
    made: dict[Path, Callable[[], str]] = {**modules, MOVE: functools.partial(statements.of_move, WHOLE), OUTPUT: build}
    made |= {CORE: functools.partial(build, house.core(SQL)), ROLES: roles_file}
    for path, make in made.items():
        built = make()
        if "--check" not in sys.argv[1:]:
            path.parent.mkdir(exist_ok=True)
            path.write_text(built)
            print(f"{path.relative_to(ROOT)}: {built.count(chr(10))} lines")
        elif not path.exists() or path.read_text() != built:
            print(f"{path.relative_to(ROOT)} is not what sql/ builds; run: make build", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
