"""One database beside the model of it: each call goes to both, and any difference ends the run."""

from __future__ import annotations

import itertools
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from tests.support import rooms
from tests.support.sqlapi import Api, refusal
from tests.tenants.steps import KEY, login_role, text_of, token_of
from tests.torture import audit
from tests.torture.model.memories import Memories
from tests.torture.model.messages import Conversations
from tests.torture.model.stores import Stores
from tests.torture.model.values import Clock, Policies, RefusedError

USERS = ("ana", "bob", "Zoë; drop")
MARKERS = dict(zip(USERS, ("quartz", "velvet", "saffron"), strict=True))
"""A word in each text of a user: nobody else may ever read it."""
AGENTS = ("default", "planner")
THREADS = ("t1", "t2", "t 3")
CLIENTS = 3
KEPT = 2
"""Messages that compression leaves in a thread."""
LIMIT, EVICTION = 1000, "importance"
BOUND_ROLES = dict(zip(USERS, ("torture_ana", "torture_bob", "torture_zoe"), strict=True))
"""For each user a login role that reaches that user only."""
TOKEN_ROLE = "torture_web"
"""A login role that reaches the user of its token."""
FOR_TENANTS = frozenset(rooms.groups()[0]["functions"])
"""What sessions of tenants may call."""
SECRET_KEY = b64encode(bytes(range(32))).decode()

# Jobs begin only when they are asked for, so that the model knows them all.
QUIET = {
    "summary": {"enabled": False},
    "compression": {"enabled": False, "recent_messages_to_keep": KEPT},
    "cadence": {"fact_extraction_every_n": 1_000_000, "reconcile_every_n": 0},  # on, for what expires unread
    "artifacts": {"describe": False},
    "memories": {"near_duplicate_cosine": 1},
}


# What tenants may read directly; row security shows them the rows of their user.
TABLES = ("messages", "memories", "artifacts", "threads", "jobs", "summaries", "documents", "texts", "secrets")
# The tables that name users.
OF_USERS = """
select c.relname::text from pg_class as c
join pg_attribute as a on a.attrelid = c.oid and a.attname = 'user_id' and not a.attisdropped
where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r'
"""


class Difference(AssertionError):  # noqa: N818  # a finding, not an error of the program
    """The database and the model disagree."""


