"""Reads what tables hold of users: the words behind the columns in tables.sql, and registry.toml of each room.

The line of a column in tables.sql ends with a word that says what the column holds, such as ``title text, -- wording``.
WORDS has all these words. An entry of registry.toml says what becomes of the rows of a table when a user is forgotten,
exported, imported, merged or moved. ENTRIES has all keys of an entry; in their SQL, ``t`` is a row of the table. The
build fails for a column without a word, and for a table whose entry lacks a key that it needs. statements.py makes the
SQL from words and entries.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomllib  # type: ignore[import-not-found, unused-ignore]  # of Python 3.11
from house import House

WORDS = {
    "user": "the user to whom the row belongs",
    "member": "another user",
    "id": "tells the rows of a user apart",
    "thread": "names a thread",
    "thread or all": "names a thread; empty for all",
    "agent": "names an agent",
    "agents": "names agents",
    "agent or all": "names an agent; empty for all",
    "memory": "names a memory",
    "message": "numbers of messages",
    "summary": "names a summary",
    "document": "names a document",
    "artifact": "the key of an artifact",
    "checkpoint": "names a checkpoint",
    "job": "the number of a job in this database: an export leaves it out",
    "model": "names a model",
    "place": "thread/3, log/0 or an id, as column source says",
    "origin": "message thread/3, artifact log and the like",
    "scope": "a thread, or what the kind of the row says",
    "name": "chosen by applications or administrators, who find rows by it: stays when its words are forgotten",
    "text": "what was said; who forgets it removes the row or this text",
    "text with keys": "a text that names artifacts, too",
    "wording": "may repeat what was said: [forgotten] takes its place",
    "wording with keys": "a wording that names artifacts, too",
    "kept": "the application's own: stays when its words are forgotten",
    "word": "one of our words",
    "setting": "a setting",
    "made": "made again from other columns: an export leaves it out",
    "local": "means something in this database only: an export leaves it out",
    "hash": "a hash or checksum",
    "secret": "a key, or sealed",
    "time": "a moment or day",
    "time or never": "a moment; infinity for never",
    "time or infinity": "a moment; infinity for more than that",
    "number": "a number, count, price or share",
    "any number": "a number with which nothing is counted, so that any value is allowed",
    "version": "counts changes of the row, from 1",
    "position": "microseconds or the number of a message; -1 for none",
    "flag": "yes or no",
}
WORDING = {"wording", "wording with keys"}
# The words of columns that may tell who a user is, or what was said.
OF_USERS = {"user", "agent", "text", "text with keys", "kept", *WORDING}
LEFT_OUT = {"job", "local", "made"}
ENTRIES = {
    "without_users": "why a table without a column user_id holds nothing of a user",
    "exported": "an export has its rows; imported in the order of these numbers",
    "not_exported": "why an export leaves them out",
    "export_order": "the columns by which they are sorted, if there is no primary key",
    "condition": "the rows that are exported and may be imported",
    "unexpired": "of these, the rows that have not expired: an export leaves the others out",
    "sent": "values that an export has instead of those of the columns",
    "imported": "values that an import stores instead; r.value is the JSON of the row",
    "rule": "an expression that names the member of an imported row that breaks a rule; null if none does",
    "checks": "functions that raise an error for an imported row that breaks a rule",
    "after_import": "a statement of memory._import_rows() that is run once the rows are stored",
    "ignored_by_import": "a user who has rows here alone can still be imported",
    "locked": "rows of a user are locked and removed in the order of these numbers, those of other tables last",
    "left_alone": "rows that a pass of forget_user leaves to the next one; else those of threads that are not locked",
    "stays": "why forget_user keeps rows, without the user",
    "without_user": "what forget_user changes in the rows that it keeps",
    "with_thread": "true: the rows go with their thread; else who else removes them, or why they stay",
    "follows": "triggers and foreign keys remove rows with rows of other tables; forget_memory counts them",
    "wording_if": "the rows in which forget_memory may change wordings",
    "with_wording": "what forget_memory changes in a row together with the wordings",
    "merged": "values for the second user, as memory._merging_statement() takes them",
    "merged_by_hand": "memory.merge_users() itself does it",
    "taken": "the rows that are merged; else those that forget_user would remove",
    "joined": "SQL of a merge between the rows (from) and the conflict (on conflict): joins or conditions",
    "conflict": "what becomes of a row if the second user has its key",
    "listed": "a user may have rows here and nothing else",
    "aged_by": "how old a row is",
    "kept_for": "how old it may become before memory.sweep() removes it",
    "owner_only": "only the owner of the schema may read it",
    "moved": "values that agent-memory move sends instead",
    "not_moved": "why agent-memory move does not copy the rows",
    "moved_with_settings": "rows for all users, which agent-memory move adds where they are missing",
}
OF_COLUMNS = ("sent", "imported", "with_wording", "without_user", "merged", "moved")
WORDING_TYPES = ("jsonb", "text[]", "text")

CREATED = re.compile(r"^create table memory\.(\w+) \(\n(.*?)^\)", re.MULTILINE | re.DOTALL)
COLUMN = re.compile(r"^  (?!primary |constraint |foreign |--)(\w+) ([\w\[\]]+)(?:.*? -- ([\w ]+))?", re.MULTILINE)
ADDED = re.compile(r"^alter table memory\.(\w+) add column (\w+) ([\w\[\]]+)[^;]*;(?: -- ([\w ]+))?$", re.MULTILINE)


@dataclass(frozen=True)
class Table:
    """A table: its name and tables.sql, the types and words of its columns, and its entry in registry.toml."""

    name: str
    path: Path
    types: dict[str, str]
    words: dict[str, str]
    entry: dict[str, Any]

    def add(self, columns: Iterable[Sequence[str]]) -> None:
        """Note columns with their types and words."""
        for name, kind, word in columns:
            self.types[name], self.words[name] = kind, word

    def columns(self, words: set[str]) -> list[str]:
        """The columns with one of these words."""
        return [name for name, word in self.words.items() if word in words]


@functools.cache
def tables(home: House) -> dict[str, Table]:
    """The tables of all rooms in the order of the build. Raises SystemExit if a word or an entry is wrong."""
    found: dict[str, Table] = {}
    for path in home.files("tables.sql"):
        entries = path.with_name("registry.toml")
        of_room = tomllib.loads(entries.read_text()) if entries.exists() else {}
        text = path.read_text()
        for name, body in CREATED.findall(text):
            found[name] = Table(name, path.relative_to(home.sql.parent), {}, {}, of_room.pop(name, {}))
            found[name].add(COLUMN.findall(body))
        for name, *column in ADDED.findall(text):
            found[name].add([column])
        if of_room:
            place = entries.relative_to(home.sql.parent)
            raise SystemExit(f"{place} has an entry [{next(iter(of_room))}], but tables.sql makes no such table")
    for table in found.values():
        if problem := problem_of(table):
            raise SystemExit(problem)
    return found


def problem_of(table: Table) -> str | None:
    """What is missing or wrong in the words or the entry of a table, and where to mend it; None if nothing is."""
    entry, has_user = table.entry, "user_id" in table.words
    for column, word in table.words.items():
        if word not in WORDS:
            return (
                f'{table.path}: {table.name}.{column} says "{word}" of what it is: end its line with a word, such as'
                " -- wording for a text that may repeat what a user said; WORDS in sql/registry.py has all words"
            )
        if word in WORDING and table.types[column] not in WORDING_TYPES:
            return f"{table.path}: {table.name}.{column} is {table.types[column]}: a wording is text, text[] or jsonb"
        if (column == "user_id") != (word == "user"):
            return f"{table.path}: {table.name}.{column} is {word}: the column user_id says user, and no other"
    place = f"{table.path.with_name('registry.toml')}: [{table.name}]"
    if has_user and ("exported" in entry) == ("not_exported" in entry):
        return f"{place} needs exported = (its place in an export), or not_exported = (why it is in none)"
    if not has_user and "without_users" not in entry:
        return f"{place} needs without_users = (why it holds nothing of a user), or the table a column user_id"
    if not has_user and ("not_moved" in entry) == ("moved_with_settings" in entry):
        return f"{place} needs not_moved = (why agent-memory move leaves it out), or moved_with_settings = true"
    if has_user and "thread_id" in table.words and "with_thread" not in entry:
        return f"{place} needs with_thread = true, or what becomes of the rows of a thread that is deleted"
    if "stays" in entry and (texts := set(table.columns(OF_USERS)) - entry.get("without_user", {}).keys()):
        return f"{place} needs without_user for {min(texts)}: the row stays when the user is forgotten"
    if unknown := entry.keys() - ENTRIES.keys():
        return f"{place} has an unknown entry {min(unknown)}; ENTRIES in sql/registry.py has all entries"
    for part in OF_COLUMNS:
        if unknown := entry.get(part, {}).keys() - table.words.keys():
            return f"{place} says of {part} what {min(unknown)} is, but there is no such column"
    return None
