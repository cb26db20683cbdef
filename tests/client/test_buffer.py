"""The client's buffer: what is collected without a server, kept on disk, and pushed in one call."""

import contextlib
import multiprocessing
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory import (
    AgentMemoryError,
    Buffer,
    InvalidValueError,
    Memory,
    NotConnectedError,
    PermissionDeniedError,
    RetryableError,
)

pytestmark = pytest.mark.feature("E2")

OUT_OF_REACH = "host=/nonexistent"


@pytest.fixture
def away() -> Memory:
    """A client whose server is out of reach."""
    return Memory(OUT_OF_REACH)


def contents(memory: Memory, thread_id: str = "t1", user_id: str = "ana") -> list[str]:
    return [message.content for message in memory.get_messages(user_id, thread_id)]


def stop_removing(monkeypatch: pytest.MonkeyPatch, buffer: Buffer) -> None:
    """Let the next push end after it has stored everything and before it removes anything."""

    def killed(*_: object) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(buffer._spool, "settle", killed)


class TestCollecting:
    def test_no_server_is_needed(self, away: Memory, tmp_path: Path) -> None:
        buffer = away.buffer(tmp_path / "waiting")
        assert buffer.add_message("ana", "t1", "user", "hi") == 1
        assert buffer.add_messages("ana", "t1", [{"role": "assistant", "content": "hello"}]) == [2]
        assert buffer.add_memory("ana", "Prefers tea", tags=["drinks"], confidence=0.5) == 3
        with pytest.raises(NotConnectedError):
            buffer.push()
        assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
        assert len(buffer) == 3
        assert [(item.kind, item.error) for item in buffer.items()] == [
            ("message", None),
            ("message", None),
            ("memory", None),
        ]
        assert buffer.remove(1)
        assert not buffer.remove(1)
        assert len(buffer) == 2

    def test_wrong_types_are_refused_at_once(self, away: Memory) -> None:
        buffer = away.buffer()
        for wrong in (
            lambda: buffer.add_message("ana", "t1", "user", 5),  # type: ignore[arg-type]
            lambda: buffer.add_messages("ana", "t1", [{"role": "user", "content": "a\0b"}]),
            lambda: buffer.add_memory("ana", "x", memory_id="no uuid"),
        ):
            with pytest.raises(InvalidValueError):
                wrong()
        assert len(buffer) == 0

    def test_only_a_path_of_a_buffer_is_accepted(self, away: Memory, tmp_path: Path) -> None:
        text, database = tmp_path / "notes.txt", tmp_path / "other.db"
        text.write_text("My notes, which are no buffer. " * 100)
        with contextlib.closing(sqlite3.connect(database)) as other:
            other.execute("create table items (item_id integer)")
        for path in (text, database, tmp_path, tmp_path / "missing" / "file", "", "a\0b", 5):
            with pytest.raises(InvalidValueError, match=r"^path"):
                away.buffer(path)  # type: ignore[arg-type]
        assert text.read_text().startswith("My notes")

    def test_no_link_and_no_file_of_somebody_else_is_taken(self, away: Memory, tmp_path: Path) -> None:
        other = tmp_path / "other"
        other.write_text("")
        (tmp_path / "link").symlink_to(other)
        (tmp_path / "second-name").hardlink_to(other)
        (tmp_path / "beside-wal").symlink_to(other)
        for name in ("link", "second-name", "beside"):
            with pytest.raises(InvalidValueError, match=r"^path: .*(no regular file|second name)"):
                away.buffer(tmp_path / name)
        assert other.read_bytes() == b""

    def test_a_second_buffer_of_a_process_leaves_the_locks_of_the_first(self, away: Memory, tmp_path: Path) -> None:
        file = tmp_path / "waiting"
        with contextlib.closing(away.buffer(file)) as first, contextlib.closing(away.buffer(file)) as second:
            first.add_message("ana", "t", "user", "before")
            # SQLite removes the journal at the end of a process, unless locks say that others use the file.
            code = f"import sqlite3; c = sqlite3.connect({str(file)!r}); c.execute('select * from items'); c.close()"
            subprocess.run([sys.executable, "-c", code], check=True)
            assert (tmp_path / "waiting-wal").exists()
            assert len(second.items()) == 1

    def test_a_full_disk_changes_nothing(self, memory: Memory, tmp_path: Path) -> None:
        buffer = memory.buffer(tmp_path / "waiting")
        buffer.add_message("ana", "t1", "user", "small")
        assert buffer._spool._database is not None
        buffer._spool._database.execute("pragma max_page_count = 10")
        with pytest.raises(AgentMemoryError, match="disk is full"):
            buffer.add_messages("ana", "t1", [{"role": "user", "content": size * "x"} for size in (10, 1_000_000)])
        assert buffer.push().messages == 1
        assert contents(memory) == ["small"]

    def test_a_closed_buffer_takes_nothing(self, away: Memory, caplog: pytest.LogCaptureFixture) -> None:
        buffer = away.buffer()
        buffer.add_message("ana", "t1", "user", "lost")
        buffer.close()
        buffer.close()
        assert "closed with 1 item not pushed" in caplog.text
        with pytest.raises(AgentMemoryError, match="closed"):
            buffer.add_message("ana", "t1", "user", "x")
        with pytest.raises(AgentMemoryError, match="closed"):
            buffer.push()

    def test_a_forked_process_goes_on_with_the_file(self, memory: Memory, tmp_path: Path) -> None:
        buffer = memory.buffer(tmp_path / "waiting")
        buffer.add_message("ana", "t1", "user", "parent")
        child = multiprocessing.get_context("fork").Process(
            target=buffer.add_message, args=("ana", "t1", "user", "child")
        )
        child.start()
        child.join()
        assert child.exitcode == 0
        buffer.add_message("ana", "t1", "user", "parent again")
        buffer.push()
        assert contents(memory) == ["parent", "child", "parent again"]


