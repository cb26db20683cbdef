"""What the tables know of users: the words behind the columns in tables.sql, and registry.toml of each room.

A column in tables.sql ends with a word that says what it is, such as ``title text, -- wording``. WORDS has them all. An
entry of registry.toml says of a table what becomes of its rows where a user is forgotten, exported, imported, merged
and moved. ENTRIES has what an entry may say; ``t`` is a row of the table. The build fails for a column without a word
and for a table without an entry.

SQL asks for what follows: ``{{each table with exported, union all: …}}`` repeats lines for each table of which that
holds, with its values in place of ``<exported>``, as literals, and of ``<wording as code>``, as they are;
``{{tables with follows}}`` are their names; ``{{columns of messages}}`` lists the columns of a table, ``{{columns of
messages as m, thread_id = new_thread_id}}`` their values, ``{{texts of jobs as j}}`` those that are texts.
"""

from __future__ import annotations

import functools
import json
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
    "text with keys": "the same, and names artifacts",
    "wording": "may repeat what was said: [forgotten] takes its place",
    "wording with keys": "the same, and names artifacts",
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
    "any number": "a number on which nothing counts",
    "version": "counts changes of the row, from 1",
    "position": "microseconds or the number of a message; -1 for none",
    "flag": "yes or no",
}
WORDING = {"wording", "wording with keys"}
# What may tell who a user is, or what was said.
OF_USERS = {"user", "agent", "text", "text with keys", "kept", *WORDING}
LEFT_OUT = {"job", "local", "made"}
ENTRIES = {
    "without_users": "why a table without a column user_id holds nothing of a user",
    "exported": "an export has its rows; imported in the order of these numbers",
    "not_exported": "why an export leaves them out",
    "export_order": "the columns by which they are sorted, if there is no primary key",
    "condition": "the rows that are exported and may be imported",
    "unexpired": "of these, the rows that are still exported",
    "sent": "values that an export has instead of those of the columns",
    "imported": "values that an import stores instead; r.value is the JSON of the row",
    "rule": "an expression that names the member of an imported row that breaks a rule; null if none does",
    "after_import": "a statement that is run with the rows ($1) and the user ($2) once they are stored",
    "ignored_by_import": "a user who has rows here alone can still be imported",
    "locked": "rows of a user are locked and removed in the order of these numbers, those of other tables last",
    "left_alone": "rows that a pass of forget_user leaves to the next one, if not those of threads that are not locked",
    "stays": "why forget_user keeps rows, without the user",
    "without_user": "what it changes in these rows",
    "follows": "triggers and foreign keys remove rows with others; forget_memory counts them",
    "wording_if": "the rows in which forget_memory may change wordings",
    "with_wording": "what it changes with them",
    "merged": "values for the second user, as memory._merging_statement() takes them",
    "merged_by_hand": "memory.merge_users() itself does it",
    "taken": "the rows that are merged, if not those that forget_user would remove",
    "joined": "what stands between the rows and the conflict",
    "conflict": "what becomes of a row if the second user has its key",
    "listed": "a user may have rows here and nothing else",
    "aged_by": "how old a row is",
    "kept_for": "how old it may become before memory.sweep() removes it",
    "owner_only": "only the owner of the schema may read it",
    "moved": "values that agent-memory move sends instead",
    "not_moved": "why it does not copy the rows",
    "moved_with_settings": "rows of all users, which it adds where they are missing",
}
OF_COLUMNS = ("sent", "imported", "with_wording", "without_user", "merged", "moved")

