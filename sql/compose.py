"""Puts into SQL what follows from the rooms: kinds of jobs, sources of search, add-ons, built-in settings and rights.

The core names no add-on. It has two places for what an add-on does. A line ``{{each addon with sweep: ...}}`` is
repeated for each add-on that has a file sweep.sql. And a function in a file points.sql of the core is a point: it says
what happens without add-ons, and an add-on's function of the same name takes its place.
"""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path

import statements
import tables
import triggers
from house import House

import lists

# The head of a function up to its language: kind, name, arguments and result.
HEADER = re.compile(
    r"^ *create or replace (function|procedure) memory\.(\w+)(\(.*?)\n *language ", re.MULTILINE | re.DOTALL
)
# A function with the comment above it.
FUNCTION = re.compile(
    r"(?:^--[^\n]*\n)*^create or replace function memory\.(\w+)\(.*?^(?:\$\$;|end;(?!\n\$\$;))\n+",
    re.MULTILINE | re.DOTALL,
)
WEIGHT = re.compile(r"\{\{weight (\w+)\}\}")  # of the ranking, by its name in 60_search/weights.json
# Lines that the build repeats for each kind, source or add-on: which of the three, the file that it must have, the text
# between the repetitions, and the lines.
EACH = re.compile(
    r"^( *)\{\{each (kind|source|addon)(?: with (\w+))?(?:, ([^:\n]+))?:\s+(.*?)\}\}\n", re.MULTILINE | re.DOTALL
)
# The quoted names of all kinds, sources or add-ons, or of those that have this file.
NAMES = re.compile(r"\{\{(kind|source|addon)s(?: with (\w+))?\}\}")
PLACE = re.compile(r"^-- place among the sources: (\d+)$", re.MULTILINE)
# An SQL expression: the names of the other databases of the server in which the roles whose names follow a pattern own
# something or have rights; null for none.
DATABASES_OF_PATTERN = """(
    select string_agg(distinct d.datname, ', ' order by d.datname)
    from pg_shdepend as s join pg_database as d on d.oid = s.dbid and d.datname <> current_database()
    where s.refclassid = 'pg_authid'::regclass and s.refobjid in (
      select to_regrole(replace(pattern, '*', r.name))
      from (values {{roles}}) as r (name)))"""


# Cached, because each file of the rooms asks for these lists: a build takes 0.2 s of CPU instead of 1.0 s.
@functools.cache
def members(home: House) -> dict[str, dict[str, list[Path]]]:
    """The folders or files of each kind of jobs, source of search and add-on, by name and in their order."""
    return {
        "kind": {path.name: [path] for path in kinds(home)},
        "source": {path.stem: [path] for path in sources(home)},
        "addon": {addon: sorted((home.sql / "addons" / addon).glob("[0-9]*")) for addon in home.addons},
    }


def kinds(home: House) -> list[Path]:
    """The folders of the kinds of jobs. Each must have input.sql and apply.sql, which the queue needs."""
    rooms = home.rooms("50_work")
    folders = sorted((path for room in rooms for path in room.iterdir() if path.is_dir()), key=lambda path: path.name)
    for folder in folders:
        for name in ("input", "apply"):
            if not has(folder.name, [folder], name):
                raise SystemExit(f"{folder.relative_to(home.sql.parent)}/{name}.sql is missing")
    return folders


def has(member: str, folders: list[Path], name: str) -> bool:
    """Whether a kind or an add-on has this file. If so, the file must create memory._<member>_<name>()."""
    paths = [folder / f"{name}.sql" for folder in folders if (folder / f"{name}.sql").exists()]
    for path in paths:
        if not re.search(rf"(function|procedure) memory\._{member}_{name}\(", path.read_text()):
            raise SystemExit(f"sql/{'/'.join(path.parts[-4:])} must create memory._{member}_{name}()")
    return bool(paths)


def sources(home: House) -> list[Path]:
    """The files of the sources of search in their order. Each must create the functions that every source has."""
    others = ("points.sql", "triggers.sql", "types.sql")
    found = (path for room in home.rooms("47_sources") for path in room.glob("*.sql") if path.name not in others)
    paths = sorted(found, key=place_among_sources)
    for path in paths:
        for name in ("texts", "passing", "shown"):
            if f"function memory._{path.stem}_{name}(" not in path.read_text():
                raise SystemExit(f"{path.relative_to(home.sql.parent)} must create memory._{path.stem}_{name}()")
    return paths


def place_among_sources(path: Path) -> tuple[int, str]:
    """What sources of search are sorted by: the place that the file names (last if it names none), then the name."""
    place = PLACE.search(path.read_text())
    return (int(place[1]) if place else 1000, path.stem)


