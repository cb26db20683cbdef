"""The statements that are measured, the data they need, and the ratios that the project aims for.

A statement is written once, with ``:name`` parameters. pgbench runs it as a prepared statement over libpq; the
measurement of server CPU time runs the same text through psycopg.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import psycopg

from bench.support import texts

USERS, PRELOADED_MESSAGES = 1_000, 30
MEMORY_USERS, MEMORY_LIMIT = 50, 1_000  # the limit is the built-in policy
FIRST_USER = 4_200_000_000
TEXTS = 32
BULKS, MESSAGES_PER_BULK = 4, 1_000
ROLES = ("user", "assistant")

# The columns of memory.messages and memory.memories with their defaults, and the primary key; nothing else.
SCHEMA = """
create schema bench;
create table bench.messages (like memory.messages including defaults, primary key (user_id, thread_id, seq));
create table bench.memories (like memory.memories including defaults, primary key (user_id, memory_id));
create table bench.texts (name text primary key, value text not null);
"""


@dataclass(frozen=True)
class Variant:
    """One statement to measure.

    Its parameters: those in ``ranges`` are random integers within inclusive bounds; ``text`` names the one that is
    drawn from ``texts`` prepared texts; ``:role`` is user and assistant in turn; ``:serial`` never repeats; ``:run``
    numbers the measurement.
    """

    name: str
    sql: str
    ranges: dict[str, tuple[int, int]]
    text: str | None = None
    texts: int = TEXTS
    cpu_calls: int = 1_800

    def pgbench_script(self) -> str:
        """Calls with each text; these are fetched once per client, so that every call sends one as a parameter."""
        lines = []
        if self.text:
            columns = (
                f"(select value from bench.texts where name = '{self.text}_{i}') as {self.text}_{i}"
                for i in range(self.texts)
            )
            lines += ["\\if :loaded", "\\else", "select " + ", ".join(columns), "\\gset", "\\set loaded 1", "\\endif"]
        for call in range(self.texts):
            lines += [f"\\set {name} random({low}, {high})" for name, (low, high) in self.ranges.items()]
            lines += ["\\set step :step + 1", "\\set serial :step * 64 + :client_id"]
            sql = self.sql.replace(":role", f"'{ROLES[call % len(ROLES)]}'")
            if self.text:
                sql = re.sub(rf":{self.text}\b", f":{self.text}_{call % self.texts}", sql)
            lines.append(" ".join(sql.split()) + ";")
        return "\n".join(lines) + "\n"

    def psycopg_sql(self) -> str:
        """The statement with psycopg's placeholders."""
        return re.sub(r"(?<!:):(\w+)", r"%(\1)s", self.sql)

    def arguments(self, values: dict[str, str], run: int, first_serial: int) -> Iterator[dict[str, str]]:
        """Endless arguments for ``psycopg_sql``, as text like pgbench sends them; ``values`` are the texts by name."""
        rng = random.Random(first_serial)
        serial = first_serial
        while True:
            serial += 1
            arguments = {name: str(rng.randint(low, high)) for name, (low, high) in self.ranges.items()}
            arguments |= {"serial": str(serial), "run": str(run), "role": ROLES[serial % len(ROLES)]}
            if self.text:
                arguments[self.text] = values[f"{self.text}_{serial % self.texts}"]
            yield arguments


@dataclass(frozen=True)
class Ratio:
    """A quotient of two variants' rates, or of their times when ``of_times``, and what the project aims for.

    A ratio of rates must reach the aim, and one of times must not exceed it.
    """

    over: str
    under: str
    aim: float | None = None
    of_times: bool = False


@dataclass(frozen=True)
class Case:
    """Variants that take turns, and the ratios reported for them.

    ``check`` runs after the last measurement and raises RuntimeError when they did not measure what they say.
    """

    name: str
    variants: tuple[Variant, ...]
    ratios: tuple[Ratio, ...]
    check: Callable[[psycopg.Connection], None] | None = None


# A thread of each user for each purpose. The one to read stays as loaded, so that both sides read the same pages.
_USER = {"user": (FIRST_USER + 1, FIRST_USER + USERS)}
_WRITTEN_THREAD = _USER | {"thread": (1, 1)}
_READ_THREAD = _USER | {"thread": (2, 2)}
_BULK_THREAD = _USER | {"thread": (3, 3)}
_BELOW = {"user": (FIRST_USER + 1, FIRST_USER + MEMORY_USERS)}
_AT_LIMIT = {"user": (FIRST_USER + MEMORY_USERS + 1, FIRST_USER + 2 * MEMORY_USERS)}


def preload(connection: psycopg.Connection) -> None:
    """Fills threads with a history and bare tables with the same rows, stores the texts, and fills some users."""
    connection.execute(SCHEMA)
    values = {f"content_{i}": text for i, text in enumerate(texts.texts(TEXTS))}
    values |= {f"messages_{i}": texts.conversation(MESSAGES_PER_BULK, seed=i) for i in range(BULKS)}
    with connection.cursor() as cursor:
        cursor.executemany("insert into bench.texts values (%s, %s)", list(values.items()))
    connection.execute(
        """
        select memory.add_messages(user_id => (%s + u)::text, thread_id => t::text, messages => %s::jsonb)
        from generate_series(1, %s) u, generate_series(1, 2) t
        """,
        (FIRST_USER, texts.conversation(PRELOADED_MESSAGES), USERS),
    )
    connection.execute("insert into bench.messages select * from memory.messages")
    _fill_to_limit(connection)


