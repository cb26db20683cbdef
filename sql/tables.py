"""The tables of an installation: tables.sql and types.sql of the rooms, and the migrations between versions of them.

The core and each add-on have tables, migrations and versions of their own, so that an add-on can be installed over the
core. What a release has written into memory.migrations stands in migrations/frozen.txt, "sha256  name" per line, and
must not change. An add-on's name stands before its versions.
"""

from __future__ import annotations

import functools
import hashlib
import re
from itertools import pairwise
from pathlib import Path

import house
from house import House

COMMENT_LINE = re.compile(r"--[^\n]*")
COMMENT_ON = re.compile(r"^comment on (\w+) memory\.([\w.]+) is\s((?:'(?:[^']|'')*'\s*)+);\n", re.MULTILINE)
STATEMENT_END = re.compile(r";\s*\n")
INDEX = re.compile(r"^(create (?:unique )?index) (\w+)(.*?);", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"create table (?:if not exists )?memory\.(\w+) \((.*?)\n *\)", re.DOTALL)
PRIMARY_KEY = re.compile(r"(?:(\w+) [\w ]+ primary key(?! \())|primary key \(([^)]*)\)")
FILES = ("tables", "types")


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def files(home: House, part: str | None = None) -> dict[Path, str]:
    """The files of tables, then those of types, in the order of the rooms: of one part, or of all."""
    return {
        path: path.read_text()
        for name in FILES
        for path in home.files(f"{name}.sql")
        if part is None or home.part_of(path) == part
    }


def migrations(sql: Path, part: str = "") -> list[Path]:
    """The files that upgrade a part's tables, in order: each begins at the version at which the one before it ends."""
    folder = (sql / "addons" / part if part else sql) / "migrations"
    paths = sorted(folder.glob("*.sql"), key=lambda path: [int(number) for number in ends(path).split(".")])
    for earlier, later in pairwise(paths):
        if later.stem.split("-")[0] != ends(earlier):
            raise SystemExit(f"{later.relative_to(sql.parent)} must begin where {earlier.name} ends")
    return paths


def ends(migration: Path) -> str:
    """The version of the tables that a migration makes."""
    return migration.stem.split("-")[1]


def project_version(sql: Path) -> str:
    """The version that pyproject.toml names."""
    match = re.search(r'^version = "([^"]+)"', (sql.parent / "pyproject.toml").read_text(), re.MULTILINE)
    assert match, "pyproject.toml names no version"
    return match[1]


def named(part: str, version: str) -> str:
    """What memory.migrations calls a version of a part's tables, or a migration of them."""
    return f"{part} {version}".strip()


def version(sql: Path, part: str = "") -> str:
    """The version of a part's tables: a later release that changes no table has the same one."""
    if paths := migrations(sql, part):
        return ends(paths[-1])
    released = (name.rpartition(" ") for name in frozen(sql))
    return next((name for addon, _, name in released if addon == part), project_version(sql))


def digest(home: House, part: str = "") -> str:
    """Tells one state of the tables from another one. Comments do not matter, nor in which file a statement stands."""
    text = "\n".join(COMMENT_LINE.sub("", COMMENT_ON.sub("", text)) for text in files(home, part).values())
    return sha256("\n".join(sorted(" ".join(statement.split()) for statement in STATEMENT_END.split(text))))


def written(home: House) -> dict[str, str]:
    """What the install file writes into memory.migrations: names and hashes."""
    rows: dict[str, str] = {}
    for part in home.parts:
        rows |= {named(part, path.stem): sha256(path.read_text()) for path in migrations(home.sql, part)}
        rows[named(part, version(home.sql, part))] = digest(home, part)
    return rows


def frozen(sql: Path) -> dict[str, str]:
    """What released versions have written into memory.migrations."""
    lines = (sql / "migrations" / "frozen.txt").read_text().splitlines()
    return {name: released for released, name in (line.split(maxsplit=1) for line in lines)}


def freeze(sql: Path) -> None:
    """Note what this version writes into memory.migrations: it must not change from now on."""
    rows = frozen(sql) | written(house.whole(sql))
    (sql / "migrations" / "frozen.txt").write_text("".join(f"{rows[name]}  {name}\n" for name in rows))


def changes_of_releases(sql: Path) -> list[str]:
    """What is no longer as it was released, and how to go on."""
    home = house.whole(sql)
    released, now = frozen(sql), written(home)
    ours = project_version(sql)
    problems = []
    for part in home.parts:
        folder = f"sql/addons/{part}/migrations" if part else "sql/migrations"
        problems += [
            f"{folder}/{name.rpartition(' ')[2]}.sql was released and must not change"
            for name in released
            if name.rpartition(" ")[0] == part and "-" in name and now.get(name) != released[name]
        ]
        newest = version(sql, part)
        name = named(part, newest)
        if name in released and now[name] != released[name]:
            problems.append(f"the tables of {name} were released: add {folder}/{newest}-<next version>.sql")
        if name not in released and newest != ours:
            problems.append(f"{folder} ends at {newest}, pyproject.toml says {ours}: set the version there")
    return problems


def known_migrations(home: House) -> str:
    """What memory.migrations may have, as the rows of a VALUES list: what was released, and what this file writes."""
    rows = {name: sha for name, sha in frozen(home.sql).items() if name.rpartition(" ")[0] in home.parts}
    rows |= written(home)
    return ",\n".join(f"      ('{name}', '{rows[name]}')" for name in sorted(rows))


@functools.cache
def versions(home: House) -> str:
    """Each part and the version of its tables, as the rows of a VALUES list."""
    return ", ".join(f"('{part}', '{version(home.sql, part)}')" for part in home.parts)


def comments(home: House) -> str:
    """The comments of tables, columns, types and sequences, as the rows of a VALUES list."""
    found = [comment for text in files(home).values() for comment in COMMENT_ON.findall(text)]
    if len(found) != sum(text.count("comment on ") for text in files(home).values()):
        raise SystemExit("a comment has another head than tables.py reads: comment on column memory.table.column is")
    return ",\n".join(f"      ('{kind}', '{name}', {text.strip()})" for kind, name, text in found)


def texts_with_tables(home: House) -> list[str]:
    """The texts that make tables: head.sql makes memory.migrations, the rooms make the others."""
    return [(home.sql / "head.sql").read_text(), *files(home).values()]


def names(home: House) -> str:
    """The names of our tables, as the elements of an array."""
    return ", ".join(sorted(f"'{name}'" for text in texts_with_tables(home) for name, _ in TABLE.findall(text)))


def indexes(home: House) -> str:
    """The indexes that an installation has and the statements that make them anew, as the rows of a VALUES list."""
    made: dict[str, str] = {}
    for text in texts_with_tables(home):
        for table, body in TABLE.findall(text):
            if found := PRIMARY_KEY.search(body):
                made[f"{table}_pkey"] = f"alter table memory.{table} add primary key ({found[1] or found[2]})"
        for verb, name, rest in INDEX.findall(text):
            made[name] = " ".join(f"{verb} concurrently {name}{rest}".split())
    return ",\n".join(f"    ('{name}', $index${made[name]}$index$)" for name in sorted(made))