# Rows that a pass of forget_user has not locked. $1 is the user; $2, $3 and $4 are the threads, agents and documents
# that are locked.
UNLOCKED = {
    "threads": "(select h.thread_id from memory.threads as h where h.user_id = $1 except select unnest($2))",
    "agents": "(select s.agent_id from memory.memory_scopes as s where s.user_id = $1 except select unnest($3))",
    "memories": "(select m.memory_id from memory.memories as m where m.user_id = $1 and m.agent_id in {agents})",
    "documents": "(select d.document_id from memory.documents as d where d.user_id = $1 except select unnest($4))",
    "texts": "t.source = 'message' and memory._thread_of(t.id) in {threads}"
    " or t.source = 'memory' and t.id in (select m.memory_id::text from {memories} as m)"
    " or t.source = 'document' and split_part(t.id, '/', 1) in (select d.document_id::text from {documents} as d)",
}
# The value for the second user of a column c by its word, and by its type where words do not tell. $7 and $8 are the
# new names of threads and artifacts. "message thread/3" and "thread/3" name a message, "log/0" the first part of the
# artifact log.
NAMED_ANEW = "coalesce((${0} ->> memory._thread_of({1})) || '/' || memory._seq_of({1}), {1})"
MERGED = {
    "artifact": "coalesce($8 ->> t.c, t.c)",
    "place": f"case t.source when 'message' then {NAMED_ANEW.format(7, 't.c')}"
    f" when 'artifact' then {NAMED_ANEW.format(8, 't.c')} else t.c end",
    "origin": "case when starts_with(t.c, 'message ') then 'message ' || "
    + NAMED_ANEW.format(7, "substr(t.c, 9)")
    + " when starts_with(t.c, 'artifact ') then 'artifact ' || coalesce($8 ->> substr(t.c, 10), substr(t.c, 10))"
    " else t.c end",
    "scope": "case when t.kind in ('language', 'parsed_anew', 'spoken') then t.c else coalesce($7 ->> t.c, t.c) end",
    "with keys": "memory._with_keys(t.c, $8)",
    "with keys jsonb": "case when $8 <> '{}' then memory._with_keys(t.c::text, $8)::jsonb else t.c end",
}
# What an imported value t.c must be, by the column's word, else by its type: an id, a time that every client can read,
# a number from which counters go on without an overflow, a share, a JSON object.
VALID = {
    "thread": "t.c is null or memory._is_id(t.c)",
    "thread or all": "t.c = '' or memory._is_id(t.c)",
    "agent": "t.c is null or memory._is_id(t.c)",
    "agent or all": "t.c = '' or memory._is_id(t.c)",
    "checkpoint": "t.c is null or memory._is_id(t.c)",
    "time or never": "memory._is_bound(t.c)",
    "time or infinity": "memory._is_real_moment(t.c) or t.c = 'infinity'",
    "any number": "",
    "version": "t.c between 1 and 1000000000",
    "position": "t.c between -1 and 1000000000000000000",
}
VALID_OF_TYPE = {
    "timestamptz": "memory._is_real_moment(t.c)",
    "date": "t.c between date '0001-01-02' and date '9999-12-30'",
    "int": "t.c between 0 and 1000000000",
    "bigint": "t.c between 0 and 1000000000000000",
    "bigint[]": "0 <= all (t.c) and 1000000000000000 >= all (t.c)",
    "real": "t.c between 0 and 1",
    "numeric": "t.c between 0 and 1000000",
    "jsonb": "jsonb_typeof(t.c) = 'object'",
}
# [forgotten] in the texts of a column with wordings, by its type.
FORGETTING = {
    "jsonb": "memory._json_forgetting(t.c, p_wordings)",
    "text[]": "memory._texts(memory._json_forgetting(to_jsonb(t.c), p_wordings))",
    "text": "memory._json_forgetting(to_jsonb(t.c), p_wordings) #>> '{}'",
}

CREATED = re.compile(r"^create table memory\.(\w+) \(\n(.*?)^\)", re.MULTILINE | re.DOTALL)
COLUMN = re.compile(r"^  (?!primary |constraint |foreign |--)(\w+) ([\w\[\]]+)(?:.*? -- ([\w ]+))?", re.MULTILINE)
ADDED = re.compile(r"^alter table memory\.(\w+) add column (\w+) ([\w\[\]]+)[^;]*;(?: -- ([\w ]+))?$", re.MULTILINE)
EACH = re.compile(r"^( *)\{\{each table with (\w+)(?:, ([^:\n]+))?:\s+(.*?)\}\}$", re.MULTILINE | re.DOTALL)
NAMES = re.compile(r"\{\{tables with (\w+)\}\}")
COLUMNS_OF = re.compile(r"\{\{columns of (\w+)(?: as (\w+)(?:, (.*?))?)?\}\}", re.DOTALL)
TEXTS_OF = re.compile(r"\{\{texts of (\w+) as (\w+)\}\}")
VALUE = re.compile(r"<(\w+)( as code)?>")


