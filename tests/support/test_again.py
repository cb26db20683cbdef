"""Which modules and cases the second server repeats."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from tests.support.again import PATHS, TESTS, WHOLE, repeated


class _Case(NamedTuple):
    nodeid: str
    path: Path


def test_each_module_that_is_repeated_is_there() -> None:
    assert [path for path in PATHS if not path.is_file()] == []


def test_one_case_of_each_test_is_repeated_and_every_case_where_values_meet_what_differs() -> None:
    assert WHOLE <= PATHS
    [one, whole] = min(PATHS - WHOLE), min(WHOLE)
    cases: list[Any] = [
        _Case(f"{path}::{name}", path)
        for path in (one, whole, TESTS / "test_elsewhere.py")
        for name in ("test_a[1]", "test_a[2]", "test_b", "Test::test_a[1]")
    ]
    assert [case.nodeid for case in cases if case in repeated(cases)] == [
        *(f"{one}::{name}" for name in ("test_a[1]", "test_b", "Test::test_a[1]")),
        *(f"{whole}::{name}" for name in ("test_a[1]", "test_a[2]", "test_b", "Test::test_a[1]")),
    ]
