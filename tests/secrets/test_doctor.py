"""What the doctor says of secrets: whether they can be stored and read, and what helps."""

from __future__ import annotations

import pytest
from agent_memory import Memory

from tests.secrets.conftest import new_key, use_keys
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("C13")

MAIL = {"user_id": "ana", "name": "mail", "value": "letmein"}


def checked(api: Api) -> tuple[bool, str]:
    [(ok, detail)] = [(row.ok, row.detail) for row in api.doctor() if row.check_name == "secrets"]
    return ok, detail


def test_a_rotation_is_followed_to_its_end(keyed: Api) -> None:
    old, new = new_key(), new_key()
    use_keys(keyed, old)
    for number in range(3):
        keyed.set_secret(user_id="ana", name=f"s{number}", value="letmein")
    assert checked(keyed) == (True, "3 stored, all under the present key")

    use_keys(keyed, new)
    ok, detail = checked(keyed)
    assert not ok
    assert detail.startswith(
        "3 stored, of which 3 cannot be opened by the present key: set AGENT_MEMORY_SECRET_KEY_PREV"
    )
    assert detail.endswith("then call memory.reencrypt_secrets() until it returns 0")

    use_keys(keyed, new, old)
    keyed.reencrypt_secrets(batch_size=1)
    ok, detail = checked(keyed)
    assert not ok
    assert detail == (
        "3 stored, of which 2 are under AGENT_MEMORY_SECRET_KEY_PREVIOUS: "
        "call memory.reencrypt_secrets() until it returns 0"
    )
    keyed.reencrypt_secrets()
    assert checked(keyed) == (True, "3 stored, all under the present key; AGENT_MEMORY_SECRET_KEY_PREVIOUS can go")


def test_where_only_clients_have_keys_their_doctor_compares_them(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    if not api.query("select from pg_extension where extname = 'pgcrypto'"):
        pytest.skip("this server has no pgcrypto")
    without_plpython(api)
    memory = Memory(api.connection)

    def said() -> tuple[bool, str]:
        [check] = [check for check in memory.admin.doctor() if check.check_name == "secrets"]
        return check.ok, check.detail

    first, second = new_key(), new_key()
    monkeypatch.setenv("AGENT_MEMORY_SECRET_KEY", first)
    memory.set_secret(**MAIL)
    assert said() == (True, "1 stored, all under the present key")
    assert checked(api)[0]
    assert "under 1 key that the server does not know" in checked(api)[1]

    monkeypatch.setenv("AGENT_MEMORY_SECRET_KEY", second)
    memory.set_secret("ana", "other", "letmein")
    ok, detail = said()
    assert not ok
    assert detail.startswith("2 stored, of which 1 cannot be opened by the present key")
    ok, detail = checked(api)
    assert not ok
    assert "under 2 keys that the server does not know" in detail


def without_plpython(api: Api) -> None:
    """Make the server look like one without PL/Python, until the transaction is rolled back."""
    api.connection.execute(
        "create or replace function memory._server_variable(p_name text) returns text language plpgsql"
        " as 'begin return null; end'; drop procedure if exists memory.run_jobs"
    )