@dataclass(frozen=True)
class Table:
    """A table: types and words of its columns, and its entry."""

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

    def value(self, name: str) -> Any:
        """What {{each table}} puts in place of <name>: an entry, or what follows from the words."""
        if name == "table":
            return self.name
        if name == "user":
            return "user_id" in self.words
        if name == "policies":
            return "user_id" in self.words and not self.entry.get("owner_only")
        if name == "left_out":
            return self.columns(LEFT_OUT)
        if name == "merged":
            return self.merged()
        if name == "wording":
            return ", ".join(f"t.{column}" for column in self.columns(WORDING))
        if name == "forgotten":
            return self.forgotten()
        if name == "emptied":
            return assignments(self.entry["without_user"])
        if name == "left_alone" and name in self.entry:
            return unlocked(self.entry[name])
        if name == "wording_if":
            return self.entry.get(name, "true")
        if name == "problem":
            return self.problem()
        return self.entry.get(name)

    def merged(self) -> dict[str, str]:
        """The values of columns for the second user that are not what they were."""
        values = {}
        for column, word in self.words.items():
            key = "with keys" if word.endswith(" with keys") else word
            value = MERGED.get(f"{key} {self.types[column]}", MERGED.get(key))
            if value:
                values[column] = value.replace("t.c", f"t.{column}")
        return values | dict(self.entry.get("merged", {}))

    def forgotten(self) -> str:
        """The changes of a row whose wordings are forgotten."""
        changes = {
            column: FORGETTING[self.types[column]].replace("t.c", f"t.{column}") for column in self.columns(WORDING)
        }
        return assignments(changes | self.entry.get("with_wording", {}))

    def problem(self) -> str:
        """An expression that names the member of an imported row that breaks a rule, or is null.

        First come the rules of the columns, then the condition under which such a row is exported, then the table's,
        which says more of metadata than its type.
        """
        cases = []
        for column in sorted(self.words.keys() - {"metadata", *self.columns(LEFT_OUT)}):
            rule = VALID.get(self.words[column], VALID_OF_TYPE.get(self.types[column]))
            if rule:
                cases.append(
                    f"when ({rule.replace('t.c', f't.{column}')}) is false"
                    f" then '{column}' || coalesce(' (' || left(r.value ->> '{column}', 50) || ')', '')"
                )
        if condition := self.entry.get("condition"):
            member = re.findall(r"t\.(\w+)", condition)[0]
            cases.append(f"when ({condition}) is not true then '{member}'")
        return f"coalesce(case {' '.join(cases)} end, {self.entry.get('rule', 'null')})"


def assignments(values: dict[str, str]) -> str:
    """New values of columns, for UPDATE."""
    return ",\n".join(f"    {name} = {value}" for name, value in values.items())


def unlocked(condition: str) -> str:
    """The condition with the rows that its words in braces stand for."""
    while (replaced := re.sub(r"\{(\w+)\}", lambda match: UNLOCKED[match[1]], condition)) != condition:
        condition = replaced
    return condition


