"""The database in which the calls of VALID work."""

from __future__ import annotations

import base64

from tests.support.sqlapi import Api
from tests.tenants.steps import login_role
from tests.values.bad_arguments import (
    ANA,
    DOCUMENT_ID,
    LEASE_TOKEN,
    MEMORY_ID,
    OTHER_MEMORY_ID,
    QUARANTINED_ID,
    THREAD,
    VALID,
)


def has_pgcrypto(api: Api) -> bool:
    return api.query("select from pg_extension where extname = 'pgcrypto'") != []


def make_calls_work(api: Api) -> None:
    """Store what the calls of VALID are about."""
    api.connection.execute("alter table memory.jobs alter column job_id restart")  # a rollback leaves a sequence alone
    api.add_message(**THREAD, role="user", content="I like tea")
    api.register_model(name="spare", kind="chat", provider="openai", model="gpt")
    stored = ((MEMORY_ID, "Drinks tea"), (OTHER_MEMORY_ID, "Drinks black tea"), (QUARANTINED_ID, "Drinks green tea"))
    for memory_id, content in stored:
        api.connection.execute(
            "insert into memory.memories (user_id, memory_id, content) values ('ana', %s, %s)", [memory_id, content]
        )
    api.add_memory(user_id=VALID["merge_users"]["from_user_id"], content="Drinks coffee")
    api.quarantine_memory(**ANA, memory_id=QUARANTINED_ID, reason="planted")
    api.create_space(space="team")
    api.grant_space(space="team", **ANA)
    api.connection.execute(
        "insert into memory.documents (user_id, document_id, content) values ('ana', %s, 'Tea')", [DOCUMENT_ID]
    )
    assert (api.extract_memories(**THREAD), api.summarize_thread(**THREAD)) == (1, 2)
    api.store_artifact(**ANA, key="log", content="Tea")
    api.claim_jobs(worker="w", kinds=["extract_memories"])
    api.connection.execute("update memory.jobs set lease_token = %s where job_id = 1", [LEASE_TOKEN])
    api.register_model(name="vectors", kind="embedding", provider="openai", model="v", settings={"dimensions": 3})
    api.connection.execute("delete from memory.jobs where kind = 'backfill'")
    for number, setting in enumerate(("secret_key", "secret_key_previous")):
        key = base64.b64encode(bytes([number] * 32)).decode()
        api.connection.execute("select set_config(%s, %s, false)", [f"agent_memory.{setting}", key])
    if has_pgcrypto(api):
        api.set_secret(**VALID["set_secret"])
    make_roles(api)
    api.bind_role(role_name="tenant_that_is_bound", user_id="ana")


def make_roles(api: Api) -> None:
    """Make the roles that the calls name. The databases of a server share them."""
    for role in ("tenant_to_bind", "tenant_that_is_bound"):
        login_role(api.connection, role)
    if not api.query("select from pg_roles where rolname = 'role_of_claims'"):
        api.connection.execute("create role role_of_claims nologin")
