"""Builds build/agent_memory.sql, the one file that installs and upgrades.

Order: about.sql, door.sql, head.sql, roles.sql, role_name.sql, upgrade.sql with row_security.sql, drain.sql; the tables
and types of all rooms, which a new installation makes, and migrations/, of which an upgrade runs those since its
version; statistics.sql, comments.sql with the comments of tables and types, kinds.sql; replaced.sql with the heads of
all functions, the functions of all rooms in the order of their numbers with the built-in prompts and settings, those of
plpython/ with its two packages inside, the triggers of all rooms, privileges.sql with grants.sql. Also builds
build/agent_memory_roles.sql from roles_file.sql, and the Python modules of lists/, because tomllib needs Python 3.11
and the package runs on 3.10. Needs nothing but the standard library of Python 3.11.

    python sql/build.py            write the file
    python sql/build.py --check    fail when the file is not what the sources build, or what was released has changed
    python sql/build.py --freeze   note what this version has released
"""

from __future__ import annotations

import functools
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

SQL = Path(__file__).resolve().parent
ROOT = SQL.parent
OUTPUT = ROOT / "build" / "agent_memory.sql"
ROLES = ROOT / "build" / "agent_memory_roles.sql"
MODELS = ROOT / "plpython" / "agent_memory_models"
# The modules that are made of lists, and their lists. A query's call needs the second alone: in the server each session
# compiles what it imports.
LIST_MODULES = {
    MODELS / "text" / "lists.py": ("attributes", "lasting", "statements", "times"),
    MODELS / "providers" / "lists.py": ("models", "providers", "windows"),
    ROOT / "python_client" / "agent_memory" / "cli" / "lists.py": ("servers",),
}

sys.path[:0] = [str(SQL), str(ROOT / "plpython")]
import house  # noqa: E402  (the same)
import planner  # noqa: E402  (the same)
import tables  # noqa: E402  (the same)
import triggers  # noqa: E402  (the same)
from embed import embed  # noqa: E402  (the same)

import lists  # noqa: E402  (a neighbour, not an installed package)

MIGRATION = """\
call memory._migrate({begins}, '{ends}', '{sha256}', $migration$
{body}$migration$);
"""
# The head of a function up to its language: kind, name, arguments and result.
HEADER = re.compile(
    r"^ *create or replace (function|procedure) memory\.(\w+)(\(.*?)\n *language ", re.MULTILINE | re.DOTALL
)
DEFINED = re.compile(r"^create or replace (?:function|procedure|view) memory\.(\w+)", re.MULTILINE)
# SQL that PostgreSQL binds when it creates the object, and the names in it.
BOUND = re.compile(
    r"^begin atomic\n.*?^end;|^language sql [^\n]*\n(?:set [^\n]*\n)*as \$\$\n.*?^\$\$;|^create or replace view .*?;$",
    re.MULTILINE | re.DOTALL,
)
WEIGHT = re.compile(r"\{\{weight (\w+)\}\}")  # of the ranking, by its name in 60_search/weights.json
# Lines that the build repeats: for each member, if it has this file, with this between the members, the lines.
EACH = re.compile(
    r"^( *)\{\{each (kind|source)(?: with (\w+))?(?:, ([^:\n]+))?:\s+(.*?)\}\}$", re.MULTILINE | re.DOTALL
)
# The quoted names of all members, or of those that have this file.
NAMES = re.compile(r"\{\{(kind|source)s(?: with (\w+))?\}\}")
PLACE = re.compile(r"^-- place among the sources: (\d+)$", re.MULTILINE)
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
# The other databases of the server that have granted rights to the roles whose names follow a pattern, or null.
DATABASES_OF_PATTERN = """(
    select string_agg(distinct d.datname, ', ' order by d.datname)
    from pg_shdepend as s join pg_database as d on d.oid = s.dbid and d.datname <> current_database()
    where s.refclassid = 'pg_authid'::regclass and s.refobjid in (
      select to_regrole(replace(pattern, '*', r.name))
      from (values {{roles}}) as r (name)))"""
IS_TENANT = re.compile(r"function memory\._is_tenant\(.*?^  select (.*?);$", re.MULTILINE | re.DOTALL)
VIEW = re.compile(r"^create or replace view memory\.(\w+) as\n(.*?);$", re.MULTILINE | re.DOTALL)


def rooms() -> dict[Path, str]:
    """The files with functions and views of all rooms, with the lists of the build, ordered by path."""
    others = ("tables.sql", "types.sql", "triggers.sql")
    paths = (path for path in house.files(SQL, "*.sql") if path.name not in others)
    return {path: planner.with_settings(path, with_lists(path.read_text())) for path in paths}


