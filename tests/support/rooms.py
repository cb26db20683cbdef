"""The rooms of sql/core and sql/addons, in the order of their numbers, and the rights that they grant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SQL = Path(__file__).resolve().parents[2] / "sql"
ROOMS = sorted((*(SQL / "core").iterdir(), *(SQL / "addons").glob("*/[0-9]*_*")), key=lambda room: room.name)


def files(pattern: str) -> list[Path]:
    """The files of all rooms whose names match."""
    return [path for room in ROOMS for path in sorted(room.rglob(pattern))]


def groups() -> list[dict[str, Any]]:
    """The groups of rights: what each is for, its roles, and its functions and views, of the core and of add-ons."""
    found: dict[str, dict[str, Any]] = {}
    for path in (SQL / "grants.json", *sorted((SQL / "addons").glob("*/grants.json"))):
        for group in json.loads(path.read_text(encoding="utf-8")):
            known = found.setdefault(group["what"], {"functions": [], "views": []})
            for key, value in group.items():
                known[key] = known.get(key, []) + value if key in ("functions", "views") else value
    return list(found.values())