def composed(home: House, text: str) -> str:
    """The text with its lists of kinds of jobs, of sources of search, of add-ons, and of built-in prompts.

    ``{{kinds}}`` and ``{{sources}}`` become quoted names, ``{{kinds unquoted}}`` bare ones. ``{{each kind: line}}``
    becomes the line once per kind, with the kind in place of ``<kind>``; ``{{each kind with users: line}}`` and
    ``{{kinds with users}}`` take only kinds that have a file users.sql; and ``{{each source, union all: line}}`` puts
    what follows the comma between the lines. ``{{each addon with sweep: line}}`` takes the add-ons that have a file
    sweep.sql in one of their rooms. A line may be several lines; if no kind, source or add-on has the file, the line
    goes.
    """
    if "{{" not in text:
        return text

    def having(member: str, needed: str | None) -> list[str]:
        found = members(home)[member].items()
        return [name for name, folders in found if not needed or has(name, folders, needed)]

    def lines(match: re.Match[str]) -> str:
        indent, member, needed, separator, line = match.groups()
        between = f"\n{indent}{separator}\n" if separator else "\n"
        repeated = [indent + line.replace(f"<{member}>", name) for name in having(member, needed)]
        return between.join(repeated) + "\n" if repeated else ""

    text = NAMES.sub(lambda match: ", ".join(f"'{name}'" for name in having(match[1], match[2])), text)
    text = text.replace("{{kinds unquoted}}", ",".join(members(home)["kind"]))
    text = EACH.sub(lines, text).replace("{{databases of pattern}}", DATABASES_OF_PATTERN)
    text = text.replace("{{roles}}", role_names(home))
    text = text.replace("{{are copied}}", triggers.ARE_COPIED)
    text = text.replace("{{prompts}}", prompts(home)).replace("{{defaults}}", defaults(home))
    text = WEIGHT.sub(lambda match: repr(float(weights(home)[match[1]])), text)
    text = text.replace("{{tables version}}", tables.version(home.sql))
    text = text.replace("{{versions of tables}}", tables.versions(home))
    text = lists.with_lists(statements.with_tables(home, text))
    return text.replace("{{indexes}}", indexes(home)).replace("{{triggers}}", triggers.names(home))


def without_answered(home: House, path: Path, text: str) -> str:
    """The text of a file; of points.sql without the functions in whose place an add-on has a function."""

    def kept(match: re.Match[str]) -> str:
        [point] = HEADER.findall(match[0])
        answer = answers(home).get(point[1])
        if answer and " ".join(answer.split()) != " ".join(point[2].split()):
            raise SystemExit(f"{path.name}: memory.{point[1]}() of an add-on has other arguments or another result")
        return "" if answer else match[0]

    return FUNCTION.sub(kept, text) if path.name == "points.sql" else text


@functools.cache
def answers(home: House) -> dict[str, str]:
    """The functions of the add-ons by name, with their arguments and results."""
    texts = (path.read_text() for path in home.files("*.sql") if home.part_of(path))
    # A head with blanks before it is in the body of another function, which makes the function when it runs.
    heads = (found for text in texts for found in HEADER.finditer(text) if not found[0].startswith(" "))
    return {head[2]: head[3] for head in heads}


@functools.cache
def indexes(home: House) -> str:
    return tables.indexes(home)


@functools.cache
def prompts(home: House) -> str:
    """The built-in prompts as the rows of a VALUES list: prompt.txt by its kind, other files by their own name."""
    paths = home.files("*.txt")
    names = {path.parent.name if path.name == "prompt.txt" else path.stem: path for path in paths}
    return ",\n".join(f"    ('{name}', $prompt${names[name].read_text()}$prompt$)" for name in sorted(names))


@functools.cache
def defaults(home: House) -> str:
    """The built-in policy as one JSON object of sections, from all files defaults.json of the rooms."""
    merged: dict[str, dict[str, object]] = {}
    for path in home.files("defaults.json"):
        for section, settings in json.loads(path.read_text()).items():
            for key, value in settings.items():
                if key in merged.setdefault(section, {}):
                    place = path.relative_to(home.sql)
                    raise SystemExit(f"{section}.{key} has two built-in values, one of them in {place}")
                merged[section][key] = value
    return json.dumps(merged, indent=2).replace("'", "''")


@functools.cache
def weights(home: House) -> dict[str, float]:
    """The weights of the features that order search results."""
    [path] = home.files("weights.json")
    return dict(json.loads(path.read_text()))


@functools.cache
def groups(home: House) -> list[dict[str, list[str]]]:
    """The groups of rights: those of grants.json, with what the grants.json of each add-on puts into them."""
    found = {group["what"]: group for group in json.loads((home.sql / "grants.json").read_text())}
    for addon in home.addons:
        for group in json.loads((home.sql / "addons" / addon / "grants.json").read_text()):
            known = found.setdefault(group["what"], {"what": group["what"], "roles": group.get("roles", [])})
            for kind in ("functions", "views"):
                known[kind] = known.get(kind, []) + group.get(kind, [])
    return list(found.values())


@functools.cache
def grants(home: House) -> list[tuple[str, str, str]]:
    """The rights of the roles of agent_memory: role (without prefix), kind of object (schema, function, view), name."""
    roles = dict.fromkeys(role for group in groups(home) for role in group["roles"])
    rows = [(role, "schema", "memory") for role in roles]
    for group in groups(home):
        for kind in ("function", "view"):
            rows += [(role, kind, name) for name in group.get(f"{kind}s", ()) for role in group["roles"]]
    return rows


def role_names(home: House) -> str:
    """The roles of agent_memory without their prefix, as the rows of a VALUES list."""
    return ", ".join(f"('{name}')" for name in dict.fromkeys(role for role, _, _ in grants(home)))
