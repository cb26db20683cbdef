"""Secrets: stored, read, listed and deleted; what is encrypted, under which key, and who may read."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg import errors

from tests.secrets.conftest import new_key, use_keys
from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.feature("C13")

MAIL = {"user_id": "ana", "name": "mail"}


@pytest.mark.parametrize("value", [" ", "Passwörter: 密码 🔑\n\t", "x" * 65536], ids=lambda v: f"{len(v)}")
def test_a_secret_comes_back_as_it_was_stored(keyed: Api, value: str) -> None:
    keyed.set_secret(**MAIL, value=value)
    assert keyed.get_secret(**MAIL) == value


def test_a_secret_is_replaced_and_keeps_its_first_time(keyed: Api) -> None:
    keyed.set_secret(**MAIL, value="first")
    keyed.query("update memory.secrets set created_at = '2026-01-01', updated_at = '2026-01-01' returning 1")
    keyed.set_secret(**MAIL, value="second")
    assert keyed.get_secret(**MAIL) == "second"
    [listed] = keyed.list_secrets(user_id="ana")
    assert (listed.name, listed.created_at.year, listed.created_at < listed.updated_at) == ("mail", 2026, True)
    keyed.set_secret(user_id="ana", name="a", value="letmein")
    assert [row.name for row in keyed.list_secrets(user_id="ana")] == ["a", "mail"]
    assert keyed.list_secrets(user_id="eve") == []
    assert keyed.delete_secret(**MAIL) is True
    assert keyed.delete_secret(**MAIL) is False
    assert [row.name for row in keyed.list_secrets(user_id="ana")] == ["a"]


def test_a_secret_of_another_user_answers_like_one_that_does_not_exist(keyed: Api) -> None:
    keyed.set_secret(**MAIL, value="letmein")
    said = []
    for user, name in (("bob", "mail"), ("bob", "nothing")):
        with refused("name", "P0002") as refusal:
            keyed.get_secret(user_id=user, name=name)
        said.append(str(refusal.value).replace(name, "…"))
        assert keyed.delete_secret(user_id=user, name=name) is False
    assert said[0] == said[1]


def test_a_row_that_was_copied_to_another_user_or_name_does_not_decrypt(keyed: Api) -> None:
    keyed.set_secret(user_id="ab", name="c", value="letmein")
    for user, name in (("bob", "c"), ("ab", "other"), ("a", "bc")):
        keyed.query(
            "insert into memory.secrets select %(user)s, %(name)s, key_id, sealed from memory.secrets"
            " where user_id = 'ab' and name = 'c' returning 1",
            user=user,
            name=name,
        )
        with refused("name", "XX001"):
            keyed.get_secret(user_id=user, name=name)


def test_a_row_of_which_a_byte_was_changed_does_not_decrypt(keyed: Api) -> None:
    keyed.set_secret(**MAIL, value="letmein")
    [[size]] = keyed.query("select octet_length(sealed) from memory.secrets")
    for byte in range(size):
        change = "update memory.secrets set sealed = set_byte(sealed, %(n)s, 255 - get_byte(sealed, %(n)s)) returning 1"
        keyed.query(change, n=byte)
        with refused("name", "XX001"):
            keyed.get_secret(**MAIL)
        keyed.query(change, n=byte)
    keyed.query("update memory.secrets set sealed = '' returning 1")
    with refused("name", "XX001"):
        keyed.get_secret(**MAIL)


def test_one_value_never_looks_the_same_twice(keyed: Api) -> None:
    for name in ("one", "two"):
        keyed.set_secret(user_id="ana", name=name, value="letmein" * 20)
    blocks = [
        bytes(row.sealed)[n : n + 16] for row in keyed.query("select sealed from memory.secrets") for n in (0, 16)
    ]
    assert len(set(blocks)) == 4


def test_without_a_key_the_error_says_where_to_set_one(api: Api) -> None:
    with refused("AGENT_MEMORY_SECRET_KEY", "0A000") as refusal:
        api.set_secret(**MAIL, value="letmein")
    assert "environment" in str(refusal.value.diag.message_hint)
    assert "letmein" not in str(refusal.value)


@pytest.mark.parametrize("key", ["short", "é" * 43 + "=", "=" * 44])
def test_a_key_that_is_not_32_bytes_in_base64_is_refused_and_not_quoted(api: Api, key: str) -> None:
    use_keys(api, key)
    with refused("AGENT_MEMORY_SECRET_KEY") as refusal:
        api.set_secret(**MAIL, value="letmein")
    assert key not in str(refusal.value)


def test_another_key_is_told_from_a_damaged_secret(keyed: Api) -> None:
    keyed.set_secret(**MAIL, value="letmein")
    for previous in ("", new_key()):
        use_keys(keyed, new_key(), previous)
        with refused("AGENT_MEMORY_SECRET_KEY", "0A000") as refusal:
            keyed.get_secret(**MAIL)
        assert "AGENT_MEMORY_SECRET_KEY_PREVIOUS" in str(refusal.value.diag.message_hint)


def test_rotation_reads_under_the_previous_key_and_encrypts_again_in_batches(keyed: Api) -> None:
    api = keyed
    old, new = new_key(), new_key()
    use_keys(api, old)
    for number in range(7):
        api.set_secret(user_id="ana", name=f"s{number}", value=f"value {number}")
    use_keys(api, new, old)
    api.set_secret(user_id="ana", name="s0", value="value 0")
    assert api.get_secret(user_id="ana", name="s6") == "value 6"
    assert [api.reencrypt_secrets(batch_size=4) for _ in range(3)] == [4, 2, 0]
    use_keys(api, new)
    assert [api.get_secret(user_id="ana", name=f"s{n}") for n in range(7)] == [f"value {n}" for n in range(7)]
    with refused("AGENT_MEMORY_SECRET_KEY_PREVIOUS", "0A000"):
        api.reencrypt_secrets()


def test_each_reading_is_recorded_without_the_value(keyed: Api) -> None:
    keyed.set_secret(**MAIL, value="letmein")
    keyed.list_secrets(user_id="ana")
    for _ in range(2):
        keyed.get_secret(**MAIL)
    with refused("name", "P0002"):
        keyed.get_secret(user_id="ana", name="none")
    rows = keyed.query("select user_id, name, role, login_role, now() - read_at < '1 minute' from memory.secret_reads")
    assert [tuple(row) for row in rows] == [("ana", "mail", "postgres", "postgres", True)] * 2
    keyed.query("update memory.secret_reads set read_at = now() - interval '401 days' returning 1")
    keyed.sweep()
    assert keyed.query("select from memory.secret_reads") == []


def test_only_a_role_that_was_granted_get_secret_reads_and_its_name_is_recorded(
    db: psycopg.Connection, connect: Callable[..., psycopg.Connection]
) -> None:
    api = Api(db)
    if not api.query("select from pg_extension where extname = 'pgcrypto'"):
        pytest.skip("this server has no pgcrypto")
    for role in ("keeper", "reader", "stranger"):
        if not db.execute("select from pg_roles where rolname = %s", [role]).fetchall():
            db.execute(f"create role {role} login")
    db.execute("grant usage on schema memory to keeper, reader, stranger")
    db.execute("grant execute on function memory.set_secret, memory.list_secrets, memory.load_user to keeper")
    db.execute("grant execute on function memory.get_secret to reader")
    key = new_key()
    keeper, reader, stranger = (Api(connect(user=role)) for role in ("keeper", "reader", "stranger"))
    for client in (keeper, reader, stranger):
        client.query("select set_config('agent_memory.secret_key', %(key)s, false)", key=key)
    keeper.set_secret(**MAIL, value="letmein")
    assert keeper.load_user(user_id="ana")["secrets"] == ["mail"]
    assert reader.get_secret(**MAIL) == "letmein"
    for denied in (
        lambda: keeper.get_secret(**MAIL),
        lambda: stranger.get_secret(**MAIL),
        lambda: reader.query("select * from memory.secrets"),
        lambda: reader.query("select * from memory.secret_reads"),
        lambda: reader.query("select memory._server_variable('AGENT_MEMORY_SECRET_KEY')"),
        lambda: reader.query("select memory._secret_key()"),
    ):
        with pytest.raises(errors.InsufficientPrivilege):
            denied()
    db.execute("grant reader to stranger")
    stranger.query("select set_config('role', 'reader', false)")
    assert stranger.get_secret(**MAIL) == "letmein"
    assert [tuple(row) for row in api.query("select role, login_role from memory.secret_reads order by read_at")] == [
        ("reader", "reader"),
        ("reader", "stranger"),
    ]
    reader.connection.execute("set default_transaction_read_only = on")
    with pytest.raises(errors.ReadOnlySqlTransaction):  # it could not be recorded
        reader.connection.execute("select memory.get_secret('ana', 'mail')")


def test_without_pgcrypto_only_secrets_fail_and_the_error_names_it(api: Api) -> None:
    api.connection.execute("drop extension if exists pgcrypto")
    use_keys(api, new_key())
    with refused("pgcrypto", "0A000") as refusal:
        api.set_secret(**MAIL, value="letmein")
    assert "create extension pgcrypto" in str(refusal.value.diag.message_hint)
    assert api.add_memory(user_id="ana", content="Likes tea").inserted
    assert api.load_user(user_id="ana")["secrets"] == api.list_secrets(user_id="ana") == []


def test_pgcrypto_may_be_in_any_schema(keyed: Api) -> None:
    keyed.connection.execute('create schema "Extension Box"; alter extension pgcrypto set schema "Extension Box"')
    keyed.set_secret(**MAIL, value="letmein")
    assert keyed.get_secret(**MAIL) == "letmein"


def test_many_clients_that_store_one_secret_at_once_leave_one_of_their_values(
    db: psycopg.Connection, connect: Callable[..., psycopg.Connection]
) -> None:
    if not db.execute("select from pg_extension where extname = 'pgcrypto'").fetchall():
        pytest.skip("this server has no pgcrypto")
    key = new_key()
    clients = [Api(connect()) for _ in range(6)]
    for client in clients:
        client.query("select set_config('agent_memory.secret_key', %(key)s, false)", key=key)

    def store(number: int) -> None:
        for _ in range(20):
            clients[number].set_secret(**MAIL, value=f"value {number}")

    with ThreadPoolExecutor(len(clients)) as pool:
        list(pool.map(store, range(len(clients))))
    assert clients[0].get_secret(**MAIL) in {f"value {number}" for number in range(len(clients))}
    assert len(clients[0].list_secrets(user_id="ana")) == 1
