"""The second server repeats modules of every room."""

from __future__ import annotations

from tests.support.again import AGAIN, PATHS, TESTS
from tests.support.servers import ROOT


def test_each_module_that_is_repeated_is_there() -> None:
    assert [path for path in PATHS if not path.is_file()] == []


def test_each_room_with_tests_has_one_that_is_repeated() -> None:
    rooms = {room.name.partition("_")[2] for room in (ROOT / "sql" / "rooms").iterdir()}
    folders = {folder.name for folder in TESTS.iterdir() if folder.name in rooms and any(folder.rglob("test_*.py"))}
    assert folders - {folder.partition("/")[0] for folder in AGAIN} == set()
