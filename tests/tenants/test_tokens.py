"""Signed tokens: which are accepted, and what each other one is refused with."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from psycopg import errors

from tests.support.sqlapi import Api, refused
from tests.tenants.steps import (
    KEY,
    OTHER_KEY,
    base64url,
    session_of,
    signed,
    text_of,
    token,
    token_of,
)

HEADS = [
    b'{"alg":"HS256","typ":"JWT"}', b'{"typ":"JWT","alg":"HS256"}', b'{"alg":"HS256"}', b'{"alg": "HS256", "kid": "1"}',
]  # fmt: skip
HEAD = HEADS[2]
FUTURE = 4102444800
GOOD = {"sub": "ana", "exp": FUTURE}


def user_of(api: Api, given: str) -> Any:
    with session_of(api.connection, "tenant_by_token", given):
        return api.tenant_user()


def problem_of(api: Api, given: str) -> str:
    with pytest.raises(errors.InsufficientPrivilege) as raised:
        user_of(api, given)
    assert raised.value.diag.message_hint
    return str(raised.value.diag.message_primary).removeprefix("agent_memory.token: ")


@pytest.mark.feature("F9")
@pytest.mark.parametrize("user_id", ["ünïcødé 🍵", "a" * 255, 'with "quotes" and \\'])
def test_a_token_of_any_user_is_accepted(api: Api, user_id: str) -> None:
    assert user_of(api, token_of(user_id)) == user_id


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": FUTURE + 0.5},
        {"exp": 1e300},
        {"nbf": 0},
        {"nbf": 1.5, "iat": 1, "aud": ["a", "b"], "roles": {"admin": True}, "x" * 100: "y" * 1000},
    ],
    ids=["fraction", "far", "begun", "others"],
)
def test_further_claims_are_accepted(api: Api, claims: dict[str, Any]) -> None:
    assert user_of(api, token({**GOOD, **claims})) == "ana"


REFUSED: dict[str, tuple[str, str]] = {
    "empty": ("", "is not set"),
    "word": ("token", "is not a JSON Web Token"),
    "padding": (token(GOOD) + "=", "is not a JSON Web Token"),
    "line break": (token(GOOD) + "\n", "is not a JSON Web Token"),
    "plain base64": (token(GOOD)[:-1] + "+", "is not a JSON Web Token"),
    "huge": ("e30." + "A" * 9000 + ".e30", "has 9008 bytes"),
    "other signature": (token(GOOD)[:-2] + "AA", "is not signed with the key"),
    "other spelling of the signature": (token(GOOD)[:-1] + chr(ord(token(GOOD)[-1]) + 1), "is not signed with the key"),
    "other key": (token(GOOD, key=OTHER_KEY), "is not signed with the key"),
    "the stored block as key": (token(GOOD, key=bytes(b ^ 54 for b in KEY.ljust(64, b"\0"))), "is not signed with"),
    "other claims": (
        token(GOOD).replace(token(GOOD).split(".")[1], base64url(b'{"sub":"bob","exp":4102444800}')),
        "is not signed with the key",
    ),
    "alg none": (f"{base64url(b'{}')}.{base64url(json.dumps(GOOD).encode())}.AA", "is not signed with the key"),
    "signed as none": (token(GOOD, {"alg": "none"}), "is not signed by HS256"),
    "signed as RS256": (token(GOOD, {"alg": "RS256"}), "is not signed by HS256"),
    "critical header": (token(GOOD, {"alg": "HS256", "crit": ["b64"], "b64": False}), "is not signed by HS256"),
    "list": (token([GOOD]), "names no user"),
    "no JSON": (signed(HEAD, b"{sub: ana}"), "holds no JSON"),
    "NUL": (signed(HEAD, b'{"sub":"a\\u0000b","exp":4102444800}'), "holds no JSON"),
    "deep": (signed(HEAD, b"[" * 5000 + b"]" * 1000), "holds no JSON"),
    "exp is beyond all numbers": (signed(HEAD, b'{"sub":"ana","exp":1e999999}'), "holds no JSON"),
    "empty sub": (token({**GOOD, "sub": ""}), "names no user"),
    "long sub": (token({**GOOD, "sub": "é" * 256}), "names no user"),
    "sub is a number": (token({**GOOD, "sub": 1}), "names no user"),
    "no exp": (token({"sub": "ana"}), "never expires"),
    "exp is a text": (token({**GOOD, "exp": "4102444800"}), "never expires"),
    "expired": (token({**GOOD, "exp": 1000}), "has expired"),
    "not yet valid": (token({**GOOD, "nbf": FUTURE - 1}), "is not valid yet"),
    "nbf is a text": (token({**GOOD, "nbf": "0"}), "has a claim nbf that is not a number"),
}


@pytest.mark.feature("F9")
@pytest.mark.parametrize("head", [HEADS[0], HEADS[3]], ids=["usual", "unusual"])
def test_the_signature_and_claims_are_checked_below_either_kind_of_head(api: Api, head: bytes) -> None:
    assert problem_of(api, signed(head, b'{"sub":"ana","exp":1000}')).startswith("has expired")
    good = signed(head, json.dumps({**GOOD, "sub": "ünïcødé>>>???"}, ensure_ascii=False).encode())
    assert user_of(api, good) == "ünïcødé>>>???"
    assert (
        problem_of(api, f"{good[:-1]}{'A' if good[-1] != 'A' else 'E'}")
        == "is not signed with the key of this database"
    )


@pytest.mark.feature("F9")
@pytest.mark.parametrize("name", REFUSED)
def test_a_token_that_is_not_valid_is_refused(api: Api, name: str) -> None:
    given, problem = REFUSED[name]
    assert problem_of(api, given).startswith(problem)


def test_no_part_of_a_token_is_repeated_in_an_error(api: Api) -> None:
    given = token(GOOD, key=OTHER_KEY)
    with pytest.raises(errors.InsufficientPrivilege) as raised:
        user_of(api, given)
    assert not [part for part in given.split(".") if part in str(raised.value)]


def test_a_changed_token_counts_at_once(api: Api) -> None:
    with session_of(api.connection, "tenant_by_token", token_of("ana")):
        assert [row.content for row in api.list_memories(user_id="ana")] == ["Is called ana"]
        api.query("select set_config('agent_memory.token', %(token)s, true)", token=token_of("bob"))
        assert [row.content for row in api.list_memories(user_id="bob")] == ["Is called bob"]
        with pytest.raises(errors.InsufficientPrivilege):
            api.list_memories(user_id="ana")


def test_a_token_expires_within_a_transaction(api: Api) -> None:
    def expires_after(seconds: float) -> bool:
        with session_of(api.connection, "tenant_by_token", token({"sub": "ana", "exp": time.time() + seconds})):
            try:
                assert api.tenant_user() == "ana"
            except errors.InsufficientPrivilege:
                return False  # the machine is so busy that the time was over before the first call
            api.query("select pg_sleep(%(seconds)s)", seconds=seconds)
            with pytest.raises(errors.InsufficientPrivilege, match="has expired"):
                api.tenant_user()
            return True

    assert any(map(expires_after, (0.5, 5, 30)))


def test_a_token_gives_nothing_to_a_bound_role(api: Api) -> None:
    with session_of(api.connection, "tenant_ana", token_of("bob")):
        assert api.tenant_user() == "ana"
        with pytest.raises(errors.InsufficientPrivilege):
            api.list_memories(user_id="bob")


def test_others_need_no_token_and_no_token_limits_them(api: Api) -> None:
    for given in (None, "nonsense", token_of("ana")):
        with session_of(api.connection, "app_of_tenants", given):
            assert api.tenant_user() is None
            assert len(api.list_memories(user_id="bob")) == 1


class TestKeys:
    def test_the_previous_key_counts_during_a_rotation(self, api: Api) -> None:
        old, new = token_of("ana"), token_of("ana", key=OTHER_KEY)
        api.set_token_key(key=text_of(OTHER_KEY), previous=text_of(KEY))
        assert user_of(api, old) == user_of(api, new) == "ana"
        api.set_token_key(key=text_of(OTHER_KEY))
        assert user_of(api, new) == "ana"
        assert problem_of(api, old).startswith("is not signed with the key")

    @pytest.mark.parametrize("length", [64, 65, 1024])
    def test_a_key_may_be_longer(self, api: Api, length: int) -> None:
        key = bytes(number % 251 for number in range(length))
        api.set_token_key(key=f" {text_of(key)}\n")
        assert user_of(api, token_of("ana", key=key)) == "ana"

    @pytest.mark.parametrize("argument", ["key", "previous"])
    def test_a_bad_key_is_refused_and_not_repeated(self, api: Api, argument: str) -> None:
        for key in ("", "short", text_of(bytes(31)), text_of(bytes(1025)), "é" * 50, "A" * 100_000):
            with refused(argument) as error:
                api.set_token_key(**{"key": text_of(KEY), argument: key})
            assert not key or key not in str(error.value)
        with refused("key"):
            api.set_token_key(key=None)

    def test_without_a_key_no_token_is_accepted(self, api: Api) -> None:
        api.connection.execute("delete from memory.token_keys")
        for key in (KEY, b"", bytes(64)):
            assert problem_of(api, token_of("ana", key=key)).startswith("cannot be verified")

    def test_only_the_owner_reads_or_sets_keys_whatever_is_granted_on_tables(self, api: Api) -> None:
        api.connection.execute("grant all on all tables in schema memory to tenant_by_token, app_of_tenants")
        api.connection.execute("grant memory_admin to app_of_tenants")
        for role in ("tenant_by_token", "app_of_tenants"):
            with session_of(api.connection, role, token_of("ana")):
                assert api.query("select * from memory.token_keys") == []
                assert api.query("update memory.token_keys set outer_block = '' returning true") == []
                with pytest.raises(errors.InsufficientPrivilege):
                    api.set_token_key(key=text_of(KEY))
                with pytest.raises(errors.InsufficientPrivilege):
                    api.query("insert into memory.token_keys values (true, 'a', 'b') returning true")
