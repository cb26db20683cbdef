"""Results of the client: what each method returns, as typed rows."""

import inspect
import pickle
import uuid
from dataclasses import FrozenInstanceError, asdict, replace
from datetime import datetime, timedelta, timezone
from typing import Any

import psycopg
import pytest
from agent_memory import (
    AddedMemory,
    Backfill,
    ConflictError,
    DegradedWarning,
    InvalidValueError,
    Memory,
    MemoryNeed,
    Message,
    NotFoundError,
    StoredArtifact,
    StoredMessage,
)
from agent_memory.calls import WorkerProtocol
from psycopg.types.json import set_json_loads


class TestResults:
    def test_messages(self, memory: Memory) -> None:
        stored = memory.add_message("ana", "t1", "user", "Hello", metadata={"channel": "mail"})
        assert stored == StoredMessage(seq=0, content="Hello", token_count=2, memory_ref=None)
        later = datetime(2030, 1, 1, tzinfo=timezone.utc)
        memory.add_messages(
            "ana",
            "t1",
            [
                {"role": "assistant", "content": "Hi", "created_at": later},
                {"role": "user", "name": "Ana", "content": "Bye"},
            ],
            agent_id="helper",
        )
        first, second, third = memory.get_messages("ana", "t1")
        assert (first.metadata, first.agent_id, first.is_active) == ({"channel": "mail"}, "default", True)
        assert first.expires_at is not None
        assert first.expires_at - first.created_at == timedelta(days=7)
        assert (second.created_at, second.agent_id) == (later, "helper")
        assert third.metadata == {"name": "Ana"}
        assert [message.seq for message in memory.get_messages("ana", "t1", recent_k=1)] == [2]

    def test_threads(self, memory: Memory) -> None:
        memory.add_message("ana", "t1", "user", "Hello")
        [thread] = memory.list_threads("ana")
        assert (thread.thread_id, thread.message_count, thread.total_count) == ("t1", 1, 1)
        assert memory.get_thread_summary("ana", "t1") is None
        assert memory.clear_thread("ana", "t1") == 1
        assert memory.get_messages("ana", "t1") == []
        assert memory.delete_thread("ana", "t1") == 1

    def test_memories(self, memory: Memory) -> None:
        added = memory.add_memory("ana", "Likes tea", "preference", tags=["drinks"], confidence=0.9, importance=1)
        assert isinstance(added, AddedMemory)
        assert added.inserted
        assert memory.add_memory("ana", "likes  TEA", "preference") == AddedMemory(added.memory_id, inserted=False)
        assert memory.update_memory("ana", added.memory_id, content="Likes green tea", expected_version=1) == 2
        record = memory.get_memory("ana", str(added.memory_id))
        assert (record.content, record.tags, record.version) == ("Likes green tea", ["drinks"], 2)
        assert record.confidence == pytest.approx(0.9)
        assert record.created_at.tzinfo is not None
        assert [version.content for version in memory.get_memory_history("ana", added.memory_id)] == [
            "Likes tea",
            "Likes green tea",
        ]
        newer = memory.add_memory("ana", "Likes coffee", "preference")
        memory.supersede_memory("ana", added.memory_id, newer.memory_id, "changed her mind")
        assert [item.content for item in memory.list_memories("ana")] == ["Likes coffee"]
        assert memory.restore_memory("ana", added.memory_id) == 4
        assert memory.list_memories("ana", search="green", tags_all=["drinks"])[0].total_count == 1
        assert memory.count_memories("ana", search="green", tags_all=["drinks"]) == 1
        assert "1. Likes" in memory.render_memories("ana", max_memories=1)
        assert memory.delete_memory("ana", newer.memory_id) is True
        assert memory.delete_memory("ana", newer.memory_id) is False

    def test_search_and_context(self, memory: Memory) -> None:
        memory.add_memory("ana", "Allergic to hazelnuts", metadata={"from": "chat"})
        memory.add_message("ana", "t1", "user", "What am I allergic to?")
        [result] = memory.search("ana", "allergic", mode="keyword", filter={"from": "chat"}, explain=True, top_k=3)
        assert (result.source, result.content, result.metadata) == (
            "memory",
            "Allergic to hazelnuts",
            {"from": "chat"},
        )
        assert 0 < result.score <= 1
        assert [(part.ordinal, part.role, part.source) for part in memory.get_context("ana", "t1", "allergic")] == [
            (1, "system", "memories"),
            (2, "user", "message"),
        ]
        explained = memory.get_context("ana", "t1", "allergic", recall=False, explain=True)
        assert explained[-1].ordinal is None
        assert explained[-1].metadata["reason"] == "the call switches recall off"
        assert [message["role"] for message in explained.to_openai()] == ["system", "user"]
        # No embedding model is active, so what the vector does is not the point: it arrives as one.
        with pytest.warns(DegradedWarning):
            assert memory.render_memories("ana", query_embedding=[0.5, 1, -2e-9]) != ""

    @pytest.mark.feature("C8")
    def test_need_of_memory(self, memory: Memory) -> None:
        need = memory.needs_memory("ana", "t1", "What is my name?")
        assert isinstance(need, MemoryNeed)
        assert (need.decision, need.details["search_from"]) == ("search", 0.5)
        assert "my" in need.reason
        with pytest.raises(InvalidValueError, match="query"):
            memory.needs_memory("ana", "t1", " ")

    def test_jobs(self, memory: Memory) -> None:
        memory.add_message("ana", "t1", "user", "My name is Ana.")
        job_id = memory.extract_memories("ana", "t1", recent_k=5)
        assert memory.get_job("ana", job_id).status == "pending"
        [job] = WorkerProtocol(memory.caller).claim_jobs(
            "me", kinds=["extract_memories"], max_jobs=5, lease=timedelta(seconds=30)
        )
        assert (job.job_id, job.user_id, job.attempt) == (job_id, "ana", 1)
        assert job.payload["messages"][0]["content"] == "My name is Ana."
        WorkerProtocol(memory.caller).extend_job("ana", job_id, job.lease_token, timedelta(minutes=1))
        WorkerProtocol(memory.caller).release_job("ana", job_id, job.lease_token)
        [job] = WorkerProtocol(memory.caller).claim_jobs("me")
        assert (
            WorkerProtocol(memory.caller).fail_job(
                "ana", job_id, job.lease_token, "no luck", retry_after=timedelta(hours=1)
            )
            == "pending"
        )
        memory.retry_job("ana", job_id)
        [job] = WorkerProtocol(memory.caller).claim_jobs("me")
        found = {"content": "My name is Ana.", "memory_type": "fact", "confidence": 0.9, "importance": 0.9, "seqs": [0]}
        WorkerProtocol(memory.caller).complete_job("ana", job_id, job.lease_token, {"memories": [found]})
        done = memory.get_job("ana", job_id)
        assert (done.status, done.error) == ("completed", None)
        assert done.result is not None
        assert done.finished_at is not None
        assert isinstance(memory.summarize_thread("ana", "t1", recent_k=3), int)

    @pytest.mark.feature("F7")
    def test_calls_of_models_are_entered(self, db: psycopg.Connection, memory: Memory) -> None:
        memory.add_message("ana", "t1", "user", "My name is Ana.")
        job_id = memory.extract_memories("ana", "t1")

        def lease() -> tuple[str, int, uuid.UUID]:
            [job] = WorkerProtocol(memory.caller).claim_jobs("me")
            return job.user_id, job.job_id, job.lease_token

        def call(tokens: int, error: str | None = None) -> list[dict[str, Any]]:
            return [{"model": "local", "tokens_in": tokens, "tokens_out": 1, "duration_ms": 12, "error": error}]

        WorkerProtocol(memory.caller).release_job(*lease(), calls=call(1, "slow down"))
        WorkerProtocol(memory.caller).fail_job(*lease(), "no luck", retry_after=timedelta(0), calls=call(2, "no luck"))
        WorkerProtocol(memory.caller).complete_job(*lease(), {"memories": []}, calls=call(3))
        WorkerProtocol(memory.caller).record_calls("ana", job_id, call(4, "cancelled"))
        ledger = db.execute("select tokens_in, tokens_out, duration_ms, error from memory.model_calls order by 1")
        assert ledger.fetchall() == [
            (1, 1, 12, "slow down"),
            (2, 1, 12, "no luck"),
            (3, 1, 12, None),
            (4, 1, 12, "cancelled"),
        ]

    def test_summaries(self, memory: Memory) -> None:
        memory.add_messages("ana", "t1", [{"role": role, "content": f"{role} 1"} for role in ("user", "assistant")])
        requests = [
            memory.summarize_thread("ana", "t1"),
            memory.summarize_user("ana"),
            memory.compress_thread("ana", "t1"),
        ]
        assert len(set(requests)) == 3
        assert (memory.get_thread_summary("ana", "t1", kind="rolling"), memory.get_user_summary("ana")) == (None, None)
        for kind in ("summarize_thread", "summarize_user"):
            [job] = WorkerProtocol(memory.caller).claim_jobs("me", kinds=[kind])
            result = {"summary": f"by {kind}", "metadata": {"topics": ["x"]}}
            WorkerProtocol(memory.caller).complete_job(job.user_id, job.job_id, job.lease_token, result, calls=[])
        thread, user = memory.get_thread_summary("ana", "t1", kind="rolling"), memory.get_user_summary("ana")
        assert thread is not None
        assert user is not None
        assert (thread.summary, thread.start_seq, thread.end_seq) == ("by summarize_thread", 0, 1)
        assert (user.summary, user.metadata) == ("by summarize_user", {"topics": ["x"]})
        assert memory.get_thread_summary("ana", "t1", kind="thread") is None

    def test_work_over_the_memories_of_a_user(self, memory: Memory) -> None:
        jobs = [memory.reconcile_memories("ana", n=7), memory.consolidate("ana")]
        assert [memory.get_job("ana", job_id).kind for job_id in jobs] == ["reconcile_memories", "consolidate"]

    def test_documents(self, memory: Memory) -> None:
        ids = [
            memory.add_document("ana", "Tea", f"Part {number}", "notes", "article", {"part": number})
            for number in (1, 2, 3)
        ]
        assert {document.document_id for document in memory.list_documents("ana")} == set(ids)
        assert memory.list_documents("ana")[0].metadata == {"part": 3}
        first, second = memory.list_documents("ana", namespace="notes", doc_type="article", row_limit=2)
        assert (first.namespace, first.doc_type, first.content, first.thread_id) == ("notes", "article", "Tea", None)
        assert first.title != second.title
        assert first.total_count == 3
        assert memory.list_documents("ana", doc_type="conversation") == []
        assert memory.list_documents("bob") == []
        assert memory.delete_document("ana", str(first.document_id)) is True
        assert memory.delete_document("ana", first.document_id) is False
        assert first.document_id not in {document.document_id for document in memory.list_documents("ana")}

    def test_artifacts(self, memory: Memory) -> None:
        stored = memory.store_artifact(
            "ana",
            "Green tea ☕",
            "Tea",
            "log",
            "file",
            "cook",
            "t1",
            {"part": 1},
            datetime(2999, 1, 1, tzinfo=timezone.utc),
        )
        assert stored == StoredArtifact("log", "[MemoryRef: log - Tea - 4 tokens]", 4)
        assert memory.retrieve_artifact("ana", "log") == "Green tea ☕"
        assert [memory.retrieve_artifact("ana", "log", start, 2) for start in (0, 2, 4)] == ["Green te", "a ☕", ""]
        plain = memory.store_artifact("ana", "Black tea")
        [artifact] = memory.list_artifacts("ana", artifact_type="file", thread_id="t1")
        assert (artifact.key, artifact.memory_ref, artifact.description) == ("log", stored.memory_ref, "Tea")
        assert (artifact.agent_id, artifact.metadata, artifact.total_count) == ("cook", {"part": 1}, 1)
        assert artifact.expires_at == datetime(2999, 1, 1, tzinfo=timezone.utc)
        newest = memory.list_artifacts("ana", row_limit=1)[0]
        assert (newest.key, newest.artifact_type, newest.expires_at) == (plain.key, "command_output", None)
        hits = memory.search("ana", "tea", mode="keyword", sources=["artifact"])
        shown = {f"{stored.memory_ref}\nGreen tea ☕", f"{plain.memory_ref}\nBlack tea"}
        assert {hit.content for hit in hits} == shown
        with pytest.raises(ConflictError):
            memory.store_artifact("ana", "Coffee", key="log")
        with pytest.raises(NotFoundError):
            memory.retrieve_artifact("bob", "log")
        assert [memory.delete_artifact(user_id, "log") for user_id in ("bob", "ana", "ana")] == [False, True, False]
        assert [artifact.key for artifact in memory.list_artifacts("ana")] == [plain.key]

    def test_documents_are_searched_by_type_and_namespace(self, memory: Memory) -> None:
        plain = memory.add_document("ana", "Green tea")
        guide = memory.add_document("ana", "Black tea", "On tea", namespace="notes", doc_type="guide")
        memory.add_memory("ana", "Likes tea")

        def found(**choice: Any) -> set[str]:
            return {result.id for result in memory.search("ana", "tea", mode="keyword", sources=["document"], **choice)}

        assert found() == {str(plain), str(guide)}
        assert found(doc_types=["guide", "article"]) == found(namespaces=["notes"]) == {str(guide)}
        assert found(doc_types=["document"], namespaces=["notes"]) == set()
        [result] = memory.search("ana", "black", mode="keyword", sources=["document"])
        assert result.details is not None
        assert (result.details["title"], result.details["namespace"], result.details["doc_type"]) == (
            "On tea",
            "notes",
            "guide",
        )

    @pytest.mark.feature("E9")
    def test_prompts(self, db: psycopg.Connection, memory: Memory) -> None:
        edited = memory.admin.set_prompt("consolidate", "Merge what belongs together. {{memories}}")
        assert memory.admin.reset_prompt("consolidate") == edited + 1
        with pytest.raises(InvalidValueError, match="memories"):
            memory.admin.set_prompt("consolidate", "Merge what belongs together.")
        with pytest.raises(NotFoundError) as raised:
            memory.admin.reset_prompt("nonsense")
        assert "consolidate" in (raised.value.hint or "")
        prompt = db.execute("select version, is_default from memory.prompts where name = 'consolidate'").fetchone()
        assert prompt == (edited + 1, True)

    def test_schedule_jobs_needs_pg_cron(self, memory: Memory) -> None:
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="pg_cron"):
            memory.admin.schedule_jobs(every="30 seconds", sweep_at="0 4 * * *")

    def test_administration(self, db: psycopg.Connection, memory: Memory) -> None:
        memory.admin.set_policy({"messages": {"expires_after": None}, "context": {"max_tokens": 123}}, user_id="ana")
        assert memory.admin.get_policy(user_id="ana")["context"]["max_tokens"] == 123
        assert memory.admin.get_policy()["context"]["max_tokens"] == 4000
        memory.add_message("ana", "monday", "user", "Hello")
        db.execute("update memory.messages set expires_at = now() - interval '1 s'")
        assert memory.admin.sweep(batch_size=10)["messages"] == 1
        [version] = [check for check in memory.admin.doctor() if check.check_name == "version"]
        assert (version.ok, memory.version() in version.detail) == (True, True)

    def test_embedding_models(self, memory: Memory) -> None:
        assert memory.admin.backfill_status() == []
        memory.add_memory("ana", "Likes tea")
        for name in ("old", "new"):
            memory.admin.register_model(
                name, "embedding", "openai", "some-model", {"base_url": "http://localhost:1/v1"}
            )
        memory.admin.activate_model("new")
        assert {status.model: status for status in memory.admin.backfill_status()} == {
            "old": Backfill("old", done=0, total=1, is_active=False),
            "new": Backfill("new", done=0, total=1, is_active=True),
        }
        with pytest.raises(ConflictError, match="new"):
            memory.admin.drop_model("new")
        memory.admin.deactivate_model("new")
        assert [status.is_active for status in memory.admin.backfill_status()] == [False, False]
        memory.admin.activate_model("new")
        memory.admin.drop_model("old")
        assert [status.model for status in memory.admin.backfill_status()] == ["new"]
        with pytest.raises(NotFoundError):
            memory.admin.drop_model("old")
        memory.admin.register_model("short", "embedding", "openai", "some-model", {"dimensions": 3})
        [statement] = memory.admin.vector_index("short")
        assert statement.startswith("create index concurrently")
        with pytest.raises(InvalidValueError, match="model"):
            memory.admin.vector_index("new")

    def test_infinite_times(self, memory: Memory) -> None:
        memory.add_message("ana", "t1", "user", "Keep this", expires_at=datetime.max)
        assert memory.get_messages("ana", "t1")[0].expires_at is None
        memory_id = memory.add_memory("ana", "Brief", expires_at=datetime(2100, 1, 1, tzinfo=timezone.utc)).memory_id
        memory.update_memory("ana", memory_id, expires_at=datetime.max.replace(tzinfo=timezone.utc))
        assert memory.get_memory("ana", memory_id).expires_at is None

    @pytest.mark.parametrize("moment", ["infinity", "-infinity", "0044-03-15 BC", "20000-01-01"])
    def test_a_time_that_datetime_cannot_hold_breaks_no_list(
        self, db: psycopg.Connection, memory: Memory, moment: str
    ) -> None:
        memory.add_memory("ana", "Brief")
        db.execute("alter table memory.memories disable trigger user")
        db.execute("update memory.memories set valid_from = %s, created_at = %s", (moment, moment))
        [row] = memory.list_memories("ana")
        assert {row.valid_from, row.created_at} == {None}

    def test_times_and_ids_inside_json_become_text(self, memory: Memory) -> None:
        key, moment = uuid.uuid4(), datetime(2025, 5, 1, tzinfo=timezone.utc)
        memory.add_message("ana", "t1", "user", "x", metadata={"key": key, "moment": moment})
        assert memory.get_messages("ana", "t1")[0].metadata == {"key": str(key), "moment": moment.isoformat()}

    def test_columns_of_a_newer_database_are_ignored(self, db: psycopg.Connection, memory: Memory) -> None:
        memory.add_message("ana", "t1", "user", "x")
        definition = "returns table (thread_id text, title text, metadata jsonb, message_count bigint,"
        db.execute("drop function memory.list_threads")
        db.execute(
            f"create function memory.list_threads(user_id text) {definition} active_tokens bigint,"
            " first_at timestamptz, last_at timestamptz, total_count bigint, mood text) begin atomic"
            " select 't1', null::text, jsonb '{}', 1, 1, now(), now(), 1, 'new'; end"
        )
        assert memory.list_threads("ana")[0].thread_id == "t1"


