"""A node knows its place: it refuses the users of other nodes, and nothing is ever stored on the wrong node."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.cluster.conftest import NODES, PARTITIONS, map_with, partition_of, set_map
from tests.support.installer import install
from tests.support.runners import PATIENCE
from tests.support.sessions import Sessions, code
from tests.support.sqlapi import Api, rolled_back
from tests.tenants.steps import session_of
from tests.values.bad_arguments import NEED_PGCRYPTO, VALID
from tests.values.valid_calls import has_pgcrypto, make_calls_work

pytestmark = pytest.mark.feature("F14")

EVERYWHERE = {"bind_role", "partition_of", "revoke_space"}
"""Functions that take a user of any node: one whose grant stays with a space may have moved."""
OF_USERS = sorted(name for name, call in VALID.items() if "user_id" in call and name not in EVERYWHERE)
HERE, THERE = "ana", "u7"
"""A user of node a, and one of node b, in the maps of this module."""


def map_of_tests(api: Api) -> str:
    return map_with(api, sorted({VALID[function]["user_id"] for function in OF_USERS}), [THERE])


@pytest.fixture(scope="module")
def shared_api(shared_api: Api) -> Api:
    """Node a, which has what the calls of VALID are about; other nodes serve the user THERE."""
    make_calls_work(shared_api)
    set_map(shared_api, "a", 1, map_of_tests(shared_api))
    return shared_api


def outcome(api: Api, function: str, **arguments: Any) -> psycopg.Error | None:
    try:
        with api.connection.transaction():
            getattr(api, function)(**arguments)
    except psycopg.Error as error:
        return error
    return None


def test_a_call_works_for_a_user_of_this_node_and_is_refused_for_one_of_another_node(api: Api) -> None:
    before = api.state()
    without = set() if has_pgcrypto(api) else set(NEED_PGCRYPTO)
    for function in OF_USERS:
        if function not in without:
            with rolled_back(api):
                assert outcome(api, function, **VALID[function]) is None, function
        error = outcome(api, function, **VALID[function] | {"user_id": THERE})
        assert error is not None, function
        assert (error.sqlstate, error.diag.message_primary, error.diag.message_detail, error.diag.message_hint) == (
            "AM003",
            'user_id: node "b" serves the user, and this is node "a"',
            "map version 1",
            "Call node b: host=b",
        ), function
    assert api.state() == before


def test_a_refused_call_reads_nothing_but_the_map(api: Api) -> None:
    # Rows that no node lets in: a call that looked for them before it asks the map would read many entries.
    api.connection.execute("set local session_replication_role = replica")
    api.connection.execute(
        "insert into memory.memories select (jsonb_populate_record(m, jsonb_build_object("
        "'user_id', %s::text, 'memory_id', gen_random_uuid(), 'content_hash', md5(m.memory_id::text || n)))).*"
        " from memory.memories as m, generate_series(1, 100) as n where m.user_id = %s",
        [THERE, HERE],
    )
    api.connection.execute("set local session_replication_role = origin")

    def call() -> None:
        assert outcome(api, "get_context", user_id=THERE, thread_id="t1", query="tea") is not None

    call()
    assert api.entries_read(call) <= 6


TABLES = {
    "messages": {"thread_id": "t", "role": "user", "content": "Hello"},
    "memories": {"content": "Likes tea"},
    "documents": {"content": "Tea is a drink."},
    "artifacts": {"key": "k", "content": "Tea"},
}


@pytest.mark.parametrize("table", TABLES)
def test_a_row_of_a_user_of_another_node_is_refused(api: Api, table: str) -> None:
    row = {"user_id": THERE, **TABLES[table]}
    insert = sql.SQL("insert into {} ({}) values ({})").format(
        sql.Identifier("memory", table),
        sql.SQL(", ").join(map(sql.Identifier, row)),
        sql.SQL(", ").join(map(sql.Placeholder, row)),
    )
    with pytest.raises(psycopg.Error) as raised, api.connection.transaction():
        api.connection.execute(insert, row)
    assert raised.value.sqlstate == "AM003"
    with api.connection.transaction():
        api.connection.execute(insert, row | {"user_id": HERE})


def test_tenants_are_refused_as_tenants_before_they_learn_of_nodes(api: Api) -> None:
    with session_of(api.connection, "tenant_that_is_bound", None):
        error = outcome(api, "get_messages", user_id=THERE, thread_id="t")
    assert error is not None
    assert error.sqlstate == "42501"


def test_a_partition_that_moves_is_refused_with_an_error_to_retry(api: Api) -> None:
    set_map(api, "a", 2, map_of_tests(api), moving=[partition_of(api, HERE)])
    error = outcome(api, "add_message", user_id=HERE, thread_id="t", role="user", content="Hello")
    assert error is not None
    assert (error.sqlstate, error.diag.message_hint) == ("55P03", "Nothing was stored. Call again in a second.")


def test_a_user_may_be_moved_without_its_partition(api: Api) -> None:
    digest = api.value("select md5(%(user)s)", user=THERE)
    set_map(api, "a", 2, map_of_tests(api), users={digest: "a"})
    api.add_message(user_id=THERE, thread_id="t", role="user", content="Hello")
    set_map(api, "a", 3, map_of_tests(api), users={digest: "a"}, moving=[digest])
    error = outcome(api, "add_message", user_id=THERE, thread_id="t", role="user", content="Hello")
    assert error is not None
    assert error.sqlstate == "55P03"


def test_jobs_of_nodes_have_other_numbers(api: Api) -> None:
    job = api.extract_memories(user_id=HERE, thread_id="t1")
    assert job % 1024 in (1, NODES["a"]["number"])
    api.connection.execute("delete from memory.jobs where user_id = %s", [HERE])
    assert api.consolidate(user_id=HERE) % 1024 == NODES["a"]["number"]


class TestMaps:
    """What a node accepts as a map."""

    @pytest.mark.parametrize(
        ("problem", "arguments"),
        [
            ("p_version", (0, "aabbaabb")),
            ("p_partitions", (2, "aabbaabc")),
            ("p_moving", (2, "aabbaabb", ["x"])),
            ("p_users", (2, "aabbaabb", [], None, {"ana": "a"})),
            ("p_nodes", (2, "aabbaabb", [], {"a": {"dsn": "host=a", "number": 1}, "b": {"dsn": "x", "number": 1}})),
        ],
    )
    def test_a_map_that_is_no_map_is_refused(self, api: Api, problem: str, arguments: tuple[Any, ...]) -> None:
        with pytest.raises(psycopg.Error, match=f"^{problem}: ") as raised:
            set_map(api, "a", *arguments)
        assert raised.value.sqlstate == "22023"

    def test_an_older_map_is_refused(self, api: Api) -> None:
        set_map(api, "a", 7, map_of_tests(api))
        for version, partitions in ((6, map_of_tests(api)), (7, "a" * PARTITIONS)):
            with pytest.raises(psycopg.errors.SerializationFailure):
                set_map(api, "a", version, partitions)
        set_map(api, "a", 7, map_of_tests(api))

    def test_a_map_that_would_leave_a_user_behind_is_refused(self, api: Api) -> None:
        with pytest.raises(psycopg.errors.ForeignKeyViolation, match='user "ana" has rows here'):
            set_map(api, "a", 2, "b" * PARTITIONS)


def test_without_a_map_a_call_pays_nothing(dsn: str) -> None:
    """PostgreSQL folds the constant answer away, so that no plan names the function; with a map the plan does."""
    plan = "explain (verbose, costs off) select memory._is_user(u) from unnest('{ana}'::text[]) as u"
    with psycopg.connect(dsn, autocommit=True) as connection:
        api = Api(connection)
        without = str(api.query(plan))
        set_map(api, "a", 1, "aabbaabb")
        assert "_is_in_map" in str(api.query(plan))
    assert "_is_here" not in without
    assert "_is_in_map" not in without


def test_a_dump_keeps_the_place(dsn: str, dump: Any) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        set_map(Api(connection), "a", 1, "aabbaabb")
    assert "_is_in_map" in dump(dsn, "--schema-only")


def test_an_installation_anew_keeps_the_place(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        set_map(Api(connection), "a", 1, "b" * PARTITIONS)
    install(dsn)
    with psycopg.connect(dsn, autocommit=True) as connection:
        error = outcome(Api(connection), "add_message", user_id=HERE, thread_id="t", role="user", content="Hello")
    assert error is not None
    assert error.sqlstate == "AM003"


class TestRaces:
    """A map changes while calls are under way."""

    @pytest.fixture
    def partitions(self, sessions: Sessions) -> str:
        partitions = map_of_tests(sessions.api)
        set_map(sessions.api, "a", 1, partitions)
        return partitions

    def test_a_change_waits_for_the_calls_before_it(self, sessions: Sessions, partitions: str) -> None:
        writer, changer = sessions.new(), sessions.new()
        with writer.connection.transaction():
            writer.add_message(user_id=HERE, thread_id="t", role="user", content="Hello")
            change = sessions.pool.submit(set_map, changer, "a", 2, partitions, [partition_of(sessions.api, HERE)])
            sessions.until_waiting(changer, change, blocker=writer)
            assert not change.done()
        change.result(PATIENCE)
        assert sessions.api.value("select count(*) from memory.messages") == 1

    def test_a_call_that_waits_for_a_change_reads_the_new_map(self, sessions: Sessions, partitions: str) -> None:
        changer, writer = sessions.new(), sessions.new()
        writer.get_messages(user_id=HERE, thread_id="t")  # the plan is made
        with changer.connection.transaction():
            set_map(changer, "a", 2, partitions, [partition_of(sessions.api, HERE)])
            call = sessions.pool.submit(writer.add_message, user_id=HERE, thread_id="t", role="user", content="Hello")
            sessions.until_waiting(writer, call, blocker=changer)
            assert not call.done()
        assert code(call) in ("55P03", "40001")
        assert sessions.api.value("select count(*) from memory.messages") == 0

    def test_a_snapshot_from_before_a_change_writes_nothing(self, sessions: Sessions, partitions: str) -> None:
        writer = sessions.new()
        writer.connection.execute("begin isolation level repeatable read")
        writer.connection.execute("select 1 from pg_class limit 1")
        set_map(sessions.api, "a", 2, partitions.replace("a", "b"))
        assert code(
            sessions.pool.submit(writer.add_message, user_id=HERE, thread_id="t", role="user", content="x")
        ) == ("40001")
        writer.connection.execute("rollback")
        assert sessions.api.value("select count(*) from memory.messages") == 0

    @pytest.mark.parametrize(("level", "user"), [("repeatable read", HERE), ("serializable", THERE)])
    def test_a_snapshot_from_before_the_first_map_is_refused(self, sessions: Sessions, level: str, user: str) -> None:
        old = sessions.new()
        old.connection.execute(f"begin isolation level {level}")
        old.connection.execute("select 1 from pg_class limit 1")
        set_map(sessions.api, "a", 1, map_of_tests(sessions.api))
        call = sessions.pool.submit(old.add_message, user_id=user, thread_id="t", role="user", content="x")
        assert code(call) == "40001"
        old.connection.execute("rollback")
        assert sessions.api.value("select count(*) from memory.messages") == 0

    def test_a_read_whose_snapshot_is_older_than_the_arrival_is_refused(
        self, sessions: Sessions, partitions: str
    ) -> None:
        """The statement begins, the user arrives, and only then the statement calls get_messages()."""
        set_map(sessions.api, "a", 2, partitions.translate(str.maketrans("ab", "ba")))
        assert self.read_during_a_change(sessions, partitions, 3) == "40001"

    def test_a_read_of_a_user_whom_a_change_does_not_concern_goes_on(self, sessions: Sessions, partitions: str) -> None:
        assert self.read_during_a_change(sessions, partitions, 2) is None

    def read_during_a_change(self, sessions: Sessions, partitions: str, version: int) -> str | None:
        holder = sessions.new()
        holder.connection.execute("create table public.gate ()")
        reader = sessions.new()
        reader.connection.execute("""
            create function public.wait_at_gate() returns text language plpgsql volatile as $$
            begin lock table public.gate in access share mode; return 't'; end $$""")
        with holder.connection.transaction():
            holder.connection.execute("lock table public.gate in access exclusive mode")
            call = sessions.pool.submit(
                reader.query,
                "select m.content from (select public.wait_at_gate() as t offset 0) as g,"
                " memory.get_messages('ana', g.t) as m",
            )
            sessions.until_waiting(reader, call, blocker=holder)
            set_map(sessions.api, "a", version, partitions)
        return code(call)
