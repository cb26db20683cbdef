"""What the tests of the installation share: its version, and a database in use."""

from __future__ import annotations

import re

from tests.support.installer import the_build
from tests.support.servers import ROOT
from tests.support.sqlapi import Api

ANA = {"user_id": "ana", "thread_id": "t1"}
VERSION = re.findall(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[0]


def of_tables(part: str = "") -> str:
    """The version of the tables of the core or of an add-on: the release that has changed them last."""
    return str(the_build(ROOT).tables.version(ROOT / "sql", part))


def use(api: Api) -> None:
    """Leave something in every table behind, with jobs and summaries in each of their states."""
    api.set_policy(settings={"memories": {"max_per_agent": 5}}, agent_id="support")
    # Jobs are finished with results that have no word of the messages.
    api.set_policy(settings={"models": {"translates": True}})
    api.connection.execute("insert into memory.memory_types values ('allergy', 'Allergies', 'What makes the user ill')")
    api.register_model(name="mini", kind="chat", provider="openai", model="gpt-4.1-mini", settings={"temperature": 0})
    api.talk(**ANA, rounds=10)
    api.summarize_thread(**ANA)
    api.add_message(**ANA, role="user", content="Grüße ☕", metadata={"channel": "mail"}, idempotency_key="k1")
    assert api.finish_jobs(memory="Likes tea") == 2  # completed
    api.talk("bob", "t2", 3)
    api.clear_thread(user_id="bob", thread_id="t2")
    memories = [api.add_memory(user_id="ana", agent_id="support", content=f"Fact {n}").memory_id for n in range(7)]
    api.update_memory(user_id="ana", memory_id=memories[6], content="Fact six", tags=["a"], expires_at="infinity")
    api.supersede_memory(user_id="ana", old_memory_id=memories[5], new_memory_id=memories[6], reason="newer")
    api.delete_memory(user_id="ana", memory_id=memories[4])
    api.store_artifact(user_id="ana", thread_id="t1", content="Grüße ☕\n" * 5000, key="log")
    api.talk("cy", "t3", 3)
    api.summarize_thread(user_id="cy", thread_id="t3")
    api.connection.execute("update memory.jobs set attempts = 4 where status = 'pending'")
    [job] = api.claim_jobs(worker="w")
    api.fail_job(user_id="cy", job_id=job.job_id, lease_token=job.lease_token, error="no")  # dead
    api.talk(**ANA, rounds=10, agent_id="support")
    api.summarize_thread(**ANA)
    [_] = api.claim_jobs(worker="w", kinds=["summarize_thread"])  # running; the extraction stays pending
