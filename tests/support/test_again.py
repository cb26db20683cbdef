"""Which modules and cases the second server repeats."""

from __future__ import annotations

from tests.support.again import PATHS


def test_each_module_that_is_repeated_is_there() -> None:
    assert [path for path in PATHS if not path.is_file()] == []