# Cached, because each of the 420 files of the rooms asks for the lists: a build takes 0.2 s of CPU instead of 1.0 s.
@functools.cache
def kinds() -> list[Path]:
    """The folders of the kinds of jobs, each with the two files that the queue cannot do without."""
    folders = sorted(path for path in house.room(SQL, "50_work").iterdir() if path.is_dir())
    for folder in folders:
        for name in ("input", "apply"):
            if not has(folder, name):
                raise SystemExit(f"{folder.relative_to(ROOT)}/{name}.sql is missing")
    return folders


def has(kind: Path, name: str) -> bool:
    """Whether the folder of a kind has this file, which then must create the function that the queue calls."""
    path = kind / f"{name}.sql"
    if path.exists() and f"function memory._{kind.name}_{name}(" not in path.read_text():
        raise SystemExit(f"{path.relative_to(ROOT)} must create memory._{kind.name}_{name}()")
    return path.exists()


@functools.cache
def sources() -> list[Path]:
    """The files of the sources of search in their order, each with all functions that a source has."""
    paths = sorted(
        (
            path
            for path in house.room(SQL, "47_sources").glob("*.sql")
            if path.name not in ("types.sql", "triggers.sql")
        ),
        key=place_among_sources,
    )
    for path in paths:
        for name in ("texts", "passing", "shown"):
            if f"function memory._{path.stem}_{name}(" not in path.read_text():
                raise SystemExit(f"{path.relative_to(ROOT)} must create memory._{path.stem}_{name}()")
    return paths


def with_lists(text: str) -> str:
    """The text with its lists of kinds of jobs, of sources of search, and of built-in prompts.

    ``{{kinds}}`` and ``{{sources}}`` become quoted names, ``{{kinds unquoted}}`` bare ones. ``{{each kind: line}}``
    becomes the line once per kind, with the kind in place of ``<kind>``; ``{{each kind with users: line}}`` and
    ``{{kinds with users}}`` take only kinds that have a file users.sql; and ``{{each source, union all: line}}`` puts
    what follows the comma between the lines.
    A line may be several lines.
    """
    members = {
        "kind": [path.name for path in kinds()],
        "source": [path.stem for path in sources()],
    }

    def having(member: str, needed: str | None) -> list[str]:
        return [name for name in members[member] if not needed or has(house.room(SQL, "50_work") / name, needed)]

    def lines(match: re.Match[str]) -> str:
        indent, member, needed, separator, line = match.groups()
        between = f"\n{indent}{separator}\n" if separator else "\n"
        return between.join(indent + line.replace(f"<{member}>", name) for name in having(member, needed))

    text = NAMES.sub(lambda match: ", ".join(f"'{name}'" for name in having(match[1], match[2])), text)
    text = text.replace("{{kinds unquoted}}", ",".join(members["kind"]))
    text = EACH.sub(lines, text).replace("{{databases of pattern}}", DATABASES_OF_PATTERN)
    text = text.replace("{{roles}}", role_names())
    text = text.replace("{{are copied}}", triggers.ARE_COPIED)
    text = text.replace("{{prompts}}", prompts()).replace("{{defaults}}", defaults())
    text = WEIGHT.sub(lambda match: repr(float(weights()[match[1]])), text)
    text = text.replace("{{tables version}}", tables.version(SQL))
    text = lists.with_lists(text)
    return text.replace("{{indexes}}", indexes()).replace("{{triggers}}", triggers.names(SQL))


def place_among_sources(path: Path) -> tuple[int, str]:
    """What the sources of search are sorted by: the place that a source's file names, or last, by name."""
    place = PLACE.search(path.read_text())
    return (int(place[1]) if place else 1000, path.stem)


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


def installation() -> str:
    """The call that makes all tables and types at once, and the calls that upgrade them."""
    texts = (tables.COMMENT_ON.sub("", with_lists(text)) for text in tables.files(SQL).values())
    steps = [("null", tables.version(SQL), tables.digest(SQL), "\n".join(map(with_pgvector, texts)))]
    for path in tables.migrations(SQL):
        text = path.read_text()
        steps.append((f"'{path.stem.split('-')[0]}'", tables.ends(path), tables.sha256(text), text))
    return "\n".join(MIGRATION.format(begins=a, ends=b, sha256=digest, body=body) for a, b, digest, body in steps)


@functools.cache
def indexes() -> str:
    return tables.indexes(SQL)


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


@functools.cache
def prompts() -> str:
    """The built-in prompts as the rows of a VALUES list: prompt.txt of a kind, and name.txt of another room."""
    paths = house.files(SQL, "*.txt")
    names = {path.parent.name if path.name == "prompt.txt" else path.stem: path for path in paths}
    return ",\n".join(f"    ('{name}', $prompt${names[name].read_text()}$prompt$)" for name in sorted(names))


