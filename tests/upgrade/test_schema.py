"""The tables that migrations make are the tables that a new installation makes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.upgrade.conftest import Upgrade

pytestmark = pytest.mark.feature("F13")


def test_an_upgrade_ends_with_the_schema_of_a_new_installation(upgrade: Upgrade, dump: Callable[..., str]) -> None:
    def schema_of(database: str) -> str:
        """The schema without the remarks about who created an extension: here the upgrade, there the tests."""
        return dump(database, "--schema-only").replace(" (made by agent_memory)", "")

    upgrade.install_anew()
    for _ in range(2):
        upgrade.run()
        assert schema_of(upgrade.old) == schema_of(upgrade.new)