class TestPush:
    def test_everything_is_stored_in_order_in_one_transaction(self, db: psycopg.Connection, memory: Memory) -> None:
        db.execute(
            "create table transactions (xid xid8 primary key);"
            "create function note() returns trigger language plpgsql as $$begin"
            " insert into public.transactions values (pg_current_xact_id()) on conflict do nothing; return null; end$$;"
            "create trigger note after insert on memory.messages execute function note();"
            "create trigger note after insert on memory.memories execute function note()"
        )
        buffer = memory.buffer()
        started = datetime.now(timezone.utc)
        for number in range(50):
            buffer.add_message("ana", f"t{number % 3}", "user", f"{number}", agent_id=f"agent {number % 2}")
            buffer.add_memory(
                "ana", f"Memory {number}", "preference", tags=["a", "b"], confidence=0.25, source="import"
            )
        collected = datetime.now(timezone.utc)
        pushed = buffer.push()
        assert (pushed.messages, pushed.memories, pushed.failed, pushed.is_committed) == (50, 50, [], True)
        assert len(buffer) == 0
        for thread in range(3):
            stored = memory.get_messages("ana", f"t{thread}")
            assert [message.content for message in stored] == [f"{number}" for number in range(thread, 50, 3)]
            assert all(started <= message.created_at <= collected for message in stored)
            assert [message.agent_id for message in stored] == [
                f"agent {number % 2}" for number in range(thread, 50, 3)
            ]
        [record] = memory.list_memories("ana", search="Memory 7")
        assert (record.memory_type, record.tags, record.confidence) == ("preference", ["a", "b"], 0.25)
        assert db.execute("select from transactions").rowcount == 1

    def test_arguments_arrive_as_without_a_buffer(self, memory: Memory) -> None:
        said, ends = datetime(2024, 2, 3, tzinfo=timezone.utc), datetime(2099, 1, 1, tzinfo=timezone.utc)
        call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {}}]}
        for target, thread in ((memory, "direct"), (memory.buffer(), "buffered")):
            target.add_message(
                "ana", thread, "agent", "é\n日本", "a1", {"at": said, "n": {"b": [1.5, None]}}, said, ends, "k1"
            )
            target.add_message("ana", thread, "user", "for ever", expires_at=datetime.max, created_at=said)
            target.add_messages(
                "ana",
                thread,
                [
                    {**call, "created_at": said, "idempotency_key": "k2"},
                    {"role": "tool", "tool_call_id": "c1", "content": "5", "created_at": said, "metadata": {"a": 1}},
                ],
                agent_id="a2",
            )
            target.add_memory(
                "ana",
                f"Memory of {thread}",
                metadata={"at": said},
                importance=0.75,
                valid_from=said,
                valid_to=ends,
                expires_at=ends,
                embedding_text="other words",
                on_conflict="error",
            )
            if isinstance(target, Buffer):
                assert target.push().messages == 4

        def seen(thread: str) -> list[tuple[Any, ...]]:
            rows = memory.get_messages("ana", thread)
            return [(m.seq, m.role, m.content, m.agent_id, m.metadata, m.token_count, m.created_at) for m in rows]

        assert seen("buffered") == seen("direct")
        assert [m.expires_at for m in memory.get_messages("ana", "buffered")][:2] == [ends, None]
        buffered, direct = memory.list_memories("ana")
        assert (
            buffered.metadata,
            buffered.importance,
            buffered.valid_from,
            buffered.valid_to,
            buffered.expires_at,
        ) == (
            direct.metadata,
            direct.importance,
            direct.valid_from,
            direct.valid_to,
            direct.expires_at,
        )

    def test_a_push_that_was_broken_off_stores_once(
        self, memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        buffer = memory.buffer(tmp_path / "waiting")
        buffer.add_message("ana", "t1", "user", "once")
        buffer.add_memory("ana", "Lives in Porto", on_conflict="error")
        buffer.add_memory("ana", "Was wrong")
        stop_removing(monkeypatch, buffer)
        with pytest.raises(KeyboardInterrupt):
            buffer.push()
        [wrong] = memory.list_memories("ana", search="Was wrong")
        memory.delete_memory("ana", wrong.memory_id)
        buffer.close()
        again = memory.buffer(tmp_path / "waiting")
        assert len(again) == 3
        assert again.push().failed == []
        assert contents(memory) == ["once"]
        assert [record.content for record in memory.list_memories("ana")] == ["Lives in Porto"]
        assert len(again) == 0

    def test_a_copy_of_the_file_stores_nothing_again(self, memory: Memory, tmp_path: Path) -> None:
        with contextlib.closing(memory.buffer(tmp_path / "waiting")) as buffer:
            for number in range(10):
                buffer.add_message("ana", "t1", "user", "the same text")
                buffer.add_memory("ana", f"Memory {number}")
        shutil.copy(tmp_path / "waiting", tmp_path / "copy")
        for name in ("waiting", "copy"):
            with memory.buffer(tmp_path / name):
                pass
        assert contents(memory) == ["the same text"] * 10
        assert memory.count_memories("ana") == 10

    def test_refused_items_stay_and_hold_up_nothing(self, memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
        buffer = memory.buffer()
        memory.add_message("ana", "t1", "user", "other", idempotency_key="used")
        for number in range(40):
            buffer.add_message("ana", "t1", "user", f"{number}")
        buffer.add_message("ana", "t1", "nobody", "unknown role")
        buffer.add_message("ana", "t1", "user", "same key", idempotency_key="used")
        buffer.add_memory("ana", "Certain", confidence=7)
        buffer.add_memory("ana", "Prefers tea")
        buffer.add_message("ana", "t1", "assistant", "last")
        buffer.add_message("", "t1", "user", "no user")
        pushed = buffer.push()
        assert (pushed.messages, pushed.memories) == (41, 1)
        assert contents(memory) == ["other", *(f"{number}" for number in range(40)), "last"]
        assert pushed.failed == buffer.items()
        assert [(item.arguments.get("message", item.arguments)["content"]) for item in pushed.failed] == [
            "unknown role",
            "same key",
            "Certain",
            "no user",
        ]
        reasons = ("unknown role", "used in this thread", "between 0 and 1", "user_id")
        assert all(reason in (item.error or "") for item, reason in zip(pushed.failed, reasons, strict=True))
        assert buffer.push().failed == pushed.failed
        assert not [record for record in caplog.records if record.name.startswith("psycopg")]
        for item in pushed.failed:
            buffer.remove(item.item_id)
        assert buffer.push() == type(pushed)(0, 0, 0, [], True)

    def test_many_batches(self, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("agent_memory.client._sync.buffer._BATCH_ITEMS", 7)
        monkeypatch.setattr("agent_memory.client._sync.buffer._BATCH_SIZE", 2000)
        buffer = memory.buffer()
        for number in range(50):
            buffer.add_message("ana", "t1", "nobody" if number == 20 else "user", f"{number} " + "x" * (number * 100))
        pushed = buffer.push()
        assert (pushed.messages, len(pushed.failed)) == (49, 1)
        assert [int(text.split()[0]) for text in contents(memory)] == [n for n in range(50) if n != 20]

    def test_what_expired_meanwhile_is_dropped(self, memory: Memory) -> None:
        buffer = memory.buffer()
        soon = datetime.now(timezone.utc) + timedelta(seconds=0.2)
        buffer.add_memory("ana", "Is at the station", expires_at=soon)
        buffer.add_message("ana", "t1", "user", "I am at the station", expires_at=soon)
        buffer.add_message("ana", "t1", "user", "Good bye")
        time.sleep(0.3)
        pushed = buffer.push()
        assert (pushed.expired, pushed.failed, len(buffer)) == (1, [], 0)
        assert contents(memory) == ["Good bye"]

    def test_a_connection_that_breaks_loses_nothing(self, dsn: str, db: psycopg.Connection) -> None:
        db.execute(
            "create function bomb() returns trigger language plpgsql as $$begin"
            " if new.content = 'bomb' then perform pg_terminate_backend(pg_backend_pid()); end if; return new; end$$;"
            "create trigger bomb before insert on memory.messages for each row execute function bomb()"
        )
        with Memory(dsn) as memory:
            buffer = memory.buffer()
            buffer.add_message("ana", "t1", "user", "first")
            buffer.add_message("ana", "t1", "user", "bomb")
            with pytest.raises(psycopg.OperationalError):
                buffer.push()
            assert [item.error for item in buffer.items()] == [None, None]
            assert contents(memory) == []
            db.execute("drop function bomb() cascade")
            assert buffer.push().messages == 2

    @pytest.mark.parametrize("failures", [2, 9])
    def test_a_deadlock_is_tried_again(self, db: psycopg.Connection, memory: Memory, failures: int) -> None:
        db.execute(
            "create sequence tried;"
            "create function fail() returns trigger language plpgsql as $$begin"
            f" if nextval('public.tried') <= {failures} then raise 'deadlock' using errcode = '40P01'; end if;"
            " return null; end$$;"
            "create trigger fail after insert on memory.messages for each statement execute function fail()"
        )
        buffer = memory.buffer()
        buffer.add_message("ana", "t1", "user", "first")
        with contextlib.nullcontext() if failures < 5 else pytest.raises(RetryableError):
            assert buffer.push().messages == 1
        assert len(buffer) == (0 if failures < 5 else 1)

    def test_a_role_without_the_functions_is_told(
        self, db: psycopg.Connection, connect: Callable[..., psycopg.Connection]
    ) -> None:
        db.execute("drop role if exists stranger_of_buffers; create role stranger_of_buffers login")
        try:
            buffer = Memory(connect(user="stranger_of_buffers")).buffer()
            buffer.add_message("ana", "t1", "user", "hi")
            with pytest.raises(PermissionDeniedError):
                buffer.push()
            assert [item.error for item in buffer.items()] == [None]
        finally:
            db.execute("drop role stranger_of_buffers")

    def test_a_transaction_of_the_caller_is_joined(self, dsn: str, memory: Memory) -> None:
        with psycopg.connect(dsn) as connection:
            inside = Memory(connection)
            buffer = inside.buffer()
            buffer.add_message("ana", "t1", "user", "hi")
            buffer.add_message("ana", "t1", "nobody", "refused")
            inside.version()
            for ends, stored in ((connection.rollback, []), (connection.commit, ["hi"])):
                inside.version()
                pushed = buffer.push()
                assert (pushed.messages, pushed.is_committed, len(buffer)) == (1, False, 2)
                assert contents(memory) == []
                ends()
                assert contents(memory) == stored
            assert buffer.push().is_committed
            assert (len(buffer), contents(memory)) == (1, ["hi"])
            assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