@functools.cache
def defaults() -> str:
    """The built-in policy: defaults.json of 10_policy and of the kinds, as one JSON object of sections."""
    merged: dict[str, dict[str, object]] = {}
    for path in house.files(SQL, "defaults.json"):
        for section, settings in json.loads(path.read_text()).items():
            for key, value in settings.items():
                if key in merged.setdefault(section, {}):
                    raise SystemExit(f"{section}.{key} has two built-in values, one of them in {path.relative_to(SQL)}")
                merged[section][key] = value
    return json.dumps(merged, indent=2).replace("'", "''")


def weights() -> dict[str, float]:
    """The weights of the features that order search results."""
    return dict(json.loads((house.room(SQL, "60_search") / "weights.json").read_text()))


@functools.cache
def grants() -> list[tuple[str, str, str]]:
    """What the roles of agent_memory may do: role (without prefix), kind of object (schema, function, view), name."""
    groups = json.loads((SQL / "grants.json").read_text())
    roles = dict.fromkeys(role for group in groups for role in group["roles"])
    rows = [(role, "schema", "memory") for role in roles]
    for group in groups:
        for kind in ("function", "view"):
            rows += [(role, kind, name) for name in group.get(f"{kind}s", ()) for role in group["roles"]]
    return rows


def is_tenant() -> str:
    """The expression of memory._is_tenant(), for the policies of the tables, which may call only pg_catalog's."""
    found = IS_TENANT.search((house.room(SQL, "01_identity") / "who_may_reach.sql").read_text())
    assert found, "who_may_reach.sql has no memory._is_tenant() that is one expression"
    return " ".join(found[1].split())


def role_names() -> str:
    """The roles of agent_memory without their prefix, as the rows of a VALUES list."""
    return ", ".join(f"('{name}')" for name in dict.fromkeys(role for role, _, _ in grants()))


def roles(missing: str) -> str:
    """The SQL that creates the roles, with the level of the message about a role that may not be created."""
    return with_lists((SQL / "roles.sql").read_text()).replace("{{missing}}", missing)


def roles_file() -> str:
    """build/agent_memory_roles.sql, for administrators."""
    text = (SQL / "roles_file.sql").read_text().replace("{{create roles}}", roles("exception"))
    return text.replace("{{version}}", tables.project_version(SQL))


def runner() -> str:
    """The functions of plpython/, created only where plpython3u is or can be had."""
    plpython = ROOT / "plpython"
    sources = embed(plpython / "agent_memory_models", plpython / "agent_memory_server")
    functions = "".join(path.read_text() for path in sorted((plpython / "functions").glob("*.sql")))
    template = (SQL / "runner.sql").read_text()
    return template.replace("{{functions}}", functions.replace("{{sources}}", sources))


def build() -> str:
    texts = rooms()
    functions = "\n".join(with_pgvector(texts[path]) for path in in_build_order(texts))
    python = runner()
    views = ",".join(name for name, _ in VIEW.findall(functions))
    role_name = (SQL / "role_name.sql").read_text()
    upgrade = role_name + (SQL / "upgrade.sql").read_text().replace("{{views}}", views)
    row_security = (SQL / "row_security.sql").read_text().replace("{{is tenant}}", is_tenant().replace("'", "''"))
    our_tables = tables.names(SQL)
    upgrade += row_security.replace("{{tables}}", our_tables)
    heads = headers(upgrade + functions + python)
    replaced = (SQL / "replaced.sql").read_text().replace("{{headers}}", heads)
    rows = ",\n".join(f"      ('{role}', '{kind}', '{name}')" for role, kind, name in grants())
    ours = sorted({name for _, name, _ in HEADER.findall(role_name + functions + python)})
    public = ", ".join(sorted({f"'{name}'" for _, name, _ in HEADER.findall(functions) if not name.startswith("_")}))
    door = with_lists((SQL / "door.sql").read_text()).replace("{{public functions}}", public)
    about, head, drain, statistics = ((SQL / f"{n}.sql").read_text() for n in ("about", "head", "drain", "statistics"))
    made = {(name, *signature.split()) for _, name, signature in HEADER.findall(role_name + functions + python)}
    about = about.replace(
        "{{counts}}",
        f"{our_tables.count(',') + 1} tables, {len(VIEW.findall(functions))} views, {triggers.names(SQL).count('(')} "
        f"triggers and {len(made)} functions, {sum(name[0] != '_' for name, *_ in made)} of them public",
    )
    head = head.replace("{{known migrations}}", tables.known_migrations(SQL))
    parts = [about, door, head, roles("notice"), upgrade, drain]
    privileges = (SQL / "privileges.sql").read_text().replace("{{rights of roles}}", (SQL / "grants.sql").read_text())
    parts += [
        installation(),
        statistics.replace("{{tables}}", our_tables),
        (SQL / "comments.sql").read_text().replace("{{comments}}", tables.comments(SQL)),
        with_lists((SQL / "kinds.sql").read_text()),
        replaced,
        replaceable(functions),
        python,
        triggers.statements(SQL),
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
    made: dict[Path, Callable[[], str]] = {**modules, OUTPUT: build, ROLES: roles_file}
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
