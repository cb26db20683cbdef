"""No open transaction of an application or worker keeps an administrator waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.support.sqlapi import Api
from tests.tenants.steps import login_role
from tests.values.bad_arguments import ANA, NEED_PGCRYPTO, VALID
from tests.values.valid_calls import has_pgcrypto, make_calls_work

pytestmark = pytest.mark.feature("F9")

ADMINISTRATION: list[tuple[str, dict[str, Any]]] = [
    ("activate_model", {"name": "vectors"}),
    ("activate_model", {"name": "spare"}),
    ("activate_model", {"name": "other"}),
    ("backfill_status", {}),
    ("bind_role", VALID["bind_role"]),
    ("deactivate_model", {"name": "vectors"}),
    ("doctor", {}),
    ("drop_model", {"name": "spare"}),
    ("drop_model", {"name": "other"}),
    ("export_user", ANA),
    ("forget_user", {"user_id": "bo"}),
    ("get_policy", {}),
    ("import_user", VALID["import_user"]),
    ("list_users", {}),
    ("register_model", {"name": "vectors", "kind": "embedding", "provider": "openai", "model": "v",
                        "settings": {"dimensions": 3, "query_prefix": "query: "}}),
    ("register_model", {"name": "other", "kind": "embedding", "provider": "openai", "model": "w"}),
    ("register_model", {"name": "new", "kind": "embedding", "provider": "openai", "model": "n"}),
    ("reset_prompt", {"name": "consolidate"}),
    ("set_policy", {"settings": {"jobs": {"max_running_per_user": 3}}}),
    ("set_policy", {"settings": {"jobs": {"max_running_per_user": 3}}, **ANA}),
    ("set_prompt", VALID["set_prompt"]),
    ("set_token_key", VALID["set_token_key"]),
    ("status", {}),
    ("sweep", {}),
    ("unbind_role", VALID["unbind_role"]),
    ("vector_index", VALID["vector_index"]),
]  # fmt: skip
NEW_TYPE = "insert into memory.memory_types (memory_type, heading, description) values ('goal', 'Goals', 'A goal')"

READS = ("get_", "list_", "count_", "render_", "was_", "needs_", "query_", "tenant_", "version", "load_")
"""Beginnings of names of calls that write nothing; searches and contexts stand for them."""
ORDINARY = sorted(
    {name for name in VALID if not name.startswith(READS)}
    - {name for name, _ in ADMINISTRATION}
    - {"reencrypt_secrets"}
    | {"export_user", "keep an embedding", "embed"}
)
ADDS = (
    "add_", "compress_", "consolidate", "copy_", "create_", "expand_", "export_", "extract_", "grant_", "keep",
    "partition_", "put_", "reconcile_", "record_", "retrieve_", "search", "set_", "store_", "summarize_", "use_",
)  # fmt: skip
"""Beginnings of names of calls that take nothing away from each other: one transaction makes all of them."""
TOGETHER = [name for name in ORDINARY if name.startswith(ADDS)]
ALONE = [[name] for name in ORDINARY if name not in TOGETHER]


@pytest.fixture(scope="module")
def shared_api(shared_api: Api) -> Api:
    """A session in which the calls of VALID work."""
    make_calls_work(shared_api)
    login_role(shared_api.connection, "nobody_else")
    shared_api.activate_model(name="vectors")
    shared_api.register_model(name="other", kind="embedding", provider="openai", model="w")
    shared_api.add_message(user_id="bo", thread_id="t1", role="user", content="I like tea")
    embed(shared_api)  # what calls that delete and change hold rows of
    return shared_api


@pytest.fixture(scope="module")
def admin(shared_api: Api) -> Iterator[Api]:
    """A session that says soon that it must wait."""
    options = "-c lock_timeout=5s"
    with psycopg.connect(shared_api.connection.info.dsn, options=options, autocommit=True) as connection:
        yield Api(connection)


def embed(api: Api) -> None:
    for job in api.claim_jobs(worker="w2", kinds=["embed", "backfill"], max_jobs=20, **ANA):
        result = {"embeddings": [[1, 0, 0] for _ in job.payload["texts"]]}
        api.complete_job(user_id=job.user_id, job_id=job.job_id, lease_token=job.lease_token, result=result)


def act(api: Api, name: str) -> None:
    if name == "keep an embedding":
        [wanted] = api.query_to_embed(**ANA, query="tea")
        assert api.keep_query_embedding(**ANA, query="tea", embedding_model=wanted.model, embedding="[1,0,0]")
    elif name == "embed":
        api.add_memory(**ANA, content="Owns a kettle")
        embed(api)
    elif name == "claim_jobs":  # of one user: who claims for all holds threads of all
        api.claim_jobs(**VALID[name], **ANA)
    else:
        getattr(api, name)(**VALID[name])


def waits(api: Api, call: Callable[[], Any]) -> str | None:
    """What an administrator is told who had to wait; None for a call that was done at once, or refused with a hint."""
    try:
        with api.connection.transaction(force_rollback=True):
            call()
    except psycopg.errors.LockNotAvailable as error:
        return None if error.diag.message_hint else str(error)
    return None


@pytest.mark.parametrize("names", [TOGETHER, *ALONE], ids=lambda names: "together" if names == TOGETHER else names[0])
def test_an_open_transaction_blocks_no_administrator(api: Api, admin: Api, names: list[str]) -> None:
    for name in names:
        if name not in NEED_PGCRYPTO or has_pgcrypto(api):
            act(api, name)
    waited = {
        f"{function}({arguments})": waits(admin, lambda f=function, a=arguments: getattr(admin, f)(**a))  # type: ignore[misc]
        for function, arguments in ADMINISTRATION
    }
    waited["a new type"] = waits(admin, lambda: admin.connection.execute(sql.SQL(NEW_TYPE)))
    if names == ["trust_claims"] and admin.connection.info.server_version >= 160000:
        # Since version 16 PostgreSQL lets one transaction at a time grant a role, and both grant that of the tenants.
        assert [call for call, told in waited.items() if told and not call.startswith("bind_role(")] == []
        return
    assert {call: told for call, told in waited.items() if told} == {}
