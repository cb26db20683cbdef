"""Where credentials are masked: in all that models are given and return, and by policy in threads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.masking.labelled import KEYS
from tests.support.protocol import complete
from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.feature("C13")

KEY = KEYS["GitHub token"]()
MARK = "(credential: GitHub token)"
SAID = f"Deploy with {KEY} and password=hunter2"
SHOWN = f"Deploy with {MARK} and password=(credential: password)"
THREAD = {"user_id": "ana", "thread_id": "t"}


def models(api: Api) -> None:
    api.register_model(name="chat", kind="chat", provider="openai", model="gpt")
    api.activate_model(name="chat")
    api.register_model(name="vectors", kind="embedding", provider="openai", model="v", settings={"dimensions": 3})
    api.activate_model(name="vectors")


def claimed(api: Api, kind: str) -> Any:
    [job] = api.claim_jobs(worker="test", kinds=[kind])
    return job


def test_what_a_model_extracts_summarises_and_embeds_has_no_credential(api: Api) -> None:
    models(api)
    call = {"id": "call_" + "Ab3dE5fG7hJ9kL1mN3pQ5rS7", "type": "function"}
    call["function"] = {"name": "run", "arguments": json.dumps({"token": KEY, "password": "hunter2"})}  # type: ignore[assignment]
    api.set_policy(settings={"trust": {"rules": False}})  # which would put a memory with a credential into quarantine
    api.add_messages(**THREAD, messages=[
        {"role": "user", "content": SAID},
        {"role": "assistant", "content": "I run that", "tool_calls": [call]},
        {"role": "tool", "content": SAID, "tool_call_id": call["id"]},
        {"role": "assistant", "content": f"Done with {KEY}"},
    ])  # fmt: skip
    api.add_memory(user_id="ana", content=f"The token is {KEY}", embedding_text=f"token {KEY}")
    api.add_memory(user_id="ana", content="Likes tea")
    api.store_artifact(user_id="ana", content=SAID * 10)
    api.add_document(user_id="ana", content=SAID)
    for request in (api.extract_memories, api.summarize_thread, api.compress_thread):
        request(**THREAD)
    for request in (api.summarize_user, api.reconcile_memories):
        request(user_id="ana")
    kinds = set()
    while jobs := api.claim_jobs(worker="test", max_jobs=10):
        for job in jobs:
            kinds.add(job.kind)
            payload = json.dumps(job.payload)
            if job.kind not in ("chunk_documents", "parse_artifacts"):  # these ask no model
                assert KEY not in payload, job.kind
                assert "hunter2" not in payload, job.kind
                assert "(credential: " in payload, job.kind
            if job.kind in ("summarize_thread", "compress_thread"):
                assert call["id"] in payload
            api.fail_job(user_id="ana", job_id=job.job_id, lease_token=job.lease_token, error="seen")
    assert {"extract_memories", "summarize_user", "reconcile_memories", "embed"} <= kinds


def test_a_message_that_is_given_with_marks_is_not_counted_by_them(api: Api) -> None:
    models(api)
    api.add_messages(**THREAD, messages=[{"role": "user", "content": SAID}, {"role": "user", "content": "Hello"}])
    api.extract_memories(**THREAD)
    first, second = claimed(api, "extract_memories").payload["messages"]
    assert (first["content"], first["is_cut"], "is_cut" in second) == (SHOWN, True, False)


def test_a_memory_that_a_model_returns_is_stored_with_marks(api: Api) -> None:
    models(api)
    api.add_message(**THREAD, role="user", content="Hello")
    api.extract_memories(**THREAD)
    job = claimed(api, "extract_memories")
    complete(api, job, memories=[{"content": f"Uses {KEY}", "memory_type": "fact", "seqs": [0]}])
    assert [memory.content for memory in api.list_memories(user_id="ana")] == [f"Uses {MARK}"]


def test_a_summary_is_stored_with_marks_whatever_else_the_result_has(api: Api) -> None:
    models(api)
    api.add_message(**THREAD, role="user", content="Hello")
    api.summarize_thread(**THREAD)
    job = claimed(api, "summarize_thread")
    complete(api, job, summary=f"Uses {KEY}", embeddings=[])
    assert api.get_thread_summary(**THREAD)[0].summary == f"Uses {MARK}"


def test_a_query_is_embedded_without_its_credentials_and_kept_for_both_spellings(api: Api) -> None:
    models(api)
    api.add_memory(user_id="ana", content="Likes tea")
    complete(api, claimed(api, "embed"), embeddings=[[1, 0, 0]])
    [wanted] = api.query_to_embed(user_id="ana", query=SAID)
    assert wanted.text == SHOWN
    hashes = "select distinct memory._query_hash(m, q) from memory.models as m, unnest(%(q)s::text[]) as q"
    kinds = " where m.kind = 'embedding'"
    assert len(api.query(hashes + kinds, q=[SAID, SHOWN])) == 1


def test_without_the_policy_a_thread_keeps_what_was_said(api: Api) -> None:
    assert api.get_policy()["secrets"] == {"mask_in_threads": False}
    api.add_message(**THREAD, role="user", content=SAID)
    assert [message.content for message in api.get_messages(**THREAD)] == [SAID]


def test_a_message_that_was_masked_is_still_known_by_its_key(api: Api) -> None:
    keyed = {"role": "user", "content": SAID, "idempotency_key": "k"}
    api.add_message(**THREAD, **{**keyed, "idempotency_key": "before"})
    api.set_policy(settings={"secrets": {"mask_in_threads": True}})
    first = api.add_message(**THREAD, **keyed)
    again = api.add_message(**THREAD, **keyed)
    assert (first.seq, again.seq, again.content) == (1, 1, SHOWN)
    rows = api.add_messages(**THREAD, messages=[keyed, {**keyed, "idempotency_key": "before"}])
    assert [(row.seq, row.content) for row in rows] == [(1, SHOWN), (0, SAID)]
    with refused("idempotency_key", "23505"):
        api.add_message(**THREAD, **{**keyed, "content": "other"})
    with refused("idempotency_key", "23505"):
        api.add_messages(**THREAD, messages=[{**keyed, "content": "other"}])
