"""Holds client and catalog together: one method for each public function, and nothing else, with the same arguments."""

import dataclasses
import inspect
import re
from typing import Any, get_args, get_type_hints

import psycopg
import pytest
from agent_memory import AsyncMemory, InvalidValueError, Memory
from agent_memory.calls import AsyncWorkerProtocol, WorkerProtocol
from agent_memory.choices import Mode, ModelKind, OnConflict, Provider, Role, Source, SummaryKind
from agent_memory.client import Admin, AsyncAdmin

from tests.support.servers import ROOT
from tests.support.sqlapi import Api

NOT_FUNCTIONS = {"close", "artifact_pieces", "buffer", "export_user_to", "import_user_from"}
SYNC, ASYNC = (Memory, Admin, WorkerProtocol), (AsyncMemory, AsyncAdmin, AsyncWorkerProtocol)
Classes = tuple[type, ...]


def catalog(api: Api) -> dict[str, list[tuple[str, bool]]]:
    """For each public function its arguments in order, and whether each has a default."""
    rows = api.connection.execute(
        """
        select proname, coalesce(proargnames[:pronargs], '{}'), pronargs - pronargdefaults
        from pg_proc
        where pronamespace = 'memory'::regnamespace and not starts_with(proname, '_')
          and prorettype <> 'trigger'::regtype and proname <> 'partition_of' -- which the package computes by itself
        """
    ).fetchall()
    assert len({name for name, _, _ in rows}) == len(rows), (
        "a function is overloaded: named notation would be ambiguous"
    )
    return {
        name: [(argument, position >= required) for position, argument in enumerate(arguments)]
        for name, arguments, required in rows
    }


def methods(classes: Classes) -> dict[str, Any]:
    """The methods that call functions, by name; none of them is in two classes."""
    found = [
        (name, method)
        for each in classes
        for name, method in inspect.getmembers(each, inspect.isfunction)
        if not name.startswith("_") and name not in NOT_FUNCTIONS
    ]
    assert len(dict(found)) == len(found)
    return dict(found)


def arguments(method: Any) -> list[tuple[str, bool]]:
    return [
        (parameter.name, parameter.default is not inspect.Parameter.empty)
        for parameter in list(inspect.signature(method).parameters.values())[1:]
    ]


def columns(connection: psycopg.Connection, function: str) -> list[str]:
    """The columns of a function's result."""
    arguments = connection.execute(
        "select array_agg('null::' || format_type(argument, null)) from pg_proc, unnest(proargtypes) as argument"
        " where oid = %s::regproc",
        [f"memory.{function}"],
    ).fetchone()
    assert arguments is not None
    query = f"prepare described as select * from memory.{function}({', '.join(arguments[0] or [])})"
    connection.execute(query)
    names = connection.pgconn.describe_prepared(b"described")
    connection.execute("deallocate described")
    return [(names.fname(index) or b"").decode() for index in range(names.nfields)]


def test_methods_are_the_functions(api: Api) -> None:
    for classes in (SYNC, ASYNC):
        assert {name: arguments(method) for name, method in methods(classes).items()} == catalog(api)


def test_none_and_the_default_of_the_signature_both_mean_not_given(api: Api) -> None:
    for name, method in methods(SYNC).items():
        for argument, hint in get_type_hints(method).items():
            parameter = inspect.signature(method).parameters.get(argument)
            if parameter is not None and parameter.default is not inspect.Parameter.empty:
                assert type(None) in get_args(hint), (name, argument)
    memory = Memory(api.connection)
    memory.add_message("ana", "t", "user", "Hi", agent_id=None)
    assert memory.get_messages("ana", "t", None, include_inactive=None)[0].agent_id == "default"


def test_the_page_lists_the_methods() -> None:
    tables = (ROOT / "docs" / "python.md").read_text().split("| | Methods of ")[1:]
    listed = [
        [name for row in table.splitlines()[2:] if row.startswith("| ") for name in re.findall(r"`(\w+)`", row)]
        for table in tables
    ]
    for names, each in zip(listed, (Memory, Admin), strict=True):
        assert sorted(names) == [name for name, _ in inspect.getmembers(each, inspect.isfunction) if name[0] != "_"]


def test_result_types_have_the_columns(api: Api) -> None:
    checked = 0
    for name, method in methods(SYNC).items():
        returned: Any = get_type_hints(method)["return"]
        for kind in (returned, *get_args(returned), *get_args(getattr(returned, "__orig_bases__", [None])[0])):
            if dataclasses.is_dataclass(kind):
                assert [field.name for field in dataclasses.fields(kind)] == columns(api.connection, name), name
                checked += 1
    assert checked > 10


@pytest.mark.parametrize(
    ("choices", "call"),
    [
        (Mode, lambda memory: memory.search("ana", "tea", mode="x")),
        (Source, lambda memory: memory.search("ana", "tea", sources=["x"])),
        (Role, lambda memory: memory.add_message("ana", "t", "x", "Hi")),
        (OnConflict, lambda memory: memory.add_memory("ana", "Tea", on_conflict="x")),
        (SummaryKind, lambda memory: memory.get_thread_summary("ana", "t", kind="x")),
        (ModelKind, lambda memory: memory.admin.register_model("m", "x", "openai", "m")),
        (Provider, lambda memory: memory.admin.register_model("m", "chat", "x", "m")),
    ],
)
def test_the_choices_are_those_that_the_database_names(api: Api, choices: Any, call: Any) -> None:
    with pytest.raises(InvalidValueError) as raised:
        call(Memory(api.connection))
    assert set(get_args(choices)) <= set(re.findall(r"\w+", f"{raised.value.message} {raised.value.hint}"))
