"""Which functions a read replica answers: those that docs/capacity.md lists, and no others."""

from __future__ import annotations

import re

import psycopg
import pytest
from psycopg import errors

from tests.cost.cases import CASES, LEFT_OUT
from tests.cost.world import settle
from tests.support.servers import ROOT
from tests.support.sqlapi import Api
from tests.values.bad_arguments import NEED_PGCRYPTO
from tests.values.valid_calls import has_pgcrypto

PAGE = ROOT / "docs" / "capacity.md"


@pytest.fixture(scope="module")
def shared_api(shared_api: Api) -> Api:
    """A database in which every call works."""
    if shared_api.query("select from pg_available_extensions where name = 'pgcrypto'"):
        shared_api.connection.execute("create extension if not exists pgcrypto")
    settle(shared_api)
    return shared_api


def listed() -> set[str]:
    """The functions of the paragraph that begins with "A replica answers"."""
    [paragraph] = re.findall(r"^A replica answers .*?\n\n", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return set(re.findall(r"`(\w+)`", paragraph))


def test_the_functions_of_the_page_work_in_a_read_only_transaction_and_all_others_are_refused(api: Api) -> None:
    """Each call with the arguments of every case, so that none of a function's ways writes."""
    works: dict[str, set[bool]] = {function: {False} for function in LEFT_OUT}
    for case in CASES.values():
        if case.function in NEED_PGCRYPTO and not has_pgcrypto(api):
            continue
        arguments = case.given()
        with api.connection.transaction(force_rollback=True):
            api.connection.execute("set transaction read only")
            try:
                getattr(api, case.function)(**arguments)
            except errors.ReadOnlySqlTransaction:
                works.setdefault(case.function, set()).add(False)
            except psycopg.Error as error:
                raise AssertionError(f"{case.function} is refused for another reason") from error
            else:
                works.setdefault(case.function, set()).add(True)
    mixed = {function for function, outcomes in works.items() if len(outcomes) > 1}
    assert mixed == {"delete_documents", "delete_memories"}  # which change nothing where nothing is to be deleted
    assert {function for function, outcomes in works.items() if outcomes == {True}} == listed()
