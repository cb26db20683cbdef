"""Erasures and imports meet calls that lock the same rows: one waits for the other, and no two wait for each other.

Each test holds a row, so that both calls begin while it is held, and lets it go when both wait. A deadlock shows as
40P01 in one of them.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import psycopg
import pytest

from tests.erasure.conftest import rows
from tests.support.runners import PATIENCE
from tests.support.sessions import Sessions, code
from tests.support.sqlapi import NO_WAIT, Api, refused, result_of

pytestmark = pytest.mark.feature("F5")

ANA = {"user_id": "ana"}
SAID = "Lives in Kreuzberg, in Berlin"


def claimed(api: Api, kind: str) -> Any:
    [job] = api.claim_jobs(worker="w", kinds=[kind], **ANA)
    return job


# What others make while an erasure waits ------------------------------------------------------------------------------


@pytest.fixture
def begun(sessions: Sessions) -> tuple[Future[Any], Api, psycopg.Connection]:
    """A forget_memory that has begun and waits for a counter, its session, and the session that holds the counter."""
    memory = sessions.api.add_memory(**ANA, content=SAID).memory_id
    holding = sessions.hold("select from memory.memory_scopes for update")
    session = sessions.new()
    call = sessions.pool.submit(session.forget_memory, **ANA, memory_id=memory)
    sessions.until_waiting(session, call)
    return call, session, holding


def test_forget_memory_gives_way_to_who_holds_a_counter_that_was_made_meanwhile(sessions: Sessions, begun: Any) -> None:
    call, session, holding = begun
    writer = sessions.new()
    late = {**ANA, "agent_id": "late"}
    said, tea = (writer.add_memory(**late, content=content).memory_id for content in (SAID, "Likes tea"))
    with writer.connection.transaction():
        writer.add_memory(**late, content="Likes milk")  # holds the counter
        holding.rollback()
        sessions.until_waiting(session, call, writer)
        writer.supersede_memory(**ANA, old_memory_id=said, new_memory_id=tea, reason="by hand")
    assert call.result(PATIENCE)["tables"]["memories"] == 2
    assert sorted(memory.content for memory in sessions.api.list_memories(**ANA)) == ["Likes milk", "Likes tea"]


def test_forget_memory_finds_what_a_job_stores_meanwhile_under_a_new_counter(sessions: Sessions) -> None:
    api, worker = sessions.api, sessions.new()
    memory = api.add_memory(**ANA, content=SAID).memory_id
    api.add_message(**ANA, thread_id="t", role="user", content="I have moved", agent_id="late")
    api.extract_memories(**ANA, thread_id="t")
    job = claimed(api, "extract_memories")
    holding = sessions.hold("select from memory.memory_scopes where agent_id = 'default' for update")
    session = sessions.new()
    call = sessions.pool.submit(session.forget_memory, **ANA, memory_id=memory)
    sessions.until_waiting(session, call)
    with worker.connection.transaction():
        result = {"memories": [{"content": SAID, "memory_type": "fact", "seqs": [0]}]}
        worker.complete_job(**ANA, job_id=job.job_id, lease_token=job.lease_token, result=result)
        holding.rollback()
        sessions.until_waiting(session, call, worker)
    assert call.result(PATIENCE)["tables"]["memories"] == 2
    assert api.list_memories(**ANA) == []


def test_what_a_model_says_stays_out_when_it_was_forgotten_while_its_writer_waited(sessions: Sessions) -> None:
    api = sessions.api
    memory = api.add_memory(**ANA, content=SAID).memory_id
    with api.connection.transaction():
        api.forget_memory(**ANA, memory_id=memory)
        call = sessions.start("add_memory", **ANA, content=SAID, source="extraction")
    assert call.result(PATIENCE).memory_id is None
    assert api.list_memories(**ANA) == []


@pytest.mark.parametrize("change", ["reworded", "deleted"])
def test_forget_user_leaves_embeddings_and_history_of_a_new_counter_to_their_writer(
    sessions: Sessions, change: str
) -> None:
    api, writer, session = sessions.api, sessions.new(), sessions.new()
    api.register_model(name="m", kind="embedding", provider="openai", model="m")
    api.activate_model(name="m")
    api.store_artifact(**ANA, content="A plan", key="plan")
    holding = sessions.hold("select from memory.artifacts for update")
    call = sessions.pool.submit(session.forget_user, **ANA)
    sessions.until_waiting(session, call)
    ids = [writer.add_memory(**ANA, agent_id="late", content=f"Likes {what}").memory_id for what in ("tea", "beer")]
    for number in range(2):
        for memory in ids:
            writer.update_memory(**ANA, memory_id=memory, content=f"Likes much {memory} {number}")
    writer.connection.execute(
        "insert into memory.embeddings (user_id, source, id, model, hash, embedding)"
        " select user_id, source, id, 'm2', hash, '[1]' from memory.texts where source = 'memory'"
    )

    def write(memory: Any) -> None:
        if change == "reworded":  # which drops the embedding
            writer.update_memory(**ANA, memory_id=memory, content=f"Likes little {memory}")
        else:  # with its history
            writer.connection.execute("delete from memory.memories where memory_id = %s", [memory])

    with writer.connection.transaction():
        writer.add_memory(**ANA, agent_id="late", content="Likes milk")  # holds the counter
        write(ids[1])
        holding.rollback()
        sessions.until_waiting(session, call, writer)
        write(ids[0])
    assert call.result(PATIENCE)["tables"]["artifacts"] == 1
    assert rows(api, "ana") == {}


# Rows that an erasure removes, and that others lock in their own order ------------------------------------------------


@pytest.mark.parametrize("writes", ["piece", "artifact", "document"])
def test_forget_user_and_who_locks_a_whole_before_its_parts(sessions: Sessions, writes: str) -> None:
    api = sessions.api
    upload = api.add_artifact_piece(**ANA, content="The beginning")
    api.store_artifact(**ANA, content="A plan", key="plan")
    document = api.add_document(**ANA, content="Tea is green. " * 2000)
    table = {"piece": "artifact_parts", "artifact": "artifact_parts", "document": "document_chunks"}[writes]
    holding = sessions.hold(f"select from memory.{table} for update")
    erasing = sessions.start("forget_user", **ANA)
    other = {
        "piece": lambda: sessions.start("add_artifact_piece", **ANA, content="The end", upload_id=upload),
        "artifact": lambda: sessions.start("store_artifact", **ANA, content=None, key="plan", upload_id=upload),
        "document": lambda: sessions.start("delete_document", **ANA, document_id=document),
    }[writes]()
    holding.rollback()
    assert code(erasing) is None
    assert code(other) in (None, "P0002")  # there is no such upload any more
    api.forget_user(**ANA)
    assert rows(api, "ana") == {}


@pytest.mark.parametrize(
    ("erases", "kind"),
    [("forget_user", "parse_artifacts"), ("forget_memory", "chunk_documents"), ("forget_user", "summarize_user")],
)
def test_an_erasure_and_a_job_that_ends(sessions: Sessions, erases: str, kind: str) -> None:
    api = sessions.api
    api.register_model(name="c", kind="chat", provider="openai", model="c")
    api.activate_model(name="c")
    memory = api.add_memory(**ANA, content=SAID).memory_id
    api.store_artifact(**ANA, content=f"{SAID}, so he says", key="plan")
    api.add_document(**ANA, content=f"{SAID}. " * 2000)
    api.connection.execute("update memory.documents set source = 'archive', thread_id = 't'")
    for rounds in range(2 if kind == "summarize_user" else 1):  # the second summary finds marks of the first
        api.add_message(**ANA, thread_id="t", role="user", content=f"{SAID} {rounds}")
        api.summarize_user(**ANA)
        job = claimed(api, kind)
        lease = {"job_id": job.job_id, "lease_token": job.lease_token, "result": result_of(job, "He talked", SAID)}
        if rounds == 0 and kind == "summarize_user":
            api.complete_job(**ANA, **lease)
    holding = sessions.hold(f"select from memory.jobs where job_id = {job.job_id} for update")
    erasing = sessions.start(erases, **ANA, **({"memory_id": memory} if erases == "forget_memory" else {}))
    ending = sessions.start("complete_job", **ANA, **lease)
    holding.rollback()
    assert code(erasing) is None
    assert code(ending) in (None, "AM001", "55P03")  # it may have ended before, or must be handed in again
    assert api.query("select from memory.memories where user_id = 'ana'") == []
    if erases == "forget_user":
        api.forget_user(**ANA)  # the job may have ended after the erasure had read how far summaries reach
        assert rows(api, "ana") == {}


def test_forget_user_and_the_last_attempt_to_describe_an_artifact(sessions: Sessions) -> None:
    api = sessions.api
    api.register_model(name="c", kind="chat", provider="openai", model="c")
    api.activate_model(name="c")
    api.set_policy(settings={"artifacts": {"describe": True}}, **ANA)
    api.add_message(**ANA, thread_id="t", role="tool", content="A line of output\n" * 2000)
    job = claimed(api, "describe_artifact")
    api.connection.execute("update memory.jobs set max_attempts = 1 where job_id = %s", [job.job_id])
    holding = sessions.hold("select from memory.artifact_parts for update")
    erasing = sessions.start("forget_user", **ANA)
    failing = sessions.start("fail_job", **ANA, job_id=job.job_id, lease_token=job.lease_token, error="no answer")
    holding.rollback()
    assert code(erasing) is None
    assert code(failing) is None
    assert rows(api, "ana") == {}


@pytest.mark.parametrize("erases", ["forget_memory", "forget_user", "merge_users"])
def test_an_erasure_and_a_claim_that_goes_on_to_its_threads(sessions: Sessions, erases: str) -> None:
    """The claim waits for a thread in spite of NOWAIT, because somebody has updated the thread since the snapshot."""
    api, claiming, erasing = (
        sessions.api,
        sessions.new(options="-c deadlock_timeout=1min"),
        sessions.new(options="-c deadlock_timeout=500ms"),
    )
    api.register_model(name="c", kind="chat", provider="openai", model="c")
    api.activate_model(name="c")
    memory = api.add_memory(**ANA, content=SAID).memory_id
    api.add_message(**ANA, thread_id="t", role="user", content="Hello")
    api.add_document(**ANA, content="A long text. " * 2000)
    api.summarize_thread(**ANA, thread_id="t")
    with claiming.connection.transaction():
        claiming.connection.execute("set transaction isolation level repeatable read")
        assert claimed(claiming, "chunk_documents")
        api.connection.execute("update memory.threads set first_at = first_at where thread_id = 't'")
        arguments: dict[str, Any] = {
            "forget_memory": {**ANA, "memory_id": memory},
            "forget_user": ANA,
            "merge_users": {"from_user_id": "ana", "into_user_id": "bob"},
        }[erases]
        call = sessions.pool.submit(getattr(erasing, erases), **arguments)
        sessions.until_waiting(erasing, call, claiming)
        assert claimed(claiming, "summarize_thread")
    assert code(call) is None
    assert api.query("select from memory.memories where user_id = 'ana'") == []


def put(api: Api, thread: str, checkpoint: str) -> None:
    api.put_checkpoint(
        **ANA,
        thread_id=thread,
        checkpoint_id=checkpoint,
        checkpoint={"channel_versions": {"c": checkpoint}},
        metadata={"run_id": "r"},
        channels=["c"],
        versions=[checkpoint],
        types=["t"],
        blobs="{x}",
    )


@pytest.mark.parametrize(
    ("function", "arguments", "held"),
    [
        ("delete_checkpoints", {"run_ids": ["r"]}, "checkpoints"),
        ("prune_checkpoints", {"thread_ids": ["u", "t"]}, "checkpoint_blobs"),
    ],
)
def test_forget_user_and_who_deletes_checkpoints(
    sessions: Sessions, function: str, arguments: dict[str, Any], held: str
) -> None:
    for thread, checkpoint in (("u", "2"), ("t", "2"), ("u", "1"), ("t", "1")):
        put(sessions.api, thread, checkpoint)
    holding = sessions.hold(f"select from memory.{held} where thread_id = 't' for update")
    deleting = sessions.start(function, **ANA, **arguments)
    erasing = sessions.start("forget_user", **ANA)
    holding.rollback()
    assert (code(deleting), code(erasing)) == (None, None)
    assert rows(sessions.api, "ana") == {}


def test_a_merge_and_who_stores_an_artifact_of_a_name_before_its_thread(sessions: Sessions) -> None:
    """The artifact of the message is stored, its thread is locked by the merge, and the first user has the key, too."""
    api = sessions.api
    told = {"role": "tool", "metadata": {"command": "make"}}
    api.add_message(user_id="ana", thread_id="hers", content="A line of hers\n" * 2000, **told)
    api.add_message(user_id="bob", thread_id="t", role="user", content="Hello")
    holding = sessions.hold("select from memory.threads where user_id = 'bob' for update")
    merging = sessions.start("merge_users", from_user_id="ana", into_user_id="bob")
    adding = sessions.start("add_message", user_id="bob", thread_id="t", content="A line of his\n" * 2000, **told)
    holding.rollback()
    assert (code(merging), code(adding)) == (None, None)
    keys = {row.key for row in api.list_artifacts(user_id="bob")}
    assert len(keys) == 2
    named = [row[0] for row in api.query("select artifact_key from memory.messages where artifact_key is not null")]
    assert sorted(named) == sorted(keys)


# Imports --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def parts(sessions: Sessions) -> dict[str, dict[str, Any]]:
    """An export of a user who is not there any more, in parts: one of each kind."""
    api = sessions.api
    api.store_artifact(**ANA, content="A plan", key="make")
    api.add_message(**ANA, thread_id="t", role="user", content="Hello")
    api.add_memory(**ANA, content="Likes tea")
    parts: dict[str, dict[str, Any]] = {}
    after = None
    while after or not parts:
        part = api.export_user(**ANA, max_rows=100, after=after)
        after = part.pop("next")
        [kind] = set(part) - {"format", "format_version", "user_id"}
        parts[kind] = part
    with api.connection.transaction():
        api.forget_user(**ANA)
        api.connection.execute("delete from memory.tombstones")
    return parts


def test_an_import_refuses_what_others_wrote_meanwhile(sessions: Sessions, parts: dict[str, dict[str, Any]]) -> None:
    api, importer, writer = sessions.api, sessions.new(options=NO_WAIT), sessions.new()
    late = {**ANA, "thread_id": "late", "role": "user"}
    with importer.connection.transaction():
        for part in list(parts.values())[:-1]:
            importer.import_user(**ANA, export=part, is_last=False)
        writer.add_message(**late, content="One")
        with writer.connection.transaction():
            writer.add_message(**late, content="Two")
            # It does not wait for the writer. When it did, it set the writer's counter to 1 in the end.
            with refused("user_id", "23505") as error:
                importer.import_user(**ANA, export=list(parts.values())[-1])
        assert "was written to while the export was imported" in str(error.value)
        raise psycopg.Rollback
    [thread] = api.list_threads(**ANA)
    assert (thread.thread_id, thread.message_count) == ("late", 2)


def test_an_import_stores_artifacts_before_it_locks_threads(
    sessions: Sessions, parts: dict[str, dict[str, Any]]
) -> None:
    """As a long message does, which becomes an artifact before its thread is locked."""
    importer = sessions.new()
    adding = None
    with importer.connection.transaction():
        for number, (kind, part) in enumerate(parts.items(), 1):
            importer.import_user(**ANA, export=part, is_last=number == len(parts))
            if adding is None and kind in ("artifacts", "threads"):
                adding = sessions.start(
                    "add_message",
                    **ANA,
                    thread_id="t",
                    role="tool",
                    content="A line of output\n" * 1000,
                    metadata={"command": "make"},
                )
                assert not adding.done()
    assert adding
    assert adding.result(PATIENCE).seq == 1
