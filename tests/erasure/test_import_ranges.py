"""An import refuses what no call could have stored, of every column of every kind."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from psycopg import sql

from tests.erasure.conftest import ANA
from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.feature("F18")

TIMES = ["4713-01-01 BC", "294276-12-31"]
ENDLESS = ["infinity", "-infinity"]
IMPOSSIBLE: dict[str, list[Any]] = {
    "timestamp with time zone": TIMES + ENDLESS,
    "date": ["4713-01-01 BC", "5874897-12-31", *ENDLESS],
    "integer": [2147483647, -1, -2147483648],
    "bigint": [9223372036854775807, -2, -9223372036854775808],
    "bigint[]": [[9223372036854775807], [-1]],
    "real": ["NaN", "Infinity", -1, 1e38],
    "numeric": ["NaN", 1e300, -5],
    "jsonb": [[], 5, "text"],
}
MAY_BE_ENDLESS = {"expires_at", "valid_from", "valid_to"}
"""Infinity means never there. It also stands for quarantine in ``deleted_at``, and for no look due in ``check_at``."""

COLUMNS = """
select k.kind, a.attname as name, format_type(a.atttypid, null) as type
from memory._export_kinds() as k
join pg_attribute as a on a.attrelid = format('memory.%%I', k.kind)::regclass and a.attnum > 0 and not a.attisdropped
where a.attname <> all (k.left_out) and a.attname <> 'user_id'
"""


def _impossible(name: str, type_name: str) -> list[Any]:
    values = [] if name in ("prompt_version", "generation_time_ms", "place") else IMPOSSIBLE.get(type_name, [])
    if name in MAY_BE_ENDLESS:
        return [value for value in values if value not in ENDLESS]
    return [value for value in values if value != "infinity"] if name in ("deleted_at", "check_at") else values


def _one_of_each_kind(api: Api) -> dict[str, Any]:
    """An export with one row at least of every kind, and no memory in quarantine."""
    api.connection.execute("update memory.memories set said_at = now() where user_id = %s", [ANA])
    export: dict[str, Any] = api.export_user(user_id=ANA)
    assert all(export[kind] for kind in {row.kind for row in api.query(COLUMNS)})
    return export


def test_a_value_that_no_call_stores_is_refused_by_its_place_and_value(filled: Api) -> None:
    export = _one_of_each_kind(filled)
    columns = filled.query(COLUMNS)
    filled.forget_user(user_id=ANA)
    before = filled.state()
    cases = [(row.kind, row.name, value) for row in columns for value in _impossible(row.name, row.type)]
    assert len(cases) > 200
    for kind, name, value in cases:
        changed = copy.deepcopy(export)
        changed[kind][-1][name] = value
        with refused("export") as refusal:
            filled.import_user(user_id=ANA, export=changed, lift_tombstones=True)
        place = f"export: {kind}[{len(changed[kind]) - 1}].{name}"
        assert str(refusal.value).startswith(place), (place, value, refusal.value)
    assert filled.state() == before


def test_what_calls_store_at_their_limits_is_imported(filled: Api) -> None:
    """The years 1 and 9999, and memories that never end, are ordinary."""
    for moment in ("0001-01-02 00:00+00", "9999-12-30 00:00+00"):
        filled.add_message(user_id=ANA, thread_id="old", role="user", content=f"At {moment}", created_at=moment)
        filled.add_memory(user_id=ANA, content=f"Since {moment}", valid_from=moment)
    filled.add_memory(user_id=ANA, content="Always", valid_from="-infinity", valid_to="infinity", expires_at="infinity")
    export = filled.export_user(user_id=ANA)
    filled.forget_user(user_id=ANA)
    filled.import_user(user_id=ANA, export=export, lift_tombstones=True)
    for kind in ("messages", "memories", "threads"):
        table = sql.Identifier("memory", kind)
        stored = filled.value(sql.SQL("select count(*) from {} where user_id = %(u)s").format(table), u=ANA)
        assert stored == len(export[kind])
