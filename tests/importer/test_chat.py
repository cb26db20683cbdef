"""Importing chat messages, as lines or as JSON."""

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.importer import ImportFileError, ImportProgress, import_file

from tests.support.sqlapi import Api


@pytest.fixture
def db(api: Api) -> psycopg.Connection[Any]:
    """The shared session, whose transaction is rolled back."""
    return api.connection


@pytest.fixture
def memory(db: psycopg.Connection) -> Memory:
    return Memory(db)


def write_lines(path: Path, *lines: Any) -> Path:
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def run(db: psycopg.Connection, path: Path, **options: Any) -> ImportProgress:
    *_, last = import_file(db, path, **options)
    return last


class TestChatJsonl:
    def test_messages(self, db: psycopg.Connection, memory: Memory, tmp_path: Path) -> None:
        calls = [{"id": "call_1", "type": "function", "function": {"name": "find", "arguments": "{}"}}]
        path = write_lines(
            tmp_path / "chat.jsonl",
            {"role": "user", "content": "Hej, Åsa här", "name": "Åsa", "created_at": "2025-03-01T10:00:00Z"},
            {"role": "assistant", "content": None, "tool_calls": calls, "created_at": "2025-03-01T10:00:01"},
            "",
            {"role": "tool", "content": "found", "tool_call_id": "call_1", "rating": 5, "metadata": {"took": 3}},
            {"role": "agent", "content": "There", "thread_id": "other", "user_id": 42, "created_at": 1740823200},
        )
        assert run(db, path, user_id="åsa") == ImportProgress(done=4, new=4, total=4, users=2, threads=2)
        first, second, third = memory.get_messages("åsa", "chat")
        assert (first.content, first.metadata) == ("Hej, Åsa här", {"name": "Åsa"})
        assert first.created_at == datetime(2025, 3, 1, 10, tzinfo=timezone.utc)
        assert second.created_at == datetime(2025, 3, 1, 10, 0, 1, tzinfo=timezone.utc)
        assert (second.content, second.metadata) == ("", {"tool_calls": calls})
        assert third.metadata == {"tool_call_id": "call_1", "rating": 5, "took": 3}
        [other] = memory.get_messages("42", "other")
        assert (other.role, other.created_at) == ("assistant", datetime(2025, 3, 1, 10, tzinfo=timezone.utc))

    def test_conversations(self, db: psycopg.Connection, memory: Memory, tmp_path: Path) -> None:
        exchange = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
        path = write_lines(
            tmp_path / "chat.jsonl",
            {"messages": exchange},
            {"messages": exchange, "user_id": "bo", "thread_id": "t"},
            {"messages": []},
        )
        assert run(db, path, user_id="ana") == ImportProgress(done=4, new=4, total=4, users=2, threads=2)
        assert [message.content for message in memory.get_messages("ana", "chat-1")] == ["Hi", "Hello"]
        assert [message.content for message in memory.get_messages("bo", "t")] == ["Hi", "Hello"]

    def test_interleaved_threads_and_batches(self, db: psycopg.Connection, memory: Memory, tmp_path: Path) -> None:
        said = ({"role": "user", "content": str(number), "thread_id": f"t{number % 13}"} for number in range(11_000))
        steps = list(import_file(db, write_lines(tmp_path / "chat.jsonl", *said), user_id="ana"))
        assert [step.done for step in steps] == sorted(step.done for step in steps)
        assert steps[-1] == ImportProgress(done=11_000, new=11_000, total=11_000, users=1, threads=13)
        contents = [int(message.content) for message in memory.get_messages("ana", "t5")]
        assert contents == list(range(5, 11_000, 13))

    def test_again_stores_what_was_added(self, db: psycopg.Connection, tmp_path: Path) -> None:
        said = [{"role": "user", "content": content} for content in ("Yes", "Yes", [{"type": "text", "text": "No"}])]
        assert run(db, write_lines(tmp_path / "chat.jsonl", *said), user_id="ana").new == 3
        assert run(db, write_lines(tmp_path / "chat.jsonl", *said), user_id="ana").new == 0
        path = write_lines(tmp_path / "chat.jsonl", *said, said[0])
        assert run(db, path, user_id="ana") == ImportProgress(done=4, new=1, total=4, users=1, threads=1)
        keyed = write_lines(tmp_path / "keyed.jsonl", {"role": "user", "content": "Hi", "idempotency_key": "1"})
        assert [run(db, keyed, user_id="ana").new for _ in range(2)] == [1, 0]

    def test_queues_extraction_for_threads_with_something_new(self, db: psycopg.Connection, tmp_path: Path) -> None:
        said = [{"role": "user", "content": "I am Ana.", "thread_id": thread} for thread in ("a", "b")]
        path = write_lines(tmp_path / "chat.jsonl", *said)
        jobs = "delete from memory.jobs returning kind, scope"
        run(db, path, user_id="ana")
        assert sorted(db.execute(jobs).fetchall()) == [("extract_memories", "a"), ("extract_memories", "b")]
        run(db, path, user_id="ana")
        assert db.execute(jobs).fetchall() == []

    def test_a_message_may_lack_text_where_the_database_takes_it(
        self, db: psycopg.Connection, memory: Memory, tmp_path: Path
    ) -> None:
        parts = ("tool_calls", "function_call", "refusal", "audio")
        lines = [{"role": "assistant", "content": None, part: [{"id": "1"}]} for part in parts]
        run(db, write_lines(tmp_path / "chat.jsonl", *lines), user_id="ana")
        for part, message in zip(parts, memory.get_messages("ana", "chat"), strict=True):
            assert (message.content, message.metadata[part]) == ("", [{"id": "1"}])

    def test_a_malformed_line_is_named_and_nothing_is_written(self, db: psycopg.Connection, tmp_path: Path) -> None:
        malformed: list[tuple[Any, str]] = [
            ("{", "not JSON: Expecting property name enclosed in double quotes"),
            ("5", "not a JSON object"),
            ({"role": "nobody", "content": "x"}, "role: Input should be 'user', 'assistant'"),
            ({"role": "user"}, "a message needs content or tool_calls"),
            ({"role": "user", "content": "a\0b"}, "message.content contains a NUL character"),
            ({"role": "user", "content": "\ud83d"}, "message.content contains half a surrogate pair"),
            ({"messages": [{"role": "user"}]}, "messages.0: a message needs content or tool_calls"),
            ({}, "neither a message nor a conversation: the object has nothing"),
            ('{"role": ' + "[" * 100_000, "nested too deeply"),
            ('{"a": ' + "1" * 5000 + "}", "an integer has more digits than Python reads"),
        ]
        for line, problem in malformed:
            path = write_lines(tmp_path / "chat.jsonl", {"role": "user", "content": "fine"}, line)
            with pytest.raises(ImportFileError) as raised:
                run(db, path, user_id="ana")
            assert raised.value.message.startswith(f"{path}, line 2: {problem}")
        assert Memory(db).list_threads("ana") == []

    def test_refused_by_the_database(self, db: psycopg.Connection, memory: Memory, tmp_path: Path) -> None:
        path = write_lines(
            tmp_path / "chat.jsonl",
            {"role": "user", "content": "fine", "thread_id": "a"},
            {"role": "user", "content": "fine", "thread_id": "b"},
            {"role": "user", "content": "x" * 10_485_761, "thread_id": "b"},
        )
        with pytest.raises(ImportFileError, match=r"line 3: content: has 10485761 bytes"):
            run(db, path, user_id="ana")
        assert memory.list_threads("ana") == []

    def test_abandoned_halfway(self, db: psycopg.Connection, memory: Memory, tmp_path: Path) -> None:
        path = write_lines(
            tmp_path / "chat.jsonl", *({"role": "user", "content": "x", "thread_id": str(n % 2)} for n in range(10))
        )
        steps = import_file(db, path, user_id="ana")
        next(steps)
        del steps
        assert memory.list_threads("ana") == []