@functools.cache
def tables(home: House) -> dict[str, Table]:
    """The tables of all rooms in the order of the build. Raises SystemExit for what is not registered."""
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
    """What the registry lacks of a table, and where to add it."""
    entry, has_user = table.entry, "user_id" in table.words
    for column, word in table.words.items():
        if word not in WORDS:
            return (
                f'{table.path}: {table.name}.{column} says "{word}" of what it is: end its line with a word, such as'
                " -- wording for a text that may repeat what a user said; WORDS in sql/registry.py has all words"
            )
        if word in WORDING and table.types[column] not in FORGETTING:
            return (
                f"{table.path}: {table.name}.{column} is {table.types[column]}; a wording is {' or '.join(FORGETTING)}"
            )
        if (column == "user_id") != (word == "user"):
            return f"{table.path}: {table.name}.{column} is {word}: the column user_id says user, and no other"
    place = f"{table.path.with_name('registry.toml')}: [{table.name}]"
    if has_user and ("exported" in entry) == ("not_exported" in entry):
        return f"{place} needs exported = (its place in an export), or not_exported = (why it is in none)"
    if not has_user and "without_users" not in entry:
        return f"{place} needs without_users = (why it holds nothing of a user), or the table a column user_id"
    if not has_user and ("not_moved" in entry) == ("moved_with_settings" in entry):
        return f"{place} needs not_moved = (why agent-memory move leaves it out), or moved_with_settings = true"
    if "stays" in entry and (texts := set(table.columns(OF_USERS)) - entry.get("without_user", {}).keys()):
        return f"{place} needs without_user for {min(texts)}: the row stays when the user is forgotten"
    if unknown := entry.keys() - ENTRIES.keys():
        return f"{place} has an unknown entry {min(unknown)}; ENTRIES in sql/registry.py has all entries"
    for part in OF_COLUMNS:
        if unknown := entry.get(part, {}).keys() - table.words.keys():
            return f"{place} says of {part} what {min(unknown)} is, but there is no such column"
    return None


def literal(value: Any) -> str:
    """The value as SQL writes it."""
    if value is None:
        return "null"
    if isinstance(value, bool | int):
        return json.dumps(value)
    if isinstance(value, list):
        return f"array[{', '.join(map(literal, value))}]::text[]"
    if isinstance(value, dict):
        value = json.dumps(value)
    text = str(value).strip()
    return f"$entry${text}$entry$" if {"'", "\\"} & set(text) else f"'{text}'"


def with_tables(home: House, text: str) -> str:
    """The text with its lists of tables and of columns."""

    def filled(line: str, table: Table) -> str:
        def value(match: re.Match[str]) -> str:
            found = table.value(match[1])
            return str(found) if match[2] or match[1] == "table" else literal(found)

        return VALUE.sub(value, line)

    def lines(match: re.Match[str]) -> str:
        indent, needed, separator, line = match.groups()
        between = f"\n{indent}{separator}\n" if separator else "\n"
        return between.join(indent + filled(line, table) for table in tables(home).values() if table.value(needed))

    def columns(match: re.Match[str]) -> str:
        name, alias, values = match.groups()
        names = tables(home)[name].types
        if not alias:
            return ", ".join(names)
        made = dict(part.split(" = ", 1) for part in re.split(r",\s+(?=\w+ = )", values or "") if part)
        return ", ".join(made.get(column, f"{alias}.{column}") for column in names)

    def names(match: re.Match[str]) -> str:
        return ", ".join(f"'{name}'" for name, table in tables(home).items() if table.value(match[1]))

    def texts(match: re.Match[str]) -> str:
        return ", ".join(f"{match[2]}.{column}" for column in tables(home)[match[1]].columns({"text"}))

    text = TEXTS_OF.sub(texts, text)
    text = COLUMNS_OF.sub(columns, NAMES.sub(names, EACH.sub(lines, text)))
    if "{{each table" in text:
        raise SystemExit(
            f"a list of tables does not end its line: {text[text.index('{{each table') :].splitlines()[0]}"
        )
    return text.replace("{{unlocked threads}}", UNLOCKED["threads"])


def of_move(home: House) -> str:
    """The Python module that says which tables agent-memory move copies."""
    known = tables(home)
    not_moved = {name: table.entry["not_moved"] for name, table in sorted(known.items()) if "not_moved" in table.entry}
    instead = {name: table.entry["moved"] for name, table in known.items() if "moved" in table.entry}

    def as_python(value: Any) -> str:
        return re.sub(r'(["}])\n', r"\1,\n", json.dumps(value, indent=4))

    return (
        '"""Which rows are copied. sql/build.py makes this of registry.toml of the rooms: change it there."""\n\n'
        f"NOT_COPIED = {as_python(not_moved)}\n"
        '"""Tables that are not copied, and why."""\n\n'
        f"INSTEAD = {as_python(instead)}\n"
        '"""Values that are sent instead of those of the source, by table and column."""\n'
    )
