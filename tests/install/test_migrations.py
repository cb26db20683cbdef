"""Which migrations run in which database, and what the build refuses to change after a release."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tests.install.steps import VERSION
from tests.install.upgrades import LATER, LATEST, PART, Build
from tests.support.installer import copied_sources, execute, install, open_as, the_build
from tests.support.releases import install_script
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F13")

RAN = "select name, version from memory.migrations order by string_to_array(version, '.')::int[], name"
STEPS = {
    PART: "create table memory.steps (first int);\n",
    f"migrations/{LATER}-{LATEST}.sql": "alter table memory.steps add column second int;\n",
}


def test_a_new_installation_runs_no_migration(db: psycopg.Connection) -> None:
    assert Api(db).query(RAN) == [(VERSION, VERSION)]


def test_an_upgrade_runs_the_migrations_since_its_version_in_their_order(empty_dsn: str, build: Build) -> None:
    execute(empty_dsn, "create extension vector")
    install(empty_dsn, install_script("0.1.0"))
    latest = build(STEPS)
    for file in (latest, latest):
        install(empty_dsn, file)
        with open_as(empty_dsn) as connection:
            api = Api(connection)
            assert api.query(RAN)[8:] == [
                (f"0.1.0-{VERSION}", VERSION),
                (f"{VERSION}-{LATER}", LATER),
                (f"{LATER}-{LATEST}", LATEST),
            ]
            assert api.query("select first, second from memory.steps") == []
            assert api.version() == LATEST


def test_a_new_installation_of_the_current_version_is_upgraded_as_well(dsn: str, build: Build) -> None:
    install(dsn, build({PART: STEPS[PART]}))
    install(dsn, build(STEPS))
    with open_as(dsn) as connection:
        assert [row.name for row in Api(connection).query(RAN)] == [
            VERSION,
            f"{VERSION}-{LATER}",
            f"{LATER}-{LATEST}",
        ]


# The build ------------------------------------------------------------------------------------------------------------

TABLES = "rooms/10_policy/tables.sql"
MIGRATION = f"migrations/0.1.0-{VERSION}.sql"


@pytest.fixture
def problems_after(tmp_path: Path) -> Callable[[str, str, str], list[str]]:
    """Release a copy of the sources, replace a text in a file below sql/, and return what the build says of that."""

    def changed(path: str, old: str, new: str) -> list[str]:
        sources = copied_sources(tmp_path)
        sql, tables = sources / "sql", the_build(sources).tables
        tables.freeze(sql)
        assert tables.changes_of_releases(sql, VERSION) == []
        file = sql / path
        text = file.read_text() if file.exists() else ""
        assert old in text
        file.write_text(text.replace(old, new, 1) if old else new)
        return list(tables.changes_of_releases(sql, VERSION))

    return changed


@pytest.mark.parametrize(
    ("path", "old", "new", "problem"),
    [
        (MIGRATION, "add column said_at", "add column told_at", f"sql/{MIGRATION} was released and must not change"),
        (TABLES, "settings jsonb not null", "settings jsonb", f"the tables of {VERSION} were released: add sql/migra"),
        ("rooms/10_policy/types.sql", "", "create type memory.extra as (a int);\n", f"the tables of {VERSION} were"),
        (PART, "", "select 1;\n", f"sql/migrations ends at {LATER}, pyproject.toml says {VERSION}"),
    ],
)
def test_a_change_of_what_was_released_is_not_built(
    problems_after: Callable[[str, str, str], list[str]], path: str, old: str, new: str, problem: str
) -> None:
    [said] = problems_after(path, old, new)
    assert said.startswith(problem)


@pytest.mark.parametrize(
    ("old", "new"),
    [("-- The settings of", "-- Settings of"), ("one row per level", "a row per level"), ("not null,", "not  null,")],
)
def test_comments_of_released_tables_may_be_mended(
    problems_after: Callable[[str, str, str], list[str]], old: str, new: str
) -> None:
    assert problems_after(TABLES, old, new) == []


def test_migrations_that_do_not_follow_each_other_are_not_built(build: Build) -> None:
    with pytest.raises(SystemExit, match=f"{LATER}-{LATEST}.sql must begin where 0.1.0-{VERSION}.sql ends"):
        build({f"migrations/{LATER}-{LATEST}.sql": "select 1;\n"})
