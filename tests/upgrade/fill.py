"""Leaves rows in every table of a database of any version, with jobs, memories and messages in each of their states."""

from __future__ import annotations

from tests.support.sqlapi import Api

ANA = {"user_id": "ana \N{SNOWMAN} 'x' \\", "thread_id": "Montag, 月曜日"}


ROWS = {
    "query_embeddings": "(user_id, model, query_hash, embedding) values (%(ana)s, 'ada', 'h', '[1,2,3,4,5,6,7,8]')",
    "model_calls": "(user_id, call_id, job_id, kind, model, tokens_in, price, called_at, error) values"
    " (%(ana)s, gen_random_uuid(), 1, 'embed', 'ada', 5, 0.0001, now(), 'the server answered 500')",
    "agent_budgets": "(agent_id) values ('support')",
    "artifact_uploads": "(user_id, upload_id) values (%(ana)s, gen_random_uuid())",
    "gone_jobs": "(user_id, job_id, kind, calls_left, tokens_left) values (%(ana)s, 999, 'embed', 1, 9)",
    "memory_uses": "(user_id, memory_id, outcome, updated_at) values (%(ana)s, gen_random_uuid(), 'used', now())",
    "moved_users": "(user_id, contents) values ('dee', '{}')",
    "spaces": "(user_id) values ('space:team')",
    "space_grants": "(user_id, member, access) values ('space:team', %(ana)s, 'write')",
    "space_writes": "(user_id, member, source, id) values ('space:team', %(ana)s, 'message', 'chat/0')",
    "secrets": "(user_id, name, key_id, sealed) values (%(ana)s, 'mail', 'k', 'sealed')",
    "secret_reads": "(user_id, name, role) values (%(ana)s, 'mail', 'app')",
}
"""Rows of tables that no function fills without a key or a model, for versions that have these tables."""


def fill(api: Api) -> None:
    """Use the functions that every version has, and plain SQL for what a model or an administrator leaves."""
    ana, run = ANA["user_id"], api.connection.execute
    api.set_policy(settings={"context": {"max_memories": 7}})
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
    api.add_document(user_id="bob", content="Short.", namespace="manuals", doc_type="guide")
    api.store_artifact(user_id=ana, thread_id=ANA["thread_id"], content="Grüße ☕\r\n" * 5000, key="log")
    api.store_artifact(user_id="bob", content="Bob's", description="A note", expires_at="2099-01-01")
    while api.finish_jobs(memory="Bob has a dog"):
        pass
    api.search(user_id=ana, query="tea", mode="keyword")
    for table, row in ROWS.items():
        if api.value("select to_regclass(%(name)s) is not null", name=f"memory.{table}"):
            run(f"insert into memory.{table} {row}".encode(), {"ana": ana})

    api.talk("cy", "failing", 3)
    api.summarize_thread(user_id="cy", thread_id="failing")
    run("update memory.jobs set attempts = 4 where status = 'pending' and kind = 'summarize_thread'")
    [job] = api.claim_jobs(worker="w", kinds=["summarize_thread"])
    api.fail_job(user_id="cy", job_id=job.job_id, lease_token=job.lease_token, error="no")  # dead
    api.talk(**ANA, rounds=10, agent_id="support")
    api.summarize_thread(**ANA)
    api.claim_jobs(worker="w", kinds=["summarize_thread"])  # running; others stay pending