def test_results_are_plain_data(memory: Memory) -> None:
    memory.add_message("ana", "t1", "user", "x")
    assert asdict(memory.list_threads("ana")[0])["thread_id"] == "t1"


def test_results_cannot_be_changed(memory: Memory) -> None:
    memory.add_message("ana", "t1", "user", "x")
    [message] = memory.get_messages("ana", "t1")
    assert type(message) is Message
    assert message == replace(message)
    assert hash(replace(message, metadata=())) == hash(replace(message, metadata=()))  # type: ignore[arg-type]
    with pytest.raises(FrozenInstanceError):
        message.content = "y"  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(message)) == message


@pytest.mark.parametrize(
    "metadata", [{}, {"ä": ["\n\\", 1, -2.5, 10**30, 1.5, None, True, {"": []}]}], ids=["none", "all"]
)
def test_metadata_comes_back_as_it_was(memory: Memory, metadata: dict[str, Any]) -> None:
    memory.add_message("ana", "t1", "user", "x", metadata=metadata)
    assert memory.get_messages("ana", "t1")[0].metadata == metadata


def test_a_callers_own_way_of_reading_json_stays(db: psycopg.Connection) -> None:
    set_json_loads(lambda text: {"read": text}, db)
    memory = Memory(db)
    memory.add_message("ana", "t1", "user", "x")
    assert memory.get_messages("ana", "t1")[0].metadata == {"read": b"{}"}


