"""The connection drops at every statement of a program: the client says so, and a repetition stores nothing twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from agent_memory import Memory
from agent_memory.errors import ConflictError, RetryableError
from psycopg.conninfo import make_conninfo

from tests.torture import audit
from tests.torture.cluster import DATABASE, Cluster
from tests.torture.proxy import WHENS, Proxy, When

TEA, COFFEE = UUID(int=1), UUID(int=2)
ATTEMPTS = 5

Step = Callable[[Memory], Any]


def update(memory: Memory) -> None:
    """A change that must be made once: whoever does not know whether it was made reads the version."""
    if memory.get_memory("ana", TEA).version == 1:
        memory.update_memory("ana", TEA, content="Likes green tea", expected_version=1)


def add_document(memory: Memory) -> None:
    """A document has no key: whoever does not know looks for it."""
    if not memory.list_documents("ana"):
        memory.add_document("ana", "How to brew tea", title="Tea")


PROGRAM: list[Step] = [
    lambda m: m.add_message("ana", "t", "user", "I like tea", idempotency_key="1"),
    lambda m: m.add_messages(
        "ana", "t", [{"role": "assistant", "content": f"Answer {n}", "idempotency_key": f"a{n}"} for n in range(5)]
    ),
    lambda m: m.add_memory("ana", "Likes tea", memory_id=TEA),
    lambda m: m.add_memory("ana", "Likes coffee", memory_id=COFFEE, tags=["drinks"]),
    update,
    lambda m: m.delete_memory("ana", COFFEE),
    lambda m: m.restore_memory("ana", COFFEE, version=1),
    lambda m: m.store_artifact("ana", "line\n" * 1000, key="log"),
    add_document,
    lambda m: m.admin.set_policy({"memories": {"max_per_agent": 50}}, user_id="ana"),
    lambda m: m.extract_memories("ana", "t"),
    lambda m: m.delete_message("ana", "t", 5),
    lambda m: m.search("ana", "tea", mode="keyword"),
    lambda m: m.get_context("ana", "t"),
    lambda m: m.admin.sweep(),
]

OUTCOME = """
select
  (select jsonb_agg(jsonb_build_array(m.seq, m.role, m.content, m.is_active) order by m.seq) from memory.messages as m),
  (select jsonb_agg(jsonb_build_array(m.memory_id, m.content, m.deleted_at) order by m.memory_id)
   from memory.memories as m),
  (select jsonb_agg(jsonb_build_array(a.key, a.token_count) order by a.key) from memory.artifacts as a),
  (select count(*) from memory.documents), (select count(*) from memory.jobs where kind = 'extract_memories'),
  memory.get_policy(user_id => 'ana') -> 'memories'
"""


def perform(memory: Memory, step: Step) -> int:
    """Repeat a step until it is acknowledged; how often the client said that the connection was lost."""
    for lost in range(ATTEMPTS):
        try:
            step(memory)
        except (psycopg.OperationalError, RetryableError):
            continue
        except ConflictError:  # the first attempt has restored the memory
            pass
        return lost
    raise TimeoutError("the client did not connect again")


def play(cluster: Cluster, breaks_at: int | None, when: When) -> tuple[Any, int, int, list[str]]:
    """The outcome of the program, how many exchanges it had, how many losses the client told, and what is wrong."""
    conninfo = cluster.create(DATABASE)
    socket_file = Path(cluster.server.host, f".s.PGSQL.{cluster.server.port}")
    with Proxy(socket_file, breaks_at, when) as proxy:
        with Memory(make_conninfo(conninfo, host=proxy.host), pool_size=1) as memory:
            told = sum(perform(memory, step) for step in PROGRAM)
        exchanges = proxy.exchanges
    with cluster.connect() as connection:
        return connection.execute(OUTCOME).fetchone(), exchanges, told, audit.problems(connection)


def run(cluster: Cluster, every: int = 1) -> tuple[int, int, list[str]]:
    """Drop every n-th exchange in each way; how many were dropped, how many losses the client told, what is wrong."""
    expected, exchanges, told, problems = play(cluster, None, "before the statement")
    dropped = tellings = 0
    for when in WHENS:
        for number in range(0, exchanges, every):
            try:
                outcome, _, told, wrong = play(cluster, number, when)
            except Exception as error:
                problems.append(f"exchange {number}, dropped {when}: {type(error).__name__}: {error}")
                continue
            dropped += 1
            tellings += told
            problems += [f"exchange {number}, dropped {when}: {problem}" for problem in wrong]
            if outcome != expected:
                problems.append(f"exchange {number}, dropped {when}: {outcome} instead of {expected}")
    return dropped, tellings, problems
