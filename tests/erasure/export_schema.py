"""Writes docs/export.schema.json: the JSON Schema of memory.export_user(), made of the tables that it exports.

``make reference`` runs it, after a change of these tables.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg

from tests.support.servers import install_agent_memory, running_server

PATH = Path(__file__).resolve().parents[2] / "docs" / "export.schema.json"

_TYPES: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "boolean": {"type": "boolean"},
    "integer": {"type": "integer"},
    "smallint": {"type": "integer"},
    "bigint": {"type": "integer"},
    "real": {"type": "number"},
    "numeric": {"type": "number"},
    "uuid": {"type": "string", "format": "uuid"},
    "date": {"type": "string", "format": "date"},
    "timestamp with time zone": {
        "anyOf": [{"type": "string", "format": "date-time"}, {"enum": ["infinity", "-infinity"]}]
    },
    "bytea": {"type": "string", "pattern": r"^\\x([0-9a-f]{2})*$"},
    "jsonb": {},
    "text[]": {"type": "array", "items": {"type": "string"}},
    "bigint[]": {"type": "array", "items": {"type": "integer"}},
}
_OBJECTS = {"metadata", "settings"}
_ABOUT = (
    "What memory.export_user() returns: for each kind an array of rows in a stable order, with the columns of its "
    "table. The value of a secret is sealed: a key outside the database opens it. Embeddings, words for keyword "
    "search and counters are left out, because memory.import_user() makes them again; so are jobs that are not done."
)


def schema(connection: psycopg.Connection[Any]) -> dict[str, Any]:
    """The JSON Schema of the exports of a database."""
    rows = connection.execute(
        """
        select k.kind, obj_description(a.attrelid, 'pg_class'), a.attname::text, format_type(a.atttypid, null),
          a.attnotnull, col_description(a.attrelid, a.attnum)
        from memory._export_kinds() as k
        join pg_attribute as a on a.attrelid = format('memory.%I', k.kind)::regclass
          and a.attnum > 0 and not a.attisdropped and a.attname <> 'user_id' and a.attname <> all (k.left_out)
        order by k.place, a.attname
        """
    ).fetchall()
    kinds: dict[str, Any] = {}
    for kind, about, column, type_name, is_required, described in rows:
        item = kinds.setdefault(kind, {"about": about, "properties": {}})
        item["properties"][column] = _column(column, type_name, described, is_nullable=not is_required)
    arrays = {
        kind: {
            "description": item["about"],
            "type": "array",
            "items": {
                "type": "object",
                "properties": item["properties"],
                "required": list(item["properties"]),
                "additionalProperties": False,
            },
        }
        for kind, item in kinds.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "agent_memory user",
        "description": _ABOUT,
        "type": "object",
        "properties": {
            "format": {"const": "agent_memory user"},
            "format_version": {"const": 1},
            "user_id": {"type": "string", "minLength": 1, "maxLength": 255},
            **arrays,
        },
        "required": ["format", "format_version", "user_id", *arrays],
        "additionalProperties": False,
    }


def _column(name: str, type_name: str, described: str | None, *, is_nullable: bool) -> dict[str, Any]:
    if name == "content" and described is not None and described.startswith("Only written"):  # of artifacts
        return {"type": "string"}
    allowed = {"type": "object"} if name in _OBJECTS else _TYPES[type_name]
    if is_nullable and allowed:
        if "type" in allowed:
            allowed = allowed | {"type": [allowed["type"], "null"]}
        else:
            allowed = {"anyOf": [*allowed["anyOf"], {"type": "null"}]}
    return allowed if described is None else allowed | {"description": described}


def main() -> None:
    """Write the file."""
    with running_server("system") as server:
        with psycopg.connect(server.conninfo(), autocommit=True) as connection:
            connection.execute("create database exported")
        install_agent_memory(server, "exported")
        with psycopg.connect(server.conninfo("exported")) as connection:
            PATH.write_text(json.dumps(schema(connection), indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
