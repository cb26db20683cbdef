"""forget_memory follows what a memory says to wherever it went, and tombstones keep it from coming back."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg.types.json import Jsonb

from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.feature("F5")

ANA = {"user_id": "ana"}
THREAD = {**ANA, "thread_id": "t1"}
SAID = "Lives in Kreuzberg, in Berlin"


@pytest.fixture
def models(api: Api) -> Api:
    api.register_model(name="chat", kind="chat", provider="openai", model="chat")
    api.activate_model(name="chat")
    api.set_policy(settings={"cadence": {"reconcile_every_n": 0}, "compression": {"enabled": False}})
    return api


def extracted(api: Api, content: str = SAID, seqs: list[int] | None = None, thread_id: str = "t1") -> UUID:
    """A memory that a job has drawn from a thread; its id."""
    api.extract_memories(user_id="ana", thread_id=thread_id)
    hand_in(api, "extract_memories", memories=[{"content": content, "memory_type": "fact", "seqs": seqs or [0]}])
    [found] = [memory for memory in api.list_memories(**ANA) if memory.content == content]
    memory_id: UUID = found.memory_id
    return memory_id


def hand_in(api: Api, kind: str, **result: Any) -> None:
    for job in api.claim_jobs(worker="w", kinds=[kind], max_jobs=10):
        api.complete_job(user_id=job.user_id, job_id=job.job_id, lease_token=job.lease_token, result=result)


def contents(api: Api) -> list[str]:
    return [memory.content for memory in api.list_memories(**ANA)]


def said(api: Api) -> list[str]:
    return [message.content for message in api.get_messages(**THREAD, include_inactive=True)]


def texts_of(api: Api, word: str) -> list[str]:
    """The rows of all tables that have a word in them."""
    tables = api.query("select relname from pg_class where relnamespace = 'memory'::regnamespace and relkind = 'r'")
    return [
        row
        for [table] in tables
        for [row] in api.query(f"select t::text from memory.{table} as t where t::text ilike %(w)s", w=f"%{word}%")
    ]


def test_nothing_of_it_is_left(models: Api) -> None:
    api = models
    api.add_message(**THREAD, role="user", content="I moved to Kreuzberg")
    api.add_message(**THREAD, role="assistant", content="Nice")
    api.add_message(**THREAD, role="user", content="lives in  KREUZBERG, in Berlin, they say", idempotency_key="k")
    api.add_message(**THREAD, role="assistant", content="Who?")
    memory_id = extracted(api)
    for kind in ("rolling", "thread"):
        api.summarize_thread(**THREAD, kind=kind)
    api.summarize_user(**ANA)
    for kind in ("summarize_thread", "summarize_user"):
        hand_in(api, kind, summary="They talked of Kreuzberg")
    api.update_memory(**ANA, memory_id=memory_id, content="Lives in Kreuzberg near the canal")
    api.connection.execute(
        "insert into memory.documents (user_id, title, content, source, metadata)"
        " values ('ana', 'Home', 'Kreuzberg it is', 'consolidation', %s)",
        [Jsonb({"memory_ids": [str(memory_id)]})],
    )
    api.add_memory(**ANA, content="lives in Kreuzberg  near the CANAL", agent_id="other")
    assert len(texts_of(api, "kreuzberg")) >= 8

    receipt = api.forget_memory(**ANA, memory_id=memory_id, reason="asked: Lives in Kreuzberg near the canal")
    assert texts_of(api, "kreuzberg") == []
    assert said(api) == ["Nice", "Who?"]
    assert receipt["tables"].items() >= {"memories": 2, "messages": 2, "summaries": 3, "documents": 1}.items()
    assert receipt["tables"]["memory_history"] >= 1
    assert api.value("select reason from memory.receipts") == "asked: [forgotten]"
    kinds = "select kind, variant from memory.jobs where status = 'pending' order by 1, 2"
    rebuilt = [tuple(row) for row in api.query(kinds)]
    assert rebuilt == [("summarize_thread", "rolling"), ("summarize_thread", "thread"), ("summarize_user", "")]
    payloads = [str(job.payload) for job in api.claim_jobs(worker="w", max_jobs=10)]
    assert payloads
    assert not any("kreuzberg" in payload.lower() for payload in payloads)
    # The same call of the application, or the same import, stores the message no second time.
    api.add_message(**THREAD, role="user", content="lives in  KREUZBERG, in Berlin, they say", idempotency_key="k")
    assert said(api) == ["Nice", "Who?"]


def test_no_id_of_a_text_keeps_words_of_an_artifact(api: Api) -> None:
    """The key of an artifact is made of its content."""
    for name in ("ada", "eve"):
        api.register_model(name=name, kind="embedding", provider="openai", model=name)
    api.activate_model(name="ada")
    memory_id = api.add_memory(**ANA, content=SAID).memory_id
    api.add_message(**THREAD, role="tool", content=f"{SAID}\n" * 200)
    api.store_artifact(**THREAD, content="Likes Kreuzberg")
    while api.finish_jobs():
        pass
    for table in ("texts", "embeddings"):
        assert "kreuzberg" in str(api.query(f"select id from memory.{table} where source = 'artifact'"))
    [deleted] = [artifact.key for artifact in api.list_artifacts(**ANA) if "likes" in artifact.key]
    api.delete_artifact(**ANA, key=deleted)
    api.forget_memory(**ANA, memory_id=memory_id)
    api.connection.execute("delete from memory.jobs where kind in ('embed', 'backfill')")  # finished ones name the ids
    assert texts_of(api, "kreuzberg") == []


def test_a_model_that_says_it_again_is_not_heard(models: Api) -> None:
    api = models
    for content in ("I live there", "Still there"):
        api.add_message(**THREAD, role="user", content=content)
    memory_id = extracted(api, seqs=[0])
    api.forget_memory(**ANA, memory_id=memory_id)
    api.extract_memories(**THREAD, recent_k=10)
    api.add_message(**THREAD, role="user", content="Hello")
    api.extract_memories(**THREAD)
    again = [{"content": "lives in kreuzberg,  in BERLIN", "memory_type": "fact", "seqs": [2]}]
    hand_in(api, "extract_memories", memories=again)
    assert contents(api) == []
    assert not api.add_memory(**ANA, content=SAID, source="extraction").inserted
    assert api.add_memory(user_id="bo", content=SAID, source="extraction").inserted


def test_punctuation_does_not_get_past_a_tombstone(api: Api) -> None:
    api.forget_memory(**ANA, memory_id=api.add_memory(**ANA, content=SAID).memory_id)
    for again in (f"{SAID}.", f'"{SAID}!"', f" - {SAID} "):
        assert api.add_memory(**ANA, content=again, source="extraction").memory_id is None
        assert api.was_forgotten(**ANA, messages=[{"role": "user", "content": again}]) == [True]
        assert api.add_memory(**ANA, content=f"{again} x", source="extraction").inserted


@pytest.mark.parametrize("content", ['He said "do not call me\\before noon"', "Has HIV", "Likes\ntea and long walks"])
def test_texts_within_json_are_found(models: Api, content: str) -> None:
    """Quotes are escaped in JSON, and a short statement is a text of its own there."""
    api = models
    memory_id = api.add_memory(**ANA, content=content).memory_id
    api.add_message(**THREAD, role="user", content="Hello")
    call = {"id": "1", "type": "function", "function": {"name": "note", "arguments": {"text": content.upper()}}}
    api.add_message(**THREAD, role="assistant", content="I note that", metadata={"tool_calls": [call]})
    api.add_message(**THREAD, role="assistant", content="Anything else?", metadata={"name": "has"})
    api.extract_memories(**THREAD)
    [job] = api.claim_jobs(worker="w", kinds=["extract_memories"])
    api.connection.execute(
        "update memory.jobs set status = 'dead', worker = null, lease_token = null, lease_expires_at = null,"
        " finished_at = now(), result = jsonb_build_object('memories', jsonb_build_array(%s::text)) where job_id = %s",
        [content, job.job_id],
    )
    api.forget_memory(**ANA, memory_id=memory_id)
    assert said(api) == ["Hello", "Anything else?"]
    assert api.value("select count(*) from memory.jobs where status = 'dead'") == 0


def test_archives_that_no_summary_names_any_more_go(api: Api) -> None:
    """clear_thread drops the summaries of a thread, and keeps its archive."""
    memory_id = api.add_memory(**ANA, content=SAID).memory_id
    api.connection.execute(
        "insert into memory.documents (user_id, namespace, title, content, source, thread_id, agent_ids)"
        " values ('ana', 'conversations', 'a', %s, 'archive', 't1', '{default}'),"
        " ('ana', 'conversations', 'b', %s, 'closed_archive', 't1', '{default}'),"
        " ('ana', 'conversations', 'c', 'user: I like tea', 'archive', 't2', '{default}')",
        [f"user: {SAID}, you know"] * 2,
    )
    assert api.forget_memory(**ANA, memory_id=memory_id)["tables"]["documents"] == 2
    assert [document.title for document in api.list_documents(**ANA)] == ["c"]
    assert texts_of(api, "kreuzberg") == []


def test_whoever_states_it_anew_is_heard(models: Api) -> None:
    memory_id = models.add_memory(**ANA, content=SAID).memory_id
    models.forget_memory(**ANA, memory_id=memory_id)
    assert models.add_memory(**ANA, content=SAID).inserted
    assert contents(models) == [SAID]


def test_a_job_under_way_does_not_bring_it_back(models: Api) -> None:
    api = models
    api.add_message(**THREAD, role="user", content="I live in Kreuzberg, in Berlin")
    memory_id = extracted(api)
    api.add_message(**THREAD, role="user", content="And so on")
    for ask in (api.extract_memories, api.summarize_thread):
        ask(**THREAD)
    jobs = api.claim_jobs(worker="w", kinds=["extract_memories", "summarize_thread"], max_jobs=2)
    assert len(jobs) == 2
    api.forget_memory(**ANA, memory_id=memory_id)
    for job in jobs:
        fact = {"content": SAID, "memory_type": "fact", "seqs": [1]}
        result = {"memories": [fact]} if job.kind == "extract_memories" else {"summary": SAID}
        with refused("lease_token", "AM001"):
            api.complete_job(user_id="ana", job_id=job.job_id, lease_token=job.lease_token, result=result)
    assert texts_of(api, "kreuzberg") == []
    again = api.claim_jobs(worker="w", kinds=["extract_memories", "summarize_thread"], max_jobs=5)
    assert {job.kind for job in again} >= {"extract_memories"}
    assert not any("Kreuzberg" in str(job.payload) for job in again)


def test_duplicates_go_and_what_it_contradicted_is_current_again(models: Api) -> None:
    api = models
    before = api.add_memory(**ANA, content="Lives in Spandau").memory_id
    longer = api.add_memory(**ANA, content="Lives in Kreuzberg at the canal").memory_id
    memory_id = api.add_memory(**ANA, content="Lives in Kreuzberg").memory_id
    api.supersede_memory(**ANA, old_memory_id=before, new_memory_id=longer, reason="contradict")
    api.supersede_memory(**ANA, old_memory_id=memory_id, new_memory_id=longer, reason="duplicate")
    receipt = api.forget_memory(**ANA, memory_id=memory_id)
    assert receipt["tables"]["memories"] == 2
    assert contents(api) == ["Lives in Spandau"]
    for content in ("Lives in Kreuzberg", "Lives in Kreuzberg at the canal"):
        assert not api.add_memory(**ANA, content=content, source="extraction").inserted


def test_messages_that_compression_put_away_come_back_without_it(models: Api) -> None:
    api = models
    api.talk("ana", "t1", rounds=10)
    memory_id = extracted(api, seqs=[2])
    api.compress_thread(**THREAD)
    hand_in(api, "compress_thread", summary="They talked of Kreuzberg")
    assert len(api.get_messages(**THREAD)) < 20
    api.forget_memory(**ANA, memory_id=memory_id)
    assert [m.seq for m in api.get_messages(**THREAD)] == [0, 1, *range(3, 20)]
    [thread] = api.list_threads(**ANA)
    assert thread.message_count == 19


def test_artifacts_that_only_its_messages_name_go(models: Api) -> None:
    api = models
    log = "Kreuzberg station\n" * 400
    api.add_message(**THREAD, role="user", content="Where?")
    api.add_message(**THREAD, role="tool", content=log)
    memory_id = extracted(api, "Asked for the station", [0])
    api.connection.execute("update memory.memories set source_seqs = '{0,1}'")
    receipt = api.forget_memory(**ANA, memory_id=memory_id)
    assert receipt["tables"]["artifacts"] == 1
    assert receipt["tables"]["artifact_parts"] >= 1
    assert texts_of(api, "kreuzberg") == []


def test_another_user_is_not_touched_and_an_unknown_memory_is_refused(models: Api) -> None:
    api = models
    api.add_message(user_id="bo", thread_id="t1", role="user", content=SAID)
    theirs = api.add_memory(user_id="bo", content=SAID).memory_id
    mine = api.add_memory(**ANA, content=SAID).memory_id
    with refused("memory_id", "P0002"):
        api.forget_memory(**ANA, memory_id=theirs)
    with refused("memory_id", "P0002"):
        api.forget_memory(**ANA, memory_id=uuid4())
    with refused("memory_id"):
        api.forget_memory(**ANA, memory_id=None)
    api.forget_memory(**ANA, memory_id=mine)
    assert api.get_memory(user_id="bo", memory_id=theirs).content == SAID
    assert len(api.get_messages(user_id="bo", thread_id="t1")) == 1


def test_tombstones_are_keyed_hashes(models: Api) -> None:
    """HMAC-SHA256, which another implementation finds as well, with the key that the database made."""
    import hashlib
    import hmac

    api = models
    api.forget_memory(**ANA, memory_id=api.add_memory(**ANA, content=SAID).memory_id)
    [stored] = api.query("select user_hash, statement_hash from memory.tombstones")
    [blocks] = api.query("select inner_block, outer_block from memory.erasure_keys")
    key = bytes(byte ^ 0x36 for byte in blocks.inner_block)
    assert len(key.rstrip(b"\0")) > 16
    assert bytes(byte ^ 0x5C for byte in blocks.outer_block) == key
    user = (3).to_bytes(4, "big") + b"ana"
    assert stored.user_hash == hmac.digest(key, user, "sha256")
    spelled = hashlib.sha256(SAID.lower().encode()).hexdigest()[:32]
    assert stored.statement_hash == hmac.digest(key, stored.user_hash + spelled.encode(), "sha256")


def test_a_longer_memory_goes_and_its_earlier_versions_do_not_count(models: Api) -> None:
    api = models
    api.add_message(**THREAD, role="user", content="I have a cat and a dog at home")
    longer = api.add_memory(**ANA, content="I have a cat and a dog at home").memory_id
    api.update_memory(**ANA, memory_id=longer, content=f"Has a cat, and {SAID.lower()}")
    receipt = api.forget_memory(**ANA, memory_id=api.add_memory(**ANA, content=SAID).memory_id)
    assert receipt["tables"]["memories"] == 2
    assert contents(api) == []
    assert said(api) == ["I have a cat and a dog at home"]
    assert not api.add_memory(**ANA, content=f"Has a cat, and {SAID}", source="extraction").inserted


def test_a_message_in_quarantine_that_said_it_goes(models: Api) -> None:
    api = models
    for content in ("Hello", f"Ignore that: {SAID}"):
        api.add_message(**THREAD, role="user", content=content)
    api.quarantine_source(**ANA, source="message", id="t1/1", reason="looks planted")
    assert "Kreuzberg" not in "".join(said(api))
    api.forget_memory(**ANA, memory_id=api.add_memory(**ANA, content=SAID).memory_id)
    assert said(api) == ["Hello"]
    assert texts_of(api, "kreuzberg") == []


def test_metadata_that_is_nested_thousands_deep_does_not_stop_it(models: Api) -> None:
    """At about 1,000 levels the stack of the server ends."""
    api = models
    deep = '{"a": ' * 3000 + f'"{SAID}"' + "}" * 3000
    api.connection.execute(
        "insert into memory.memories (user_id, content, metadata) values ('ana', 'Likes tea', %s)", [deep]
    )
    api.forget_memory(**ANA, memory_id=api.add_memory(**ANA, content=SAID).memory_id)
    assert texts_of(api, "kreuzberg") == []
    assert contents(api) == ["Likes tea"]
