"""Two databases: one with users who have something in every table, and one to move them to."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from tests.conftest import DATABASE_NAMES, Database
from tests.erasure.conftest import fill as fill_user
from tests.support.sqlapi import Api

ANA = "ana \N{SNOWMAN} 'x' \\"


@pytest.fixture(scope="module")
def _filled_template(_database: Database, _template: str) -> Iterator[str]:
    """The database of ``source``, filled once."""
    name = next(DATABASE_NAMES)
    with _database(name, _template) as conninfo:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            fill(Api(connection))
        yield name


@pytest.fixture
def dsn(_database: Database, _filled_template: str) -> Iterator[str]:
    """Connection string of a copy of that database."""
    with _database(next(DATABASE_NAMES), _filled_template) as conninfo:
        yield conninfo


@pytest.fixture
def source(dsn: str) -> Iterator[Api]:
    """A database in which ANA has rows in every table that has users, and bo a few."""
    with contextlib.closing(psycopg.connect(dsn, autocommit=True)) as connection:
        yield Api(connection)


@pytest.fixture
def open_target(empty_dsn: str) -> Iterator[Callable[[], psycopg.Connection[Any]]]:
    """Open connections to a database that has nothing yet."""
    with contextlib.ExitStack() as stack:

        def connection() -> psycopg.Connection[Any]:
            return stack.enter_context(contextlib.closing(psycopg.connect(empty_dsn, autocommit=True)))

        yield connection


@pytest.fixture
def target(open_target: Callable[[], psycopg.Connection[Any]]) -> psycopg.Connection[Any]:
    return open_target()


def fill(api: Api) -> None:
    fill_user(api, ANA, "tea")
    api.set_policy(settings={"context": {"max_memories": 7}})
    api.set_policy(settings={"budget": {"tokens_per_agent_per_day": 1000000}}, agent_id="default")
    prompt = api.value("select template from memory.prompts where name = 'consolidate'")
    api.set_prompt(name="consolidate", template=prompt)
    api.talk("bo", "t1", rounds=2)
    api.add_memory(user_id=ANA, content="Likes coffee", expires_at="2099-01-01")
    api.claim_jobs(worker="w1", max_jobs=1)
