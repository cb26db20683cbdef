"""Which migrations run in which database, and what the build refuses to change after a release."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.install.steps import of_tables
from tests.install.upgrades import LATER, LATEST, PART, Build
from tests.support import rooms
from tests.support.installer import build_version, install, open_as, the_build
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F13")

RAN = """
select name, version from memory.migrations order by name like '%% %%', string_to_array(version, '.')::int[], name
"""
ADDONS = sorted(path.name for path in (rooms.SQL / "addons").iterdir())
TABLES_VERSION = of_tables()
OF_ADDONS = [(f"{addon} {of_tables(addon)}", of_tables(addon)) for addon in ADDONS]
STEPS = {
    PART: "create table memory.steps (first int);\n",
    f"migrations/{LATER}-{LATEST}.sql": "alter table memory.steps add column second int;\n",
}


@pytest.mark.parametrize("is_at_once", [True, False], ids=["at once", "version by version"])
def test_an_upgrade_runs_the_migrations_since_its_version_in_their_order(
    dsn: str, build: Build, is_at_once: bool
) -> None:
    latest = build(STEPS)
    for file in (latest if is_at_once else build({PART: STEPS[PART]}), latest, latest):
        install(dsn, file)
    with open_as(dsn) as connection:
        api = Api(connection)
        assert api.query(RAN) == [
            (TABLES_VERSION, TABLES_VERSION),
            (f"{TABLES_VERSION}-{LATER}", LATER),
            (f"{LATER}-{LATEST}", LATEST),
            *OF_ADDONS,
        ]
        assert api.query("select first, second from memory.steps") == []
        assert api.version() == LATEST


# The build ------------------------------------------------------------------------------------------------------------

TABLES = "core/10_policy/tables.sql"
NEXT = f"migrations/{LATER}-{LATEST}.sql"


@pytest.fixture(scope="module")
def problems_after(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str, str], list[str]]:
    """Release a copy of the sources with a migration; then change a file below sql/, and return what the build says."""
    folder = tmp_path_factory.mktemp("released")
    build_version(folder, {PART: "select 1;\n"})
    sql, tables = folder / "version" / "sql", the_build(folder / "version").tables
    tables.freeze(sql)
    assert tables.changes_of_releases(sql) == []

    def changed(path: str, old: str, new: str) -> list[str]:
        file = sql / path
        text = file.read_text() if file.exists() else None
        assert old in (text or "")
        file.write_text((text or "").replace(old, new, 1) if old else new)
        try:
            return list(tables.changes_of_releases(sql))
        finally:
            if text is None:
                file.unlink()
            else:
                file.write_text(text)

    return changed


@pytest.mark.parametrize(
    ("path", "old", "new", "problem"),
    [
        (PART, "select 1", "select 2", f"sql/{PART} was released and must not change"),
        (TABLES, "settings jsonb not null", "settings jsonb", f"the tables of {LATER} were released: add sql/migra"),
        ("core/10_policy/types.sql", "", "create type memory.extra as (a int);\n", f"the tables of {LATER} were"),
        (NEXT, "", "select 1;\n", f"sql/migrations ends at {LATEST}, pyproject.toml says {LATER}"),
    ],
)
def test_a_change_of_what_was_released_is_not_built(
    problems_after: Callable[[str, str, str], list[str]], path: str, old: str, new: str, problem: str
) -> None:
    [said] = problems_after(path, old, new)
    assert said.startswith(problem)


def test_comments_of_released_tables_may_be_mended(problems_after: Callable[[str, str, str], list[str]]) -> None:
    assert problems_after(TABLES, "-- The settings of", "-- Settings of") == []
    assert problems_after(TABLES, "not null,", "not  null,") == []


def test_migrations_that_do_not_follow_each_other_are_not_built(build: Build) -> None:
    with pytest.raises(SystemExit, match=f"{LATEST}-99.1.0.sql must begin where {TABLES_VERSION}-{LATER}.sql ends"):
        build({PART: "select 1;\n", f"migrations/{LATEST}-99.1.0.sql": "select 1;\n"})
