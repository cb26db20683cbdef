"""Holds client and catalog together: a method for each public function, and nothing else, with the same arguments."""

import dataclasses
import inspect
import re
from decimal import Decimal
from typing import Any, get_args, get_type_hints

import psycopg
import pytest
from agent_memory import AsyncMemory, InvalidValueError, Memory
from agent_memory.choices import Mode, ModelKind, OnConflict, Provider, Role, Source, SummaryKind

NOT_FUNCTIONS = {"close", "artifact_pieces", "buffer", "export_user_to", "import_user_from"}


def catalog(db: psycopg.Connection) -> dict[str, list[tuple[str, bool]]]:
    """For each public function its arguments in order, and whether each has a default."""
    rows = db.execute(
        """
        select proname, coalesce(proargnames[:pronargs], '{}'), pronargs - pronargdefaults
        from pg_proc
        where pronamespace = 'memory'::regnamespace and not starts_with(proname, '_')
          and prorettype <> 'trigger'::regtype
        """
    ).fetchall()
    assert len({name for name, _, _ in rows}) == len(rows), (
        "a function is overloaded: named notation would be ambiguous"
    )
    return {
        name: [(argument, position >= required) for position, argument in enumerate(arguments)]
        for name, arguments, required in rows
    }


def methods(client: type) -> dict[str, list[tuple[str, bool]]]:
    return {
        name: [
            (parameter.name, parameter.default is not inspect.Parameter.empty)
            for parameter in list(inspect.signature(method).parameters.values())[1:]
        ]
        for name, method in inspect.getmembers(client, inspect.isfunction)
        if not name.startswith("_") and name not in NOT_FUNCTIONS
    }


def constants(db: psycopg.Connection) -> dict[str, dict[str, Any]]:
    """For each public function the arguments whose default is a number, a text, a flag or a list that is not empty."""
    found: dict[str, dict[str, Any]] = {}
    for function, argument, default in db.execute(
        """
        select p.proname, p.proargnames[n], pg_get_function_arg_default(p.oid, n)
        from pg_proc as p, generate_series(1, p.pronargs) as n
        where p.pronamespace = 'memory'::regnamespace and not starts_with(p.proname, '_')
          and pg_get_function_arg_default(p.oid, n) is not null
        """
    ).fetchall():
        [value] = db.execute(f"select {default}").fetchone() or [None]
        if isinstance(value, (int, str, Decimal)) or (isinstance(value, list) and value):
            found.setdefault(function, {})[argument] = float(value) if isinstance(value, Decimal) else value
    return found


def columns(db: psycopg.Connection, function: str) -> list[str]:
    """The columns of a function's result."""
    arguments = db.execute(
        "select array_agg('null::' || format_type(argument, null)) from pg_proc, unnest(proargtypes) as argument"
        " where oid = %s::regproc",
        [f"memory.{function}"],
    ).fetchone()
    assert arguments is not None
    query = f"prepare described as select * from memory.{function}({', '.join(arguments[0] or [])})"
    db.execute(query)
    names = db.pgconn.describe_prepared(b"described")
    db.execute("deallocate described")
    return [(names.fname(index) or b"").decode() for index in range(names.nfields)]


@pytest.mark.parametrize("client", [Memory, AsyncMemory])
def test_methods_are_the_functions(db: psycopg.Connection, client: type) -> None:
    assert methods(client) == catalog(db)


def test_the_twins_have_the_same_signatures() -> None:
    for name in methods(Memory):
        sync, twin = (inspect.signature(getattr(client, name)) for client in (Memory, AsyncMemory))
        assert sync == twin
        assert inspect.iscoroutinefunction(getattr(AsyncMemory, name))


def test_result_types_have_the_columns(db: psycopg.Connection) -> None:
    checked = 0
    for name in methods(Memory):
        returned: Any = get_type_hints(getattr(Memory, name))["return"]
        for kind in (returned, *get_args(returned), *get_args(getattr(returned, "__orig_bases__", [None])[0])):
            if dataclasses.is_dataclass(kind):
                assert [field.name for field in dataclasses.fields(kind)] == columns(db, name), name
                checked += 1
    assert checked > 10


def test_signatures_show_the_defaults_of_the_functions(db: psycopg.Connection) -> None:
    wanted = constants(db)
    shown = {
        name: {
            parameter.name: list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
            for parameter in inspect.signature(method).parameters.values()
            if parameter.default not in (None, inspect.Parameter.empty)
        }
        for name, method in inspect.getmembers(Memory, inspect.isfunction)
        if name in wanted
    }
    assert shown == wanted
    assert wanted["search"]["mode"] == "hybrid"


@pytest.mark.parametrize(
    ("choices", "call"),
    [
        (Mode, lambda memory: memory.search("ana", "tea", mode="x")),
        (Source, lambda memory: memory.search("ana", "tea", sources=["x"])),
        (Role, lambda memory: memory.add_message("ana", "t", "x", "Hi")),
        (OnConflict, lambda memory: memory.add_memory("ana", "Tea", on_conflict="x")),
        (SummaryKind, lambda memory: memory.get_thread_summary("ana", "t", kind="x")),
        (ModelKind, lambda memory: memory.register_model("m", "x", "openai", "m")),
        (Provider, lambda memory: memory.register_model("m", "chat", "x", "m")),
    ],
)
def test_the_choices_are_those_that_the_database_names(db: psycopg.Connection, choices: Any, call: Any) -> None:
    with pytest.raises(InvalidValueError) as raised:
        call(Memory(db))
    assert set(get_args(choices)) <= set(re.findall(r"\w+", f"{raised.value.message} {raised.value.hint}"))
