"""No statement of a call reads or writes a row of another user, so a call needs one node."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.cluster.test_places import OF_USERS
from tests.erasure.conftest import fill
from tests.support import one_user
from tests.support.sqlapi import Api
from tests.values.bad_arguments import NEED_PGCRYPTO, VALID
from tests.values.valid_calls import has_pgcrypto, make_calls_work

pytestmark = pytest.mark.feature("F14")


@pytest.fixture(scope="module")
def shared_api(shared_api: Api, request: pytest.FixtureRequest) -> Iterator[Api]:
    """The user ana has what the calls of VALID are about, and the user bo has rows in every table."""
    if request.config.getoption("--one-user"):
        pytest.skip("all tests of this run do this")
    make_calls_work(shared_api)
    fill(shared_api, "bo", "other")
    before = Api.before
    one_user.force(shared_api.connection)
    yield shared_api
    Api.before = before


@pytest.mark.parametrize("function", [name for name in OF_USERS if name != "grant_space"])  # which is about a space
def test_a_call_meets_its_user_alone(api: Api, function: str) -> None:
    if function in NEED_PGCRYPTO and not has_pgcrypto(api):
        pytest.skip("needs pgcrypto")
    getattr(api, function)(**VALID[function])


def test_a_statement_that_meets_another_user_is_found(api: Api) -> None:
    """The statement of a function that forgot its user."""
    api.connection.execute("""
        create or replace function memory.version() returns text
        language sql security definer set search_path = pg_catalog, pg_temp
        as 'select count(*)::text from memory.memories'""")
    one_user.say(api.connection, "ana")
    with pytest.raises(psycopg.Error, match=f"{one_user.SEEN} (bo|former)"):
        api.connection.execute("select memory.version()")