class World:
    """The database under test by several connections, and the model."""

    def __init__(self, conninfo: str) -> None:
        self._stack = ExitStack()
        self._conninfo = conninfo
        self.clients = [self._open() for _ in range(CLIENTS)]
        self._of_tenants: dict[str, Api] = {}
        """Sessions by their login roles."""
        admin = self.clients[0]
        self.has_secrets = bool(admin.query("select from pg_extension where extname = 'pgcrypto'"))
        self._rows_left = " union all ".join(
            f"select '{table}' as name from memory.{table} where user_id = %(user_id)s"
            for [table] in admin.query(OF_USERS)
        )
        self._turns = itertools.count()
        self.calls = 0
        """Made by all runs."""
        self.tenant_calls = 0
        """How often a session that reaches one user only was asked, also for lists to compare."""
        # Its server refuses all calls, so queries without an embedding are searched by keyword.
        admin.register_model(
            name="ada",
            kind="embedding",
            provider="openai",
            model="ada-1",
            settings={"base_url": "http://127.0.0.1:9", "dimensions": 8},
        )
        admin.activate_model(name="ada")
        admin.set_token_key(key=text_of(KEY))
        for role in (TOKEN_ROLE, *BOUND_ROLES.values()):
            login_role(admin.connection, role)
        admin.connection.execute(f"grant memory_tenant to {TOKEN_ROLE}")
        for table in TABLES:
            admin.connection.execute(f"grant select on memory.{table} to memory_tenant")

    def begin_anew(self) -> None:
        """Forget all users, of whom nothing may be left, and start with an empty model."""
        admin = self.clients[0]
        for user_id in USERS:
            admin.forget_user(user_id=user_id)
            left = admin.query(self._rows_left, user_id=user_id)
            check([row.name for row in left], [], f"tables with rows of {user_id} after forget_user")
        admin.query("delete from memory.policies returning 1")
        admin.set_policy(settings=QUIET)
        for user_id, role in BOUND_ROLES.items():
            admin.bind_role(role_name=role, user_id=user_id)
        self.clock = Clock()
        self.policies = Policies({"max_per_agent": LIMIT, "eviction": EVICTION})
        self.memories = {user_id: Memories(user_id, self.clock, self.policies) for user_id in USERS}
        self.talks = {user_id: Conversations(self.clock) for user_id in USERS}
        self.stores = {user_id: Stores(documents=self.memories[user_id].documents) for user_id in USERS}

    def _open(self, **parameters: Any) -> Api:
        connection = psycopg.connect(make_conninfo(self._conninfo, **parameters), autocommit=True)
        connection.execute("select set_config('agent_memory.secret_key', %s, false)", [SECRET_KEY])
        return Api(self._stack.enter_context(connection))

    def close(self) -> None:
        self._stack.close()

    @property
    def api(self) -> Api:
        """The clients in turns: no state of a session may matter."""
        return self.clients[next(self._turns) % CLIENTS]

    def bound(self, user_id: str) -> Api:
        """The session of the login role that is bound to this user."""
        return self._tenant(BOUND_ROLES[user_id])

    def with_token(self, user_id: str) -> Api:
        """The session that reaches whoever its token names, with a token of this user."""
        api = self._tenant(TOKEN_ROLE)
        api.connection.execute("select set_config('agent_memory.token', %s, false)", [token_of(user_id)])
        return api

    def _tenant(self, role: str) -> Api:
        if role not in self._of_tenants:
            self._of_tenants[role] = self._open(user=role)
        return self._of_tenants[role]

    def session(self, user_id: str | None) -> Api:
        """All sessions that reach a user, in turns: who calls makes no difference."""
        turn = next(self._turns) % (CLIENTS + 2)
        if user_id not in USERS or turn < CLIENTS:
            return self.clients[turn % CLIENTS]
        self.tenant_calls += 1
        return self.bound(user_id) if turn == CLIENTS else self.with_token(user_id)

    def call(self, function: str, **arguments: Any) -> Any:
        """What the database answers; a refusal becomes the model's kind of refusal, and must name an argument."""
        self.calls += 1
        self.clock.tick()
        api = self.session(arguments["user_id"]) if function in FOR_TENANTS else self.api
        try:
            return getattr(api, function)(**arguments)
        except psycopg.Error as error:
            if error.sqlstate is None or error.sqlstate[:2] not in ("22", "23", "40", "54", "AM", "P0"):
                raise
            refusal(error)  # has a hint
            raise RefusedError(error.sqlstate, f"{function}({arguments}): {error}") from error

    @contextmanager
    def same_refusal(self, expected: Callable[[], Any], what: str) -> Iterator[list[Any]]:
        """Runs the model first: yields what it answers, in a list; a refusal must be the database's answer too."""
        try:
            answer = [expected()]
        except RefusedError as refused:
            answer = []
            code = refused.code
        try:
            yield answer
        except RefusedError as refused:
            if answer:
                raise Difference(f"{what}: refused with {refused.code}, the model says {answer[0]!r}") from refused
            check(refused.code, code, what)
        else:
            if not answer:
                raise Difference(f"{what}: done, the model refuses with {code}")

    def both(self, expected: Callable[[], Any], function: str, **arguments: Any) -> Any:
        """Make a call whose whole answer the model knows."""
        self.clock.tick()
        what = f"{function}({arguments})"
        result = None
        with self.same_refusal(expected, what) as answer:
            result = self.call(function, **arguments)
            if answer:
                check(result, answer[0], what)
        return result

    def audit(self) -> None:
        """Compute all counters again."""
        check(audit.problems(self.clients[0].connection, but=(audit.HISTORY_GAPS,)), [], "audit")


def check(found: Any, expected: Any, what: str) -> None:
    """Raise Difference unless both are equal."""
    if found != expected:
        raise Difference(f"{what}:\n  database {found!r}\n  model    {expected!r}")


def remove_rows(connection: psycopg.Connection[Any], user_id: str) -> None:
    """Remove all rows of a user in this transaction as if they had never been there: no trigger notes that."""
    connection.execute("set local session_replication_role = replica")
    for [table] in connection.execute(OF_USERS).fetchall():
        if table != "audit":
            connection.execute(f"delete from memory.{table} where user_id = %s", [user_id])
    connection.execute("set local session_replication_role = origin")
