"""What a session can lock that has no rights on tables: nothing that another user's call waits for."""

from __future__ import annotations

import pytest

from tests.support.sessions import Sessions, code
from tests.support.sqlapi import Api

ADVISORY = "select (classid::bigint << 32) | objid::bigint from pg_locks where locktype = 'advisory'"


@pytest.mark.feature("F5")
@pytest.mark.feature("F9")
@pytest.mark.parametrize("call", ["forget_memory", "forget_user", "import_user"])
def test_a_tenant_cannot_hold_up_that_another_user_is_forgotten(users: Api, tenant: Api, call: str) -> None:
    arguments = {
        "forget_memory": {"memory_id": users.list_memories(user_id="bob")[0].memory_id},
        "forget_user": {},
        "import_user": {"export": users.export_user(user_id="bob")},
    }[call]
    if call == "import_user":
        users.forget_user(user_id="bob")
        arguments["lift_tombstones"] = True
    with users.connection.transaction(force_rollback=True):
        getattr(users, call)(user_id="bob", **arguments)
        # Every role sees the locks of others.
        seen = [number for [number] in tenant.query(ADVISORY)]
    for number in seen:
        tenant.query("select pg_advisory_lock(%(number)s)", number=number)
    users.connection.execute("set lock_timeout = '1s'")
    getattr(users, call)(user_id="bob", **arguments)


@pytest.mark.feature("F9")
def test_two_administrators_who_set_keys_of_tokens_at_once(sessions: Sessions) -> None:
    first, second = "a" * 43 + "=", "b" * 43 + "="
    sessions.api.set_token_key(key=first, previous=second)
    holding = sessions.hold("select from memory.token_keys where is_previous for update")
    calls = [
        sessions.start("set_token_key", key=first),
        sessions.start("set_token_key", key=second, previous=first),
    ]
    holding.rollback()
    assert [code(call) for call in calls] == [None, None]
    assert sessions.api.value("select count(*) from memory.token_keys") == 2  # of the second call
