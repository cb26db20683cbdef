"""Who may search, and arguments that are refused or that find nothing."""

from __future__ import annotations

import psycopg
import pytest

from tests.search.vector.steps import found, keep_query, remember
from tests.support.sqlapi import Api

# Whoever searches -----------------------------------------------------------------------------------------------------


def test_a_transaction_that_may_only_read_can_search(api: Api) -> None:
    remember(api, "Likes tea", [1, 0, 0])
    keep_query(api, "tea", [1, 0, 0])
    with api.connection.transaction(force_rollback=True):
        api.connection.execute("set transaction_read_only = on")
        for mode in ("hybrid", "vector", "keyword"):
            assert found(api, "tea", [1, 0, 0], mode=mode) == found(api, "tea", mode=mode) == ["Likes tea"]
        api.connection.execute("set transaction_read_only = on")  # still is
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            remember(api, "Likes cake")


def test_a_search_needs_no_right_but_that_to_call_the_function(api: Api) -> None:
    remember(api, "Likes tea", [1, 0, 0])
    api.connection.execute("create role asker")
    api.connection.execute("grant usage on schema memory to asker")
    signature = api.value("select oid::regprocedure::text from pg_proc where oid::regproc = 'memory.search'::regproc")
    api.connection.execute(f"grant execute on function {signature} to asker")
    api.connection.execute("set role asker")
    for mode in ("hybrid", "vector", "keyword"):
        assert found(api, "tea", [1, 0, 0], mode=mode, explain=True) == ["Likes tea"]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        api.query("select from memory.texts where model is not null")
