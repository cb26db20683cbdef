"""Leaves rows in every table of a database, with jobs, memories and messages in each of their states."""

from __future__ import annotations

from tests.erasure.conftest import fill as fill_user
from tests.support.sqlapi import Api

ANA = {"user_id": "ana \N{SNOWMAN} 'x' \\", "thread_id": "Montag, 月曜日"}

EMPTY = {"cluster_map", "imports", "role_grants", "whole_user_changes"}
"""Tables that may stay empty: a map would make the database a node, an owner without the right to create roles grants
none anything, and rows of the others go with their transaction."""


def fill(api: Api) -> None:
    """Use functions, and plain SQL for what a model or an administrator leaves."""
    api.add_memory(user_id="fay", content="Likes milk")
    api.forget_user(user_id="fay")
    api.set_token_key(key="a2V5" * 16)
    ana, run = ANA["user_id"], api.connection.execute
    api.set_policy(settings={"context": {"max_memories": 7}, "models": {"translates": True}})
    api.set_policy(settings={"memories": {"max_per_agent": 5}}, agent_id="support")
    api.set_policy(settings={"budget": {"tokens_per_user_per_day": 1000000}}, user_id=ana)
    api.set_policy(settings={"messages": {"expires_after": "never"}}, user_id=ana)
    prompt = api.value("select template from memory.prompts where name = 'consolidate'")
    api.set_prompt(name="consolidate", template=f"{prompt}\nBe brief.")
    run("insert into memory.memory_types values ('allergy', 'Allergies', 'What makes the user ill')")
    api.register_model(name="mini", kind="chat", provider="openai", model="gpt-4.1-mini", settings={"temperature": 0})
    api.register_model(name="ada", kind="embedding", provider="openai", model="ada", settings={"dimensions": 8})
    api.activate_model(name="ada")

    api.talk(**ANA, rounds=12)
    api.add_message(**ANA, role="user", content="Grüße ☕ 我喜欢茶", metadata={"channel": "mail"}, idempotency_key="k1")
    api.add_message(**ANA, role="tool", content="make: done\n" * 20, metadata={"tool_call_id": "call_1"})
    api.add_message(**ANA, role="system", content="Be kind.", created_at="2025-01-01", expires_at="infinity")
    api.add_message(**ANA, role="user", content="Soon gone", expires_at="2099-01-01 00:00:00.123456+00")
    api.summarize_thread(**ANA)
    api.summarize_user(user_id=ana)
    while api.finish_jobs(summary="Ana greets. \N{SNOWMAN}", memory="Likes tea"):
        pass
    api.talk("bob", "compressed", 15)
    api.compress_thread(user_id="bob", thread_id="compressed")
    while api.finish_jobs(memory="Bob has a cat"):
        pass
    api.talk("bob", "cleared", 3)
    api.clear_thread(user_id="bob", thread_id="cleared")

    facts = [api.add_memory(user_id=ana, agent_id="support", content=f"Fact {n}").memory_id for n in range(7)]
    api.update_memory(user_id=ana, memory_id=facts[6], content="Fact six", tags=["a", "é"], expires_at="infinity")
    api.supersede_memory(user_id=ana, old_memory_id=facts[5], new_memory_id=facts[6], reason="newer")
    api.delete_memory(user_id=ana, memory_id=facts[4])
    bound = {"valid_from": "2024-02-29", "valid_to": "2030-12-31 23:59:59+00", "confidence": 0.75, "importance": 0.125}
    api.add_memory(user_id=ana, content="Allergic to nuts", memory_type="allergy", metadata={"a": [1, {"b": None}]})
    api.add_memory(user_id=ana, content="Works in\u00a0Ghent", embedding_text="job", **bound)
    api.add_document(user_id=ana, content="Tea is green. " * 500, title="Tea", metadata={"page": 3})
    api.list_changes()
    api.add_document(user_id="bob", content="Short.", namespace="manuals", doc_type="guide")
    api.store_artifact(user_id=ana, thread_id=ANA["thread_id"], content="Grüße ☕\r\n" * 5000, key="log")
    api.store_artifact(user_id="bob", content="Bob's", description="A note", expires_at="2099-01-01")
    while api.finish_jobs(memory="Bob has a dog"):
        pass
    api.search(user_id=ana, query="tea", mode="keyword")

    api.talk("cy", "failing", 3)
    api.summarize_thread(user_id="cy", thread_id="failing")
    run("update memory.jobs set attempts = 4 where status = 'pending' and kind = 'summarize_thread'")
    [job] = api.claim_jobs(worker="w", kinds=["summarize_thread"])
    api.fail_job(user_id="cy", job_id=job.job_id, lease_token=job.lease_token, error="no")  # dead
    api.talk(**ANA, rounds=10, agent_id="support")
    api.summarize_thread(**ANA)
    api.claim_jobs(worker="w", kinds=["summarize_thread"])  # running; others stay pending
    fill_user(api, "eve", "word")