def texts_of(connection: psycopg.Connection) -> dict[str, str]:
    """The texts that ``preload`` stored, by name."""
    return dict(connection.execute("select name, value from bench.texts").fetchall())


def _fill_to_limit(connection: psycopg.Connection) -> None:
    low, high = _AT_LIMIT["user"]
    for user in range(low, high + 1):
        connection.execute(
            """
            insert into memory.memories (user_id, agent_id, content)
            select %s, 'full', value || ' ' || n
            from generate_series(1, %s) n, bench.texts where name = 'content_' || n %% %s
            """,
            (str(user), MEMORY_LIMIT, TEXTS),
        )


def _check_limit(connection: psycopg.Connection) -> None:
    rows = connection.execute(
        "select agent_id = 'full', min(n), max(n) from "
        "(select user_id, agent_id, count(*) n from memory.memories where deleted_at is null group by 1, 2) scopes "
        "group by 1"
    ).fetchall()
    for full, fewest, most in rows:
        if full and (fewest, most) != (MEMORY_LIMIT, MEMORY_LIMIT):
            raise RuntimeError(f"the limit of {MEMORY_LIMIT} memories was not kept: {fewest} to {most}")
        if not full and most >= MEMORY_LIMIT:
            raise RuntimeError("the variant below the limit reached it: use fewer --seconds")


CASES = (
    Case(
        "add_message",
        (
            Variant(
                "memory.add_message",
                """select * from memory.add_message(user_id => :user, thread_id => :thread, role => :role,
                     content => :content)""",
                _WRITTEN_THREAD,
                "content",
            ),
            Variant(
                "bare insert",
                """insert into bench.messages (user_id, thread_id, seq, role, content, token_count, created_at,
                     updated_at, expires_at)
                   values (:user, :thread, :serial, :role, :content, 50, now(), now(), now() + interval '7 days')""",
                _WRITTEN_THREAD,
                "content",
            ),
        ),
        (Ratio("memory.add_message", "bare insert", aim=0.80),),
    ),
    Case(
        "add_messages, 1,000 messages",
        (
            Variant(
                "memory.add_messages",
                "select * from memory.add_messages(user_id => :user, thread_id => :thread, messages => :messages)",
                _BULK_THREAD,
                "messages",
                BULKS,
                cpu_calls=30,
            ),
            Variant(
                "bare insert from JSON",
                """insert into bench.messages (user_id, thread_id, seq, role, content, token_count, created_at,
                     updated_at, expires_at)
                   select :user, :thread, :serial::bigint * 1000 + position, message->>'role', message->>'content',
                     octet_length(message->>'content') / 4, now(), now(), now() + interval '7 days'
                   from jsonb_array_elements(:messages) with ordinality as item (message, position)""",
                _BULK_THREAD,
                "messages",
                BULKS,
                cpu_calls=30,
            ),
        ),
        (Ratio("memory.add_messages", "bare insert from JSON", aim=0.50),),
    ),
    Case(
        "add_memory",
        (
            Variant(
                "memory.add_memory below its limit",
                """select * from memory.add_memory(user_id => :user, agent_id => 'below ' || :run::text,
                     content => :content || ' ' || :serial::text)""",
                _BELOW,
                "content",
            ),
            Variant(
                "memory.add_memory at its limit",
                """select * from memory.add_memory(user_id => :user, agent_id => 'full',
                     content => :content || ' ' || :serial::text)""",
                _AT_LIMIT,
                "content",
            ),
            Variant(
                "bare insert of a memory",
                """insert into bench.memories (user_id, memory_id, agent_id, content, content_hash,
                     created_at, updated_at)
                   values (:user, gen_random_uuid(), 'below ' || :run::text, :content || ' ' || :serial::text,
                     left(encode(sha256(convert_to(:content || ' ' || :serial::text, 'UTF8')), 'hex'), 32),
                     now(), now())""",
                _BELOW,
                "content",
            ),
        ),
        (
            Ratio("memory.add_memory at its limit", "memory.add_memory below its limit", aim=0.70),
            Ratio("memory.add_memory below its limit", "bare insert of a memory"),
            Ratio("memory.add_memory at its limit", "bare insert of a memory"),
        ),
        check=_check_limit,
    ),
    Case(
        "get_messages, last 20",
        (
            Variant(
                "memory.get_messages",
                "select * from memory.get_messages(user_id => :user, thread_id => :thread, recent_k => 20)",
                _READ_THREAD,
            ),
            Variant(
                "bare select",
                """select seq, role, content, agent_id, metadata, token_count, created_at, expires_at, is_active
                   from (select * from bench.messages where user_id = :user and thread_id = :thread
                         order by seq desc limit 20) recent order by seq""",
                _READ_THREAD,
            ),
        ),
        (Ratio("memory.get_messages", "bare select", aim=1.5, of_times=True),),
    ),
)