EXCHANGE = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
SEVERAL = [{"messages": EXCHANGE}, {"messages": EXCHANGE, "thread_id": "t"}]


class TestChatJson:
    @pytest.mark.parametrize("indent", [None, 2])
    @pytest.mark.parametrize(
        ("document", "threads"),
        [
            ([*EXCHANGE, SEVERAL[0]], ["chat", "chat-3"]),
            ({"messages": EXCHANGE, "thread_id": "t", "title": "Greeting"}, ["t"]),
        ],
    )
    def test_what_json_may_hold(
        self, db: psycopg.Connection, tmp_path: Path, document: Any, threads: list[str], indent: int | None
    ) -> None:
        memory, path = Memory(db), tmp_path / "chat.json"
        path.write_text(f"\n{json.dumps(document, indent=indent)}\n")
        last = run(db, path, user_id="ana")
        assert (last.new, last.threads) == (2 * len(threads), len(threads))
        assert sorted(thread.thread_id for thread in memory.list_threads("ana")) == threads
        for thread in threads:
            assert [message.content for message in memory.get_messages("ana", thread)] == ["Hi", "Hello"]

    def test_an_array_and_lines_are_the_same_messages(self, db: psycopg.Connection, tmp_path: Path) -> None:
        assert run(db, write_lines(tmp_path / "chat.jsonl", *SEVERAL), user_id="ana").new == 4
        assert run(db, write_lines(tmp_path / "chat.json", SEVERAL), user_id="ana").new == 0

    def test_what_is_wrong_is_named(self, db: psycopg.Connection, tmp_path: Path) -> None:
        long = [*EXCHANGE, {"role": "user", "content": "x" * 10_485_761}]
        for document, problem in (
            ([EXCHANGE[0], {"role": "user"}], "item 2: a message needs content or tool_calls"),
            ([{"messages": [{"role": "x"}]}], "item 1: messages.0.role: Input should be"),
            ([EXCHANGE], "item 1: not a JSON object"),
            ("Hi, I am Ana", "line 1: not JSON: Expecting value"),
            ([EXCHANGE[0], {"messages": long}], "item 2, message 3: content: has "),
        ):
            path = write_lines(tmp_path / "chat.json", document)
            with pytest.raises(ImportFileError) as raised:
                run(db, path, user_id="ana")
            assert raised.value.message.startswith(f"{path}, {problem}")
