"""The tables of an installation: tables.sql and types.sql of the rooms, and the migrations between versions of them.

Every function takes the folder sql/. What a release has written into memory.migrations stands in migrations/frozen.txt,
"sha256  name" per line, and must not change.
"""

from __future__ import annotations

import hashlib
import re
from itertools import pairwise
from pathlib import Path

import house

COMMENT_LINE = re.compile(r"--[^\n]*")
COMMENT_ON = re.compile(r"^comment on (\w+) memory\.([\w.]+) is\s((?:'(?:[^']|'')*'\s*)+);\n", re.MULTILINE)
STATEMENT_END = re.compile(r";\s*\n")
INDEX = re.compile(r"^(create (?:unique )?index) (\w+)(.*?);", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"create table (?:if not exists )?memory\.(\w+) \((.*?)\n *\)", re.DOTALL)
PRIMARY_KEY = re.compile(r"(?:(\w+) [\w ]+ primary key(?! \())|primary key \(([^)]*)\)")
FILES = ("tables", "types")


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def files(sql: Path) -> dict[Path, str]:
    """The files of tables, then those of types, in the order of the rooms."""
    return {path: path.read_text() for name in FILES for path in house.files(sql, f"{name}.sql")}


def migrations(sql: Path) -> list[Path]:
    """The files that upgrade tables, in order: each begins at the version at which the one before it ends."""
    paths = sorted((sql / "migrations").glob("*.sql"), key=lambda path: [int(part) for part in ends(path).split(".")])
    for earlier, later in pairwise(paths):
        if later.stem.split("-")[0] != ends(earlier):
            raise SystemExit(f"sql/migrations/{later.name} must begin where {earlier.name} ends")
    return paths


def ends(migration: Path) -> str:
    """The version of the tables that a migration makes."""
    return migration.stem.split("-")[1]


def project_version(sql: Path) -> str:
    """The version that pyproject.toml names."""
    match = re.search(r'^version = "([^"]+)"', (sql.parent / "pyproject.toml").read_text(), re.MULTILINE)
    assert match, "pyproject.toml names no version"
    return match[1]


def version(sql: Path) -> str:
    """The version of the tables: a later release that changes no table has the same one."""
    if paths := migrations(sql):
        return ends(paths[-1])
    return next(iter(frozen(sql)), project_version(sql))


def digest(sql: Path) -> str:
    """Tells one state of the tables from another one. Comments do not matter, nor in which file a statement stands."""
    text = "\n".join(COMMENT_LINE.sub("", COMMENT_ON.sub("", text)) for text in files(sql).values())
    return sha256("\n".join(sorted(" ".join(statement.split()) for statement in STATEMENT_END.split(text))))


def written(sql: Path) -> dict[str, str]:
    """What the install file writes into memory.migrations: names and hashes."""
    return {path.stem: sha256(path.read_text()) for path in migrations(sql)} | {version(sql): digest(sql)}


def frozen(sql: Path) -> dict[str, str]:
    """What released versions have written into memory.migrations."""
    lines = (sql / "migrations" / "frozen.txt").read_text().splitlines()
    return {name: released for released, name in (line.split() for line in lines)}


def freeze(sql: Path) -> None:
    """Note what this version writes into memory.migrations: it must not change from now on."""
    rows = frozen(sql) | written(sql)
    (sql / "migrations" / "frozen.txt").write_text("".join(f"{rows[name]}  {name}\n" for name in rows))


def changes_of_releases(sql: Path) -> list[str]:
    """What is no longer as it was released, and how to go on."""
    released, now, newest = frozen(sql), written(sql), version(sql)
    ours = project_version(sql)
    problems = [
        f"sql/migrations/{name}.sql was released and must not change"
        for name in released
        if "-" in name and now.get(name) != released[name]
    ]
    if newest in released and now[newest] != released[newest]:
        problems.append(f"the tables of {newest} were released: add sql/migrations/{newest}-<next version>.sql")
    if newest not in released and newest != ours:
        problems.append(f"sql/migrations ends at {newest}, pyproject.toml says {ours}: set the version there")
    return problems


def known_migrations(sql: Path) -> str:
    """What memory.migrations may have, as the rows of a VALUES list: what was released, and what this file writes."""
    rows = frozen(sql) | written(sql)
    return ",\n".join(f"      ('{name}', '{rows[name]}')" for name in sorted(rows))


def comments(sql: Path) -> str:
    """The comments of tables, columns, types and sequences, as the rows of a VALUES list."""
    found = [comment for text in files(sql).values() for comment in COMMENT_ON.findall(text)]
    if len(found) != sum(text.count("comment on ") for text in files(sql).values()):
        raise SystemExit("a comment has another head than tables.py reads: comment on column memory.table.column is")
    return ",\n".join(f"      ('{kind}', '{name}', {text.strip()})" for kind, name, text in found)


def texts_with_tables(sql: Path) -> list[str]:
    """The texts that make tables: head.sql makes memory.migrations, the rooms make the others."""
    return [(sql / "head.sql").read_text(), *files(sql).values()]


def names(sql: Path) -> str:
    """The names of our tables, as the elements of an array."""
    return ", ".join(sorted(f"'{name}'" for text in texts_with_tables(sql) for name, _ in TABLE.findall(text)))


def indexes(sql: Path) -> str:
    """The indexes that an installation has and the statements that make them anew, as the rows of a VALUES list."""
    made: dict[str, str] = {}
    for text in texts_with_tables(sql):
        for table, body in TABLE.findall(text):
            if found := PRIMARY_KEY.search(body):
                made[f"{table}_pkey"] = f"alter table memory.{table} add primary key ({found[1] or found[2]})"
        for verb, name, rest in INDEX.findall(text):
            made[name] = " ".join(f"{verb} concurrently {name}{rest}".split())
    return ",\n".join(f"    ('{name}', $index${made[name]}$index$)" for name in sorted(made))
