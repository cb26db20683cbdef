"""Copies the rows that all users share: models, policies, prompts and kinds of memories."""

from __future__ import annotations

from typing import Any

from psycopg import Connection, sql
from psycopg.types.json import Jsonb

from ..errors import ConflictError


def copy_settings(source: Connection[Any], target: Connection[Any], *, is_new: bool) -> dict[str, int]:
    """Copy what belongs to no user, and return how many rows of each table were added.

    A target that is not new keeps its settings: it gets the models and kinds of memories that it lacks, not active.
    """
    with target.transaction():
        models = _rows(source, "models")
        _refuse_other_models(models, _rows(target, "models"))
        added = {
            "memory_types": _add(target, "memory_types", _rows(source, "memory_types")),
            "models": _add(target, "models", [model | {"is_active": False} for model in models]),
        }
        # Statements that were forgotten at the source stay forgotten: the target finds their hashes by the source's
        # key.
        keys = [key | {"made_at": "now"} for key in _rows(source, "erasure_keys")]
        added["erasure_keys"] = _add(target, "erasure_keys", keys)
        for table in ("tombstones", "receipts"):
            added[table] = _add(target, table, _rows(source, table))
        if is_new:
            kinds = [model["kind"] for model in models if model["is_active"]]
            names = [model["name"] for model in models if model["is_active"]]
            target.execute("update memory.models set is_active = false where kind = any (%s)", [kinds])
            target.execute("update memory.models set is_active = true, is_off = false where name = any (%s)", [names])
            added["prompt_versions"] = _add(target, "prompt_versions", _rows(source, "prompt_versions"))
            added["policies"] = _add(target, "policies", _rows(source, "policies", " where user_id = ''"))
    return {name: number for name, number in added.items() if number}


def _rows(connection: Connection[Any], table: str, condition: str = "") -> list[dict[str, Any]]:
    query = sql.SQL("select to_jsonb(t) from {} as t").format(sql.Identifier("memory", table)) + sql.SQL(condition)
    return [row for [row] in connection.execute(query)]


def _add(target: Connection[Any], table: str, rows: list[dict[str, Any]]) -> int:
    """Add the rows that the target lacks, and return how many these are."""
    name = sql.Identifier("memory", table)
    statement = sql.SQL(
        "insert into {} select r.* from jsonb_populate_recordset(null::{}, %s) as r on conflict do nothing"
    ).format(name, name)
    return target.execute(statement, [Jsonb(rows)]).rowcount


def _refuse_other_models(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
    by_name = {model["name"]: model for model in theirs}
    for model in ours:
        other = by_name.get(model["name"])
        same = ("kind", "provider", "model")
        if other is not None and (
            any(model[key] != other[key] for key in same)
            or (None not in (model["dimensions"], other["dimensions"]) and model["dimensions"] != other["dimensions"])
        ):
            raise ConflictError(
                f'model "{model["name"]}" is {model["provider"]} {model["model"]} at the source and {other["provider"]}'
                f" {other['model']} at the target",
                hint="Embeddings of one cannot be compared with the other's: register one of them under another name.",
            )
