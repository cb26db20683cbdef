"""Puts into SQL what follows from the registry (registry.py): lists of tables and columns, and expressions.

- ``{{each table with exported, union all: …}}`` repeats the lines after the colon for each table whose entry has the
  key exported, with ``union all`` between them. In the lines, ``<exported>`` becomes the value of the key as a literal
  of SQL, and ``<wording as code>`` the value as it is. value_of() has the names that are no keys of an entry.
- ``{{tables with follows}}`` becomes the names of the tables whose entries have the key follows.
- ``{{columns of messages}}`` becomes the names of the columns of a table.
- ``{{columns of messages as m, thread_id = new_thread_id}}`` becomes the values of these columns: ``new_thread_id`` for
  thread_id, ``m.`` and the name for the others.
- ``{{texts of jobs as j}}`` becomes the values of the columns whose word is text.
"""

from __future__ import annotations

import json
import re
from typing import Any

from house import House
from registry import LEFT_OUT, WORDING, Table, tables

# Rows that a pass of forget_user has not locked, by the name that stands for them in an entry left_alone. $1 is the
# user; $2, $3 and $4 are the threads, agents and documents that are locked.
UNLOCKED = {
    "threads": "(select h.thread_id from memory.threads as h where h.user_id = $1 except select unnest($2))",
    "agents": "(select s.agent_id from memory.memory_scopes as s where s.user_id = $1 except select unnest($3))",
    "memories": "(select m.memory_id from memory.memories as m where m.user_id = $1 and m.agent_id in {agents})",
    "documents": "(select d.document_id from memory.documents as d where d.user_id = $1 except select unnest($4))",
    "texts": "t.source = 'message' and memory._thread_of(t.id) in {threads}"
    " or t.source = 'memory' and t.id in (select m.memory_id::text from {memories} as m)"
    " or t.source = 'document' and split_part(t.id, '/', 1) in (select d.document_id::text from {documents} as d)",
}
# When a user is merged into a second user: the value that the second user gets for a column t.c, by the column's word,
# or by its word and type. $7 and $8 have the new names of threads and artifacts by old name. "message thread/3" and
# "thread/3" name a message, "log/0" the first part of the artifact log.
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
# The rule for an imported value t.c, by the column's word, or else by its type. The value must be an id, a time that
# every client can read, a number from which counters go on without an overflow, a share, or a JSON object.
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
# The value of a column t.c with [forgotten] in place of forgotten wordings, by the type of the column.
FORGETTING = {
    "jsonb": "memory._json_forgetting(t.c, p_wordings)",
    "text[]": "memory._texts(memory._json_forgetting(to_jsonb(t.c), p_wordings))",
    "text": "memory._json_forgetting(to_jsonb(t.c), p_wordings) #>> '{}'",
}

EACH = re.compile(r"^( *)\{\{each table with (\w+)(?:, ([^:\n]+))?:\s+(.*?)\}\}$", re.MULTILINE | re.DOTALL)
NAMES = re.compile(r"\{\{tables with (\w+)\}\}")
COLUMNS_OF = re.compile(r"\{\{columns of (\w+)(?: as (\w+)(?:, (.*?))?)?\}\}", re.DOTALL)
TEXTS_OF = re.compile(r"\{\{texts of (\w+) as (\w+)\}\}")
VALUE = re.compile(r"<(\w+)( as code)?>")


def value_of(table: Table, name: str) -> Any:
    """What {{each table}} puts in place of <name>: a value of the entry, or what follows from the words."""
    if name == "table":
        return table.name
    if name == "user":
        return "user_id" in table.words
    if name == "policies":
        return "user_id" in table.words and not table.entry.get("owner_only")
    if name == "goes_with_thread":
        return table.entry.get("with_thread") is True
    if name == "left_out":
        return table.columns(LEFT_OUT)
    if name == "merged":
        return merged(table)
    if name == "wording":
        return ", ".join(f"t.{column}" for column in table.columns(WORDING))
    if name == "forgotten":
        return forgotten(table)
    if name == "emptied":
        return assignments(table.entry["without_user"])
    if name == "left_alone" and name in table.entry:
        return unlocked(table.entry[name])
    if name == "wording_if":
        return table.entry.get(name, "true")
    if name == "problem":
        return problem(table)
    return table.entry.get(name)


def merged(table: Table) -> dict[str, str]:
    """The columns whose values change when a user is merged into a second user, with the new values."""
    values = {}
    for column, word in table.words.items():
        key = "with keys" if word.endswith(" with keys") else word
        value = MERGED.get(f"{key} {table.types[column]}", MERGED.get(key))
        if value:
            values[column] = value.replace("t.c", f"t.{column}")
    return values | dict(table.entry.get("merged", {}))


def forgotten(table: Table) -> str:
    """The assignments of an UPDATE that forgets wordings in a row of the table."""
    changes = {
        column: FORGETTING[table.types[column]].replace("t.c", f"t.{column}") for column in table.columns(WORDING)
    }
    return assignments(changes | table.entry.get("with_wording", {}))


def problem(table: Table) -> str:
    """An expression that names the member of an imported row that breaks a rule, or is null.

    First come the rules of the columns, then the condition under which such a row is exported, then the rule of the
    table. metadata has no rule of its column, because the rule of the table says more of it than its type.
    """
    cases = []
    for column in sorted(table.words.keys() - {"metadata", *table.columns(LEFT_OUT)}):
        rule = VALID.get(table.words[column], VALID_OF_TYPE.get(table.types[column]))
        if rule:
            cases.append(
                f"when ({rule.replace('t.c', f't.{column}')}) is false"
                f" then '{column}' || coalesce(' (' || left(r.value ->> '{column}', 50) || ')', '')"
            )
    if condition := table.entry.get("condition"):
        member = re.findall(r"t\.(\w+)", condition)[0]
        cases.append(f"when ({condition}) is not true then '{member}'")
    checked = f"memory._refused_member('{table.name}', to_jsonb(t))" if "checks" in table.entry else "null"
    return f"coalesce(case {' '.join(cases)} end, {table.entry.get('rule', checked)})"


def assignments(values: dict[str, str]) -> str:
    """The assignments of an UPDATE: columns with their new values."""
    return ",\n".join(f"    {name} = {value}" for name, value in values.items())


def unlocked(condition: str) -> str:
    """The condition with the queries of UNLOCKED in place of the names in braces."""
    while (replaced := re.sub(r"\{(\w+)\}", lambda match: UNLOCKED[match[1]], condition)) != condition:
        condition = replaced
    return condition


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
    """The text with lists of tables and columns in place of the marks that the head of this file explains."""

    def filled(line: str, table: Table) -> str:
        def value(match: re.Match[str]) -> str:
            found = value_of(table, match[1])
            return str(found) if match[2] or match[1] == "table" else literal(found)

        return VALUE.sub(value, line)

    def lines(match: re.Match[str]) -> str:
        indent, needed, separator, line = match.groups()
        between = f"\n{indent}{separator}\n" if separator else "\n"
        return between.join(indent + filled(line, table) for table in tables(home).values() if value_of(table, needed))

    def columns(match: re.Match[str]) -> str:
        name, alias, values = match.groups()
        names = tables(home)[name].types
        if not alias:
            return ", ".join(names)
        made = dict(part.split(" = ", 1) for part in re.split(r",\s+(?=\w+ = )", values or "") if part)
        return ", ".join(made.get(column, f"{alias}.{column}") for column in names)

    def names(match: re.Match[str]) -> str:
        return ", ".join(f"'{name}'" for name, table in tables(home).items() if value_of(table, match[1]))

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
