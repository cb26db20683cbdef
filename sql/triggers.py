"""The triggers of the rooms, each with the statement that the install file creates it by."""

from __future__ import annotations

import functools
import re

from house import House

TRIGGER = re.compile(r"^create (?:constraint )?trigger (\w+)\n(.*?);$", re.MULTILINE | re.DOTALL)
# Rows that are copied from another database pass by the triggers on insert, which have done their work there, and rows
# of a user who is forgotten pass by those on delete. A session says so by a setting, which memory._changes_whole_user()
# must confirm: an application's role can set it, and must not get around limits and checks.
NOT_COPIED = (
    "current_setting('memory.rows_are_copied', true) is distinct from 'yes' or not memory._changes_whole_user()"
)
# The same within a trigger function.
ARE_COPIED = (
    "current_setting('memory.rows_are_copied', true) is not distinct from 'yes' and memory._changes_whole_user()"
)


def found(home: House) -> list[tuple[str, str]]:
    """The name and the definition of every trigger."""
    triggers = []
    for path in home.files("triggers.sql"):
        text = path.read_text()
        here = TRIGGER.findall(text)
        if len(here) != len(re.findall("create (?:constraint )?trigger", text)):
            raise SystemExit(f"{path.name} has a trigger with another head than triggers.py reads: create trigger name")
        triggers += [(name, " ".join(rest.replace("{{not copied}}", NOT_COPIED).split())) for name, rest in here]
    return triggers


def statements(home: House) -> str:
    """Every trigger, created by memory._replace_trigger()."""
    calls = [
        f"call memory._replace_trigger('{name}', $trigger${definition}$trigger$);" for name, definition in found(home)
    ]
    return "\n".join(calls) + "\n"


@functools.cache
def names(home: House) -> str:
    """The tables and names of all triggers, as the rows of a VALUES list."""
    rows = sorted((re.findall(r"\bon memory\.(\w+)", definition)[0], name) for name, definition in found(home))
    return ",\n".join(f"    ('{table}', '{name}')" for table, name in rows)
