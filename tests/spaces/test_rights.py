"""Sessions of tenants in spaces: readers, writers and strangers, by every public function that takes a user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.spaces.conftest import ROLES
from tests.spaces.steps import refused
from tests.support.sqlapi import Api
from tests.tenants.steps import KEY, login_role, session_of, text_of, token_of
from tests.values.bad_arguments import NEED_PGCRYPTO, VALID
from tests.values.valid_calls import has_pgcrypto

pytestmark = pytest.mark.feature("F24")

READ = {
    "count_memories", "get_memory", "get_memory_history", "get_messages", "get_thread", "list_artifacts",
    "list_documents", "list_memories", "list_quarantined", "list_threads", "retrieve_artifact",
}  # fmt: skip
"""What whoever may read a space may call with its user_id."""
OF_NO_SPACE = {
    "bind_role": "22023", "grant_space": "22023", "revoke_space": None, "import_user": None, "partition_of": None,
    "list_spaces": "42501",
}  # fmt: skip
"""What is not about the rows of the user that it names, or about rows that are not there."""
OF_USERS = sorted(name for name, call in VALID.items() if "user_id" in call and name not in OF_NO_SPACE)
TEAM = "space:team"


@pytest.fixture(scope="module")
def shared_api(shared_api: Api) -> Api:
    """Tenants may call everything, so that the functions themselves have to refuse."""
    shared_api.connection.execute("grant execute on all routines in schema memory to memory_tenant")
    shared_api.set_token_key(key=text_of(KEY))
    login_role(shared_api.connection, "space_token", "memory_tenant")
    return shared_api


def answer(api: Api, role: str, function: str, token: str | None = None, **arguments: Any) -> tuple[str | None, ...]:
    """SQLSTATE and message of a call in a session of a tenant, which is undone; nulls where it works."""
    with api.rolled_back(), session_of(api.connection, role, token):
        try:
            getattr(api, function)(**{**VALID.get(function, {}), **arguments})
        except psycopg.Error as error:
            return error.sqlstate, error.diag.message_primary
    return None, None


@pytest.mark.parametrize("function", OF_USERS)
def test_strangers_are_refused_readers_read_and_writers_do_what_they_may_do_with_their_own(
    api: Api, function: str
) -> None:
    foreign = ("42501", "user_id: is not the user of this session")
    for space in ("nobody", TEAM, "space:secret", "space:nosuch", "space:"):
        assert answer(api, ROLES["eve"], function, user_id=space) == foreign
    code, _ = answer(api, ROLES["ana"], function, user_id=TEAM)
    # Where code is P0002, the space has no such row.
    assert code in (None, "P0002") if function in READ else code == "42501"
    if function not in NEED_PGCRYPTO or has_pgcrypto(api):
        assert answer(api, ROLES["ben"], function, user_id=TEAM)[0] != "42501"
    for role in (ROLES["ana"], ROLES["ben"]):
        assert answer(api, role, function, user_id="space:secret")[0] == "42501"


@pytest.mark.parametrize("sub", [TEAM, "space:secret", "space:nosuch"])
def test_a_token_that_names_a_space_reaches_nothing(api: Api, sub: str) -> None:
    for function in ("list_memories", "add_memory", "search", "tenant_user", "get_memory"):
        arguments = {} if function == "tenant_user" else {"user_id": sub}
        assert answer(api, "space_token", function, token_of(sub), **arguments)[0] == "42501", function
    assert answer(api, "space_token", "list_memories", token_of("ana"), user_id=TEAM)[0] is None


def test_tables_show_a_tenant_its_own_rows_only(api: Api) -> None:
    with api.rolled_back():
        api.connection.execute("grant select, insert, update, delete on all tables in schema memory to memory_tenant")
        for role, token in ((ROLES["ben"], None), ("space_token", token_of("ben"))):
            with session_of(api.connection, role, token):
                for table in ("memories", "documents", "spaces", "space_grants", "space_writes"):
                    assert api.query(f"select from memory.{table} where user_id like 'space:%%'") == [], table
                assert api.query("delete from memory.memories returning 1") == []
        with (
            session_of(api.connection, "space_token", token_of(TEAM)),
            pytest.raises(psycopg.errors.InsufficientPrivilege),
            api.connection.transaction(),
        ):
            api.query("select from memory.memories")


def test_administrators_alone_make_and_grant_spaces(session: Callable[[str], Api], spaces: Api) -> None:
    for user_id in (TEAM, "space:nosuch"):
        refused(spaces, "bind_role", "22023", role_name="space_reader", user_id=user_id)
        refused(spaces, "grant_space", "22023", space="team", user_id=user_id)
    for user in ROLES:
        for function, arguments in (
            ("create_space", {"space": "mine"}),
            ("grant_space", {"space": "team", "user_id": user, "access": "write"}),
            ("revoke_space", {"space": "team", "user_id": "ben"}),
            ("delete_space", {"space": "team"}),
            ("forget_user", {"user_id": TEAM}),
        ):
            assert "permission denied" in str(refused(session(user), function, "42501", **arguments)), function
        refused(session(user), "list_spaces", "42501")
        refused(session(user), "list_spaces", "42501", user_id="other")
    assert [row.space for row in session("ana").list_spaces(user_id="ana")] == ["team"]
    assert session("eve").list_spaces(user_id="eve") == []


def test_a_revoked_grant_counts_no_more_in_open_sessions(spaces: Api, session: Callable[[str], Api]) -> None:
    ben, ana = session("ben"), session("ana")
    memory_id = ben.add_memory(user_id=TEAM, content="Tests run at night").memory_id
    assert ana.get_memory(user_id=TEAM, memory_id=memory_id).content == "Tests run at night"
    assert ben.search(user_id="ben", query="tests", mode="keyword", spaces="{team}")
    spaces.grant_space(space="team", user_id="ben", access="read")
    refused(ben, "update_memory", "42501", user_id=TEAM, memory_id=memory_id, content="x")
    assert ben.list_memories(user_id=TEAM)
    for user in ("ana", "ben"):
        assert spaces.revoke_space(space="team", user_id=user)
    refused(ben, "list_memories", "42501", user_id=TEAM)
    refused(ana, "get_memory", "42501", user_id=TEAM, memory_id=memory_id)
    refused(ben, "search", "P0002", user_id="ben", query="tests", mode="keyword", spaces=["team"])
    spaces.set_policy(settings={"context": {"spaces": ["team"]}})
    assert ben.search(user_id="ben", query="tests", mode="keyword") == []
    assert ben.get_context(user_id="ben", thread_id="t", query="tests") == []


def test_a_snapshot_of_before_the_revoke_writes_nothing(spaces: Api, session: Callable[[str], Api]) -> None:
    ben = session("ben")
    for level in ("repeatable read", "serializable"):
        with ben.connection.transaction():
            ben.connection.execute(f"set transaction isolation level {level}")
            assert ben.list_memories(user_id=TEAM)
            spaces.revoke_space(space="team", user_id="ben")
            refused(ben, "add_memory", "0A000", user_id=TEAM, content="Too late")
        spaces.grant_space(space="team", user_id="ben", access="write")
    assert len(spaces.list_memories(user_id=TEAM)) == 1


def test_ids_of_another_space_lead_nowhere(api: Api) -> None:
    secret = api.list_memories(user_id="space:secret")[0].memory_id
    for function, arguments in (
        ("get_memory", {}), ("get_memory_history", {}), ("update_memory", {"content": "x"}), ("forget_memory", {}),
        ("restore_memory", {}), ("quarantine_memory", {"reason": "x"}),
    ):  # fmt: skip
        assert answer(api, ROLES["ben"], function, user_id=TEAM, memory_id=secret, **arguments)[0] == "P0002", function
    assert answer(api, ROLES["ben"], "delete_memory", user_id=TEAM, memory_id=secret) == (None, None)
    assert api.get_memory(user_id="space:secret", memory_id=secret).content == "Releases stop in July"


def test_a_reader_by_a_standby_needs_no_lock(spaces: Api, session: Callable[[str], Api]) -> None:
    """A read-only transaction locks no row."""
    for api, user in ((spaces, TEAM), (session("ana"), TEAM), (session("ben"), TEAM)):
        with api.connection.transaction():
            api.connection.execute("set transaction read only")
            assert api.list_memories(user_id=user)
            assert api.count_memories(user_id=user) == 1
    with spaces.connection.transaction():
        spaces.connection.execute("set transaction read only")
        assert spaces.get_thread_summary(user_id=TEAM, thread_id="t") == []