def test_results_print_short(memory: Memory) -> None:
    tea = memory.add_memory("ana", f"Prefers green tea, {'really ' * 100}", "preference", metadata={"a": 1}).memory_id
    memory.add_message("ana", "t1", "user", "Which tea\ndo I prefer?")
    [found] = memory.search("ana", "green tea", mode="keyword", sources=["memory"])
    assert str(found).startswith(f"{found.score:.2f} memory {found.created_at:%Y-%m-%d}: Prefers green tea, really")
    assert repr(found).startswith(f"SearchResult(source='memory', id='{tea}', content='Prefers green tea, really")
    assert "metadata={'a': 1}" in repr(found)
    assert "thread_id" not in repr(found)
    record = memory.get_memory("ana", tea)
    assert f"memory_id={tea}, memory_type='preference'" in repr(record)
    for printed in (str(found), repr(found), str(record), repr(record)):
        assert "…" in printed
        assert len(printed) < 500
    [message] = memory.get_messages("ana", "t1")
    assert str(message) == "user: Which tea do I prefer?"
    assert str(replace(message, content="a\x1b[2Jb")) == "user: a␛[2Jb"
    assert str(memory.get_context("ana", "t1")[-1]) == "user (message, 14 tokens): Which tea do I prefer?"


def test_help_shows_the_comment_of_the_function(db: psycopg.Connection) -> None:
    described = " ".join((inspect.getdoc(Memory.search) or "").split())
    assert db.execute("select obj_description('memory.search'::regproc, 'pg_proc')").fetchone() == (described,)
    assert "mode: 'Mode | None' = 'hybrid'" in str(inspect.signature(Memory.search))
