"""A session may have the plan of every statement sent to itself, also of those inside our functions. None shows a key.

``debug_print_plan`` and ``client_min_messages`` are settings that every role may change. A plan holds the values of the
variables that a statement of PL/pgSQL names, so a key may not be one of them.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

import psycopg
import pytest

from tests.support.sqlapi import Api
from tests.values.bad_arguments import NEED_PGCRYPTO, VALID
from tests.values.valid_calls import has_pgcrypto

KEY = bytes(range(100, 132))
CONSTANT = re.compile(r":constvalue\s+\d+\s+\[([-\d\s]+)\]")
SHOWN = {"debug_print_plan": "on", "debug_pretty_print": "off", "client_min_messages": "log"}

pytestmark = pytest.mark.feature("F9")


@pytest.fixture(scope="module")
def shared_api(shared_api: Api) -> Api:
    """A database in which every call works, and whose server has a key of secrets and a key of tokens."""
    if shared_api.query("select from pg_available_extensions where name = 'pgcrypto'"):
        shared_api.connection.execute("create extension if not exists pgcrypto")
    shared_api.set_token_key(key=base64.b64encode(KEY).decode())
    shared_api.connection.execute(
        "create or replace function memory._server_variable(p_name text) returns text language plpgsql as "
        f"$$ begin return '{base64.b64encode(KEY).decode()}'; end $$"
    )
    if has_pgcrypto(shared_api):
        shared_api.set_secret(**VALID["set_secret"])
    return shared_api


def plans(connection: psycopg.Connection) -> list[str]:
    """A list to which all plans are added that the server sends from now on."""
    for setting in SHOWN.items():
        connection.execute("select set_config(%s, %s, true)", setting)
    heard: list[str] = []
    connection.add_notice_handler(lambda notice: heard.append(notice.message_detail or ""))
    return heard


def constants(plan: str) -> Iterator[bytes]:
    for numbers in CONSTANT.findall(plan):
        yield bytes(int(number) & 255 for number in numbers.split())


def keys(api: Api) -> list[bytes]:
    """The keys as they are stored or used, each by sixteen bytes of it."""
    erasure = api.query("select inner_block, outer_block from memory.erasure_keys")
    tokens = api.query("select inner_block, outer_block from memory.token_keys")
    derived = []
    if has_pgcrypto(api):
        derived = [
            api.value("select memory._hmac(%(key)s, %(use)s::bytea)", key=KEY, use=use)
            for use in ("encrypt", "authenticate")
        ]
    return [KEY[:16], *(block[:16] for row in (*erasure, *tokens) for block in row), *(key[:16] for key in derived)]


def test_no_plan_shows_a_key(api: Api) -> None:
    secret = keys(api)
    api.query("select set_config('plan_cache_mode', 'force_custom_plan', true)")
    heard = plans(api.connection)
    shown = []
    for function in VALID.keys() - {"set_token_key"}:  # whoever sets the key knows it
        if function in NEED_PGCRYPTO and not has_pgcrypto(api):
            continue
        heard.clear()
        with api.connection.transaction(force_rollback=True):
            getattr(api, function)(**VALID[function])
        plan = "\n".join(heard)
        assert "PLANNEDSTMT" in plan, function
        shown += [function for constant in constants(plan) if any(key in constant for key in secret)]
    assert shown == []
