"""Where the rooms are: the core's in sql/core/<room>, an add-on's in sql/addons/<add-on>/<room>.

A room's number is its place in the build, whichever of the two trees it stands in.
"""

from __future__ import annotations

from pathlib import Path


def rooms(sql: Path) -> list[Path]:
    """The folders of all rooms in the order of the build."""
    folders = [path for path in (*(sql / "core").glob("*"), *(sql / "addons").glob("*/*")) if path.is_dir()]
    return sorted(folders, key=lambda path: path.name)


def room(sql: Path, name: str) -> Path:
    """The folder of one room."""
    [found] = [path for path in rooms(sql) if path.name == name]
    return found


def files(sql: Path, pattern: str) -> list[Path]:
    """The files of all rooms whose names match, by room and path."""
    return [path for folder in rooms(sql) for path in sorted(folder.rglob(pattern))]


def room_of(path: Path) -> str:
    """The name of the room in which a file stands."""
    place = len(path.parts) - 1 - path.parts[::-1].index("sql")
    return path.parts[place + (2 if path.parts[place + 1] == "core" else 3)]
