"""The tables that migrations make are the tables that a new installation makes."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from tests.upgrade.conftest import Upgrade

pytestmark = pytest.mark.feature("F13")

DIFFERENCES = {
    "a column": "alter table memory.threads add column extra int",
    "the order of columns": "alter table memory.moved_users drop column contents, add column contents jsonb not null",
    "the type of a column": "alter table memory.moved_users alter column contents type json",
    "a default": "alter table memory.threads alter column next_seq set default 1",
    "a column that may be null": "alter table memory.threads alter column next_seq drop not null",
    "a constraint": "alter table memory.threads add constraint extra check (next_seq >= 0)",
    "the name of a constraint": "alter table memory.threads rename constraint extra to other",
    "the definition of a constraint": "alter table memory.threads drop constraint other,"
    " add constraint other check (next_seq >= 1)",
    "an index": "create index extra on memory.threads (next_seq)",
    "a trigger": "create trigger extra after insert on memory.threads execute function memory._thread_after_delete()",
    "the comment of a table": "comment on table memory.threads is 'extra'",
    "the comment of a column": "comment on column memory.threads.next_seq is null",
    "the comment of an index": "comment on index memory.extra is 'extra'",
    "the comment of a type": "comment on type memory.thread is 'extra'",
    "an attribute of a type": "alter type memory._passage add attribute extra int",
    "a sequence": "alter sequence memory.turn_of_all minvalue -9",
    "a privilege of a table": "grant select on memory.threads to public",
    "a privilege of a column": "grant update (next_seq) on memory.threads to public",
    "a policy": "create policy extra on memory.threads using (true)",
    "row security": "alter table memory.bound_roles disable row level security",
    "a storage parameter": "alter table memory.threads set (fillfactor = 60)",
    "the storage of a column": "alter table memory.memories alter column content set storage external",
    "a statistics target": "alter table memory.threads alter column next_seq set statistics 5",
}


def test_an_upgrade_ends_with_the_schema_of_a_new_installation(upgrade: Upgrade, dump: Callable[..., str]) -> None:
    def schema_of(database: str) -> str:
        """The schema without the remarks about who created an extension: here the upgrade, there the tests."""
        return dump(database, "--schema-only").replace(" (made by agent_memory)", "")

    upgrade.install_anew()
    for _ in range(2):
        upgrade.run()
        assert schema_of(upgrade.old) == schema_of(upgrade.new)


def test_the_comparison_sees_each_kind_of_difference(
    dsn: str, db: psycopg.Connection, dump: Callable[..., str]
) -> None:
    seen = [dump(dsn, "--schema-only")]
    for difference, statement in DIFFERENCES.items():
        db.execute(statement.encode())
        seen.append(dump(dsn, "--schema-only"))
        assert seen[-1] != seen[-2], difference
