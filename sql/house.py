"""Where the rooms are: the core's in sql/core/<room>, an add-on's in sql/addons/<add-on>/<room>.

A room's number is its place in the build, whichever of the two trees it stands in. An add-on may have a room of the
same name as the core: there stand its kinds of jobs, its sources of search, and what it does in a sweep.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, eq=False)
class House:
    """What one install file is built from: the core and some add-ons. What is made of it is kept for this object."""

    sql: Path
    addons: tuple[str, ...]

    def rooms(self, name: str = "[0-9]*_*") -> list[Path]:
        """The folders of the rooms in the order of the build, or those of one name."""
        trees = (self.sql / "core", *(self.sql / "addons" / addon for addon in self.addons))
        return sorted((path for tree in trees for path in tree.glob(name)), key=lambda path: path.name)

    def files(self, pattern: str) -> list[Path]:
        """The files of all rooms whose names match, by room and path."""
        return [path for room in self.rooms() for path in sorted(room.rglob(pattern))]

    def part_of(self, path: Path) -> str:
        """The add-on to which a file belongs; the core is ''."""
        parts = path.relative_to(self.sql).parts
        return parts[1] if parts[0] == "addons" else ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The core, then the add-ons."""
        return ("", *self.addons)


def whole(sql: Path) -> House:
    """The house with all add-ons."""
    return House(sql, tuple(sorted(path.name for path in (sql / "addons").iterdir() if path.is_dir())))


def core(sql: Path) -> House:
    """The house without add-ons."""
    return House(sql, ())


def room_of(path: Path) -> str:
    """The name of the room in which a file stands."""
    return next(part for part in reversed(path.parts[:-1]) if part[:2].isdigit())
