"""The rooms of sql/core and sql/addons, in the order of their numbers."""

from __future__ import annotations

from pathlib import Path

SQL = Path(__file__).resolve().parents[2] / "sql"
ROOMS = sorted((*(SQL / "core").iterdir(), *(SQL / "addons").glob("*/*")), key=lambda room: room.name)


def files(pattern: str) -> list[Path]:
    """The files of all rooms whose names match."""
    return [path for room in ROOMS for path in sorted(room.rglob(pattern))]
