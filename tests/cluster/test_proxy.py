"""PL/Proxy before two nodes: the same functions, each on the node of its user."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from agent_memory import InvalidValueError, Memory, PermissionDeniedError, partition_of
from agent_memory.cluster import moving
from agent_memory.cluster.proxy import make_proxy
from psycopg.conninfo import make_conninfo

from tests.cluster.databases import OWNERS, Proxied
from tests.support.servers import Server
from tests.tenants.steps import KEY, login_role, session_of, text_of, token_of

pytestmark = pytest.mark.feature("F14")

USERS = [f"user {number}" for number in range(8)]


def test_each_call_runs_on_the_node_of_its_user_and_what_concerns_all_on_every_node(proxied: Proxied) -> None:
    for user in USERS:
        assert proxied.front.add_message(user_id=user, thread_id="t", role="user", content=f"I am {user}").seq == 0
        proxied.front.add_memory(user_id=user, content=f"{user} likes tea")
    for user in USERS:
        assert [row.content for row in proxied.front.get_messages(user_id=user, thread_id="t")] == [f"I am {user}"]
        assert proxied.front.search(user_id=user, query="tea", mode="keyword")
        assert proxied.front.get_context(user_id=user, thread_id="t", query="tea")
    for node in "ab":
        assert proxied.users(node) == {user for user in USERS if OWNERS[partition_of(user, 8)] == node} != set()
    page = proxied.front.list_users(row_limit=3, row_offset=2)
    assert [row.user_id for row in page] == USERS[::-1][2:5]
    assert {row.total_count for row in page} == {len(USERS)}
    assert isinstance(proxied.front.sweep(), dict)
    assert set(proxied.front.status()["nodes"]) == {"0", "1"}
    assert all(row.detail.startswith("node ") for row in proxied.front.doctor())
    assert len(proxied.front.query("select * from memory.thread_stats")) == len(USERS)
    proxied.front.set_policy(settings={"context": {"max_memories": 3}})
    proxied.front.register_model(name="m", kind="chat", provider="openai", model="m")
    for user in USERS:
        proxied.front.set_policy(settings={"context": {"max_memories": 4}}, user_id=user)
        assert proxied.front.get_policy(user_id=user)["context"]["max_memories"] == 4
    assert proxied.front.get_policy()["context"]["max_memories"] == 3
    for api in map(proxied.node, "ab"):
        assert api.get_policy()["context"]["max_memories"] == 3
        assert api.value("select count(*) from memory.models where name = 'm'") == 1
        assert api.value("select count(*) from memory.policies where user_id <> ''") > 0


def test_functions_errors_and_the_words_of_the_client_are_those_of_a_node(proxied: Proxied) -> None:
    described = """
        select p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), obj_description(p.oid),
          p.proacl::text
        from pg_proc as p where p.pronamespace = 'memory'::regnamespace and p.proname !~ '^_' order by 1"""
    assert proxied.front.query(described) == proxied.node("a").query(described)
    with pytest.raises(psycopg.errors.InvalidParameterValue, match='role: unknown role "robot"'):
        proxied.front.add_message(user_id="ana", thread_id="t", role="robot", content="x")
    with Memory(proxied.dsn["c"]) as memory, pytest.raises(InvalidValueError) as refused:
        memory.add_message("ana", "t", "robot", "x")
    assert refused.value.message == 'role: unknown role "robot"'
    assert refused.value.hint == "Use user, assistant, tool, system or developer; agent is accepted for assistant."
    with pytest.raises(psycopg.Error) as raised:
        proxied.connection.execute(
            "insert into memory.messages (user_id, thread_id, role, content) values ('ana', 't', 'user', 'x')"
        )
    assert raised.value.sqlstate == "AM003"
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        proxied.front.claim_jobs(worker="w")


def test_a_proxy_is_renewed_in_any_session_and_is_behind_before(proxied: Proxied, server: Server) -> None:
    user = USERS[0]
    proxied.front.add_message(user_id=user, thread_id="t", role="user", content="Hello")
    target = "b" if OWNERS[partition_of(user, 8)] == "a" else "a"
    with proxied.opened() as opened:
        moving.move_user(opened, user, target)
    with pytest.raises(psycopg.Error) as raised:
        proxied.front.get_messages(user_id=user, thread_id="t")
    assert raised.value.sqlstate == "AM003"
    proxied.renew()
    assert [row.content for row in proxied.front.get_messages(user_id=user, thread_id="t")] == ["Hello"]
    proxied.connection.execute("set quote_all_identifiers = on")
    proxied.renew()
    proxied.connection.execute("reset quote_all_identifiers")
    proxied.front.add_memory(user_id=user, content="Likes tea")
    assert [row.user_id for row in proxied.front.list_users()] == [user]
    assert proxied.front.version() == proxied.node("a").version()
    proxied.connection.execute("set log_statement = 'all'")
    with proxied.opened() as opened:
        make_proxy(opened, proxied.connection, proxied.role, "not to be read")
    log = server.log_file.read_text()
    assert "plproxy" in log
    assert "not to be read" not in log


def test_tenants_are_checked_by_the_proxy(proxied: Proxied) -> None:
    user, other = USERS[:2]
    login_role(proxied.connection, "proxy_bound")
    login_role(proxied.connection, "proxy_tenant", "memory_tenant")
    proxied.front.bind_role(role_name="proxy_bound", user_id=user)
    proxied.front.set_token_key(key=text_of(KEY))
    attempts: list[tuple[str, str | None]] = [("proxy_bound", None), ("proxy_tenant", token_of(user))]
    for role, token in attempts:
        with proxied.connection.transaction(force_rollback=True), session_of(proxied.connection, role, token):
            proxied.front.add_message(user_id=user, thread_id="t", role="user", content="Hello")
            for refused in (other, "", "x" * 256, None):
                with pytest.raises(psycopg.Error) as raised:
                    proxied.front.get_messages(user_id=refused, thread_id="t")
                assert raised.value.sqlstate == ("42501" if refused == other else "22023")
            for private in ("select memory._route('x')", "select * from memory._on_node_list_users(0)"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege), proxied.connection.transaction():
                    proxied.connection.execute(private)
    if not proxied.connection.execute("select from pg_roles where rolname = 'proxy_claims'").fetchall():
        proxied.connection.execute("create role proxy_claims nologin; grant proxy_claims to proxy_tenant")
    proxied.front.trust_claims(role_name="proxy_claims")
    with proxied.connection.transaction(force_rollback=True), session_of(proxied.connection, "proxy_tenant"):
        claims = json.dumps({"sub": user, "exp": 4102444800})
        setting = "select set_config('role', 'proxy_claims', true), set_config('request.jwt.claims', %s, true)"
        proxied.connection.execute(setting, [claims])
        proxied.front.add_message(user_id=user, thread_id="t", role="user", content="Hello")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            proxied.front.get_messages(user_id=other, thread_id="t")
    with session_of_token(proxied, token_of(user, seconds=-10)), pytest.raises(psycopg.Error) as raised:
        proxied.front.get_messages(user_id=user, thread_id="t")
    assert raised.value.sqlstate == "42501"
    with Memory(make_conninfo(proxied.dsn["c"], user="proxy_tenant"), token=token_of(user)) as memory:
        memory.add_message(user, "t", "user", "Hello")
        with pytest.raises(PermissionDeniedError):
            memory.add_message(other, "t", "user", "Hello")


@contextlib.contextmanager
def session_of_token(proxied: Proxied, token: Any) -> Iterator[None]:
    with proxied.connection.transaction(force_rollback=True), session_of(proxied.connection, "proxy_tenant", token):
        yield
