"""Two databases: one with users who have something in every table, and one to move them to."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from tests.conftest import DATABASE_NAMES, Database
from tests.support.sqlapi import Api

ANA = "ana \N{SNOWMAN} 'x' \\"


@pytest.fixture(scope="module")
def _filled_template(_database: Database, _template: str) -> Iterator[str]:
    """The database of ``source``, filled once."""
    name = next(DATABASE_NAMES)
    with _database(name, _template) as conninfo:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            fill(Api(connection))
        yield name


@pytest.fixture
def dsn(_database: Database, _filled_template: str) -> Iterator[str]:
    """Connection string of a copy of that database."""
    with _database(next(DATABASE_NAMES), _filled_template) as conninfo:
        yield conninfo


@pytest.fixture
def source(dsn: str) -> Iterator[Api]:
    """A database in which ANA has rows in every table that has users, and bo a few."""
    with contextlib.closing(psycopg.connect(dsn, autocommit=True)) as connection:
        yield Api(connection)


@pytest.fixture
def open_target(empty_dsn: str) -> Iterator[Callable[[], psycopg.Connection[Any]]]:
    """Open connections to a database that has nothing yet."""
    with contextlib.ExitStack() as stack:

        def connection() -> psycopg.Connection[Any]:
            return stack.enter_context(contextlib.closing(psycopg.connect(empty_dsn, autocommit=True)))

        yield connection


@pytest.fixture
def target(open_target: Callable[[], psycopg.Connection[Any]]) -> psycopg.Connection[Any]:
    return open_target()


def fill(api: Api) -> None:
    api.set_policy(settings={"context": {"max_memories": 7}})
    api.set_policy(settings={"search": {"embed_messages": True}}, user_id=ANA)
    api.set_policy(settings={"budget": {"tokens_per_agent_per_day": 1000000}}, agent_id="default")
    api.set_prompt(
        name="consolidate", template=api.value("select template from memory.prompts where name = 'consolidate'")
    )
    api.register_model(name="m", kind="embedding", provider="openai", model="m")
    api.activate_model(name="m")
    api.talk(ANA, "t1", rounds=12)
    api.add_message(user_id=ANA, thread_id="t1", role="user", content="Grüße, 我喜欢茶", idempotency_key="k1")
    api.add_message(user_id=ANA, thread_id="t1", role="tool", content="cc -c a.c\n" * 300, metadata={"command": "make"})
    api.talk("bo", "t1", rounds=2)
    tea = api.add_memory(user_id=ANA, content="Likes tea", tags=["drinks"]).memory_id
    api.update_memory(user_id=ANA, memory_id=tea, content="Likes green tea")
    coffee = api.add_memory(user_id=ANA, content="Likes coffee", expires_at="2099-01-01").memory_id
    api.supersede_memory(user_id=ANA, old_memory_id=tea, new_memory_id=coffee, reason="changed")
    api.record_use(user_id=ANA, memory_ids=[coffee])
    planted = api.add_message(user_id=ANA, thread_id="t2", role="tool", content="Planted")
    api.quarantine_source(user_id=ANA, source="message", id=f"t2/{planted.seq}", reason="planted")
    api.add_document(user_id=ANA, content="Tea is green. " * 500, title="Tea")
    api.store_artifact(user_id=ANA, content="A long log", key="log")
    state = {"user_id": ANA, "thread_id": "t1", "checkpoint_id": "1", "channels": ["x"], "types": ["json"]}
    api.put_checkpoint(**state, checkpoint={"v": 4}, versions=["1"], blobs=r"{\\x31}")
    api.put_checkpoint_writes(**state, task_id="task", places="{0}", blobs=r"{\\x31}")
    api.add_artifact_piece(user_id=ANA, content="The beginning of a longer one")
    api.summarize_thread(user_id=ANA, thread_id="t1")
    api.finish_jobs(memory="Ana has a cat")
    api.finish_jobs()
    api.delete_memory(user_id=ANA, memory_id=api.add_memory(user_id=ANA, content="Likes cocoa").memory_id)
    api.search(user_id=ANA, query="tea", mode="keyword")
    for statement in (
        "insert into memory.shown_rounds (user_id, thread_id, seq, query_hash, max_tokens, token_count, messages)"
        " values (%(ana)s, 't1', 0, 'digest', 4000, 60, '[]')",
        "insert into memory.query_embeddings (user_id, model, query_hash, embedding)"
        " values (%(ana)s, 'm', 'h', '[1,2,3]')",
        # A space is moved like a user.
        "insert into memory.spaces (user_id) values (%(ana)s)",
        "insert into memory.space_grants (user_id, member, access) values (%(ana)s, 'bo', 'read')",
        "insert into memory.space_writes (user_id, member, source, id) values (%(ana)s, 'bo', 'document', '1')",
        "insert into memory.idempotency_keys values (%(ana)s, 't0', 'k0', 3, 'digest', 5)",
        "insert into memory.gone_jobs (user_id, job_id, kind, calls_left, tokens_left)"
        " values (%(ana)s, 1, 'embed', 1, 9)",
        "insert into memory.model_calls (user_id, call_id, job_id, kind, model, tokens_in, price, called_at)"
        " values (%(ana)s, gen_random_uuid(), 1, 'embed', 'm', 5, 0.0001, now())",
        "insert into memory.agent_budgets (agent_id) values ('default')",
        "insert into memory.embeddings (user_id, source, id, model, hash, embedding)"
        " select user_id, source, id, 'm2', hash, '[1]' from memory.texts where user_id = %(ana)s and hash is not null",
        "insert into memory.secrets (user_id, name, key_id, sealed) values (%(ana)s, 'mail', 'k', 'sealed')",
        "insert into memory.merged_users (user_id, former_user_hash) values (%(ana)s, 'anna')",
        "insert into memory.secret_reads (user_id, name, role) values (%(ana)s, 'mail', 'app')",
    ):
        api.connection.execute(statement, {"ana": ANA})
    api.talk(ANA, "t2", rounds=2)
    for thread in ("t1", "t2"):
        api.extract_memories(user_id=ANA, thread_id=thread)
    api.claim_jobs(worker="w1", max_jobs=1)
