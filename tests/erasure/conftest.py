"""A user who has something in every table, and whose every text has a needle that can be looked for."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.conftest import DATABASE_NAMES, Database
from tests.support.sqlapi import Api, result_of

NEEDLE = "n\N{LATIN SMALL LETTER E WITH DIAERESIS}edle7f3"
ANA = f"ana-{NEEDLE}"
SAID = f"Lives in {NEEDLE} street since the year 2019"


@pytest.fixture(scope="session")
def _filled_template(_database: Database, _template: str) -> Iterator[str]:
    """The database of ``filled``, made once: to clone it takes a fraction of the time that it takes to fill it."""
    name = next(DATABASE_NAMES)  # a module that imports this fixture has one of its own
    with _database(name, _template) as conninfo:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            fill(Api(connection), "bo", "other")
            fill(Api(connection), ANA, NEEDLE)
        yield name


@pytest.fixture
def dsn(request: pytest.FixtureRequest, _database: Database, _template: str) -> Iterator[str]:
    """Connection string of a fresh database with agent_memory installed, filled if the test says so."""
    template = request.getfixturevalue("_filled_template") if "filled" in request.fixturenames else _template
    with _database(next(DATABASE_NAMES), template) as conninfo:
        yield conninfo


@pytest.fixture
def filled(dsn: str) -> Iterator[Api]:
    """A database in which ANA has rows in every table with users, and bo as many of his own."""
    with contextlib.closing(psycopg.connect(dsn, autocommit=True)) as connection:
        yield Api(connection)


def forms(text: str) -> set[str]:
    """How a text may stand in a dump: as it is, in lower or upper case, in JSON, hex and the three kinds of base64."""
    raw = text.encode()
    shifted = {base64.b64encode(b"x" * shift + raw)[4 if shift else 0 : -4].decode() for shift in range(3)}
    return {text, text.lower(), text.upper(), json.dumps(text)[1:-1], raw.hex(), raw.hex().upper()} | shifted


def fill(api: Api, user_id: str, word: str) -> None:
    """Give a user rows in every table, each with the word in all texts that applications and models choose."""
    user: dict[str, Any] = {"user_id": user_id}
    thread, agent = f"thread {word}", f"agent {word}"
    here = {**user, "thread_id": thread, "agent_id": agent}
    api.register_model(name="m", kind="embedding", provider="openai", model="m")
    api.activate_model(name="m")
    api.set_policy(settings={"search": {"embed_messages": True}}, **user)
    api.add_message(
        **here,
        role="user",
        content=f"I live in {word} street",
        metadata={"name": word, word: [word]},
        idempotency_key=f"key {word}",
    )
    api.add_message(**here, role="assistant", content=f"Noted: {word}")
    api.add_message(**here, role="tool", content=f"line of {word}\n" * 300, metadata={"command": word})
    api.set_thread(user_id=user_id, thread_id=thread, title=f"About {word}", metadata={word: [word]})
    for number in range(12):
        api.add_message(**here, role=("user", "assistant")[number % 2], content=f"{word} {number}")
    tea = api.add_memory(
        content=f"Likes {word}", tags=[word], metadata={"subject": word}, embedding_text=word, **here
    ).memory_id
    api.update_memory(memory_id=tea, content=f"Likes green {word}", **user)
    other = api.add_memory(content=f"Likes more {word}", source=f"from {word}", **here).memory_id
    api.supersede_memory(old_memory_id=tea, new_memory_id=other, reason=f"because {word}", **user)
    gone = api.add_memory(content=f"Liked {word}", **here).memory_id
    api.delete_memory(memory_id=gone, **user)
    api.record_use(memory_ids=[other], thread_id=thread, **user)
    api.add_message(**here, role="user", content=f"Planted: {word}")
    api.quarantine_source(source="message", id=f"{thread}/15", reason=f"planted with {word}", **user)
    api.add_document(content=f"{word} is green. " * 500, title=word, namespace=word, doc_type=word, **user)
    blobs = f'{{"\\\\x{word.encode().hex()}"}}'
    state = {**user, "thread_id": thread, "checkpoint_id": "1", "channels": [word], "types": [word]}
    api.put_checkpoint(**state, checkpoint={"said": word}, metadata={"said": word}, versions=["1"], blobs=blobs)
    api.put_checkpoint_writes(**state, task_id=word, places="{0}", blobs=blobs)
    api.store_artifact(content=f"A long {word}", key="log", description=word, artifact_type=word, **here)
    api.add_artifact_piece(content=f"The beginning of {word}", **user)
    api.summarize_thread(user_id=user_id, thread_id=thread)
    api.summarize_user(**user)
    api.extract_memories(user_id=user_id, thread_id=thread)
    for _ in range(3):
        for job in api.claim_jobs(worker="test", max_jobs=1000, **user):
            result = result_of(job, f"They talked of {word}", SAID.replace(NEEDLE, word))
            api.complete_job(job_id=job.job_id, lease_token=job.lease_token, result=result, **user)
    api.clear_thread(user_id=user_id, thread_id=f"cleared {word}")
    api.add_message(user_id=user_id, thread_id=f"cleared {word}", role="user", content=word)
    api.clear_thread(user_id=user_id, thread_id=f"cleared {word}")
    values = {"u": user_id, "w": word, "a": agent}
    for statement in (
        "insert into memory.query_embeddings (user_id, model, query_hash, embedding) values (%(u)s, 'm', %(w)s, '[1]')",
        "insert into memory.idempotency_keys values (%(u)s, %(w)s, %(w)s, 3, 'digest', 5)",
        "insert into memory.shown_rounds (user_id, thread_id, seq, query_hash, max_tokens, token_count, messages)"
        " values (%(u)s, %(w)s, 0, 'digest', 4000, 60, '[]')",
        "insert into memory.gone_jobs (user_id, job_id, kind, agent_id, calls_left, tokens_left)"
        " values (%(u)s, 1, 'embed', %(a)s, 1, 9)",
        "insert into memory.model_calls (user_id, call_id, job_id, kind, agent_id, model, tokens_in, price, error,"
        " called_at) values (%(u)s, gen_random_uuid(), 1, 'embed', %(a)s, 'm', 5, 0.25, %(w)s, now())",
        "insert into memory.agent_budgets (agent_id) values (%(a)s)",
        "insert into memory.embeddings (user_id, source, id, model, hash, embedding)"
        " select user_id, source, id, 'm2', hash, '[1]' from memory.texts where user_id = %(u)s and hash is not null",
        "insert into memory.secrets (user_id, name, key_id, sealed)"
        " values (%(u)s, %(w)s, '12345678', sha256(''::bytea) || sha256('sealed'::bytea))",
        "insert into memory.secret_reads (user_id, name, role) values (%(u)s, %(w)s, 'app')",
        "insert into memory.moved_users (user_id, contents) values (%(u)s, '{}')",
        "insert into memory.merged_users (user_id, former_user_hash) values (%(u)s, sha256(convert_to(%(w)s, 'UTF8')))",
        "insert into memory.spaces (user_id, title, metadata)"
        " values (%(u)s, %(w)s, jsonb_build_object('about', %(w)s::text))",
        "insert into memory.space_grants (user_id, member, access) values (%(u)s, %(w)s, 'read')",
        "insert into memory.space_writes (user_id, member, source, id) values (%(u)s, %(w)s, 'artifact', %(w)s)",
        "insert into memory.changes (at, user_id, source, id, operation, actor)"
        " values (now(), %(u)s, 'artifact', %(w)s, 'added', 'app')",
        "insert into memory.bound_roles (role_name, user_id) values ('role ' || %(w)s, %(u)s)",
    ):
        api.connection.execute(statement, values)
    api.add_message(user_id=user_id, thread_id=f"second {word}", role="user", content=f"More of {word}")
    job = api.extract_memories(user_id=user_id, thread_id=f"second {word}")
    api.connection.execute(
        "update memory.jobs set error = %(w)s, input = jsonb_build_object('text', %(w)s::text) where job_id = %(job)s",
        {"w": word, "job": job},
    )


def rows(api: Api, user_id: str) -> dict[str, int]:
    """How many rows of each table a user has."""
    tables = api.query(
        "select c.relname from pg_class as c join pg_attribute as a on a.attrelid = c.oid and a.attname = 'user_id'"
        " where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r' order by 1"
    )
    counts = " union all ".join(
        f"select '{table}', count(*) from memory.{table} where user_id = %(user)s" for [table] in tables
    )
    return {table: number for table, number in api.query(counts, user=user_id) if number}
