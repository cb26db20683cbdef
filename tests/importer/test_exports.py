"""Importing exports of ChatGPT, Claude and mem0, in the forms that these have had over the years."""

import json
import zipfile
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.importer import ImportFileError, ImportProgress, import_file


@pytest.fixture
def memory(db: psycopg.Connection) -> Memory:
    return Memory(db)


def run(db: psycopg.Connection, path: Path, document: Any = None, **options: Any) -> ImportProgress:
    if document is not None:
        path.write_text(json.dumps(document))
    *_, last = import_file(db, path, **{"user_id": "ana", **options})
    return last


def node(id: str, parent: str | None, role: str, content: Any, **message: Any) -> dict[str, Any]:
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    author = {"role": role, "name": message.pop("name", None), "metadata": {}}
    said = {"id": id, "author": author, "create_time": 1700000000.5, "content": content, "weight": 1.0}
    return {
        "id": id,
        "parent": parent,
        "children": [],
        "message": {**said, "recipient": "all", "metadata": {}, **message},
    }


def chatgpt(*nodes: dict[str, Any], current: str | None, **conversation: Any) -> dict[str, Any]:
    root: dict[str, Any] = {"id": "root", "parent": None, "children": [], "message": None}
    mapping = {each["id"]: each for each in (root, *nodes)}
    for each in nodes:
        if each["parent"] in mapping:
            mapping[each["parent"]]["children"].append(each["id"])
    common = {"title": "Tea", "create_time": 1699999999, "conversation_id": "c-1"}
    return {**common, "mapping": mapping, "current_node": current, **conversation}


IMAGE = {
    "content_type": "image_asset_pointer",
    "asset_pointer": "file-service://x",
    "metadata": {"dalle": {"prompt": "a cup"}},
}
TEA = chatgpt(
    node("s", "root", "system", "", weight=0.0),
    node("u0", "s", "user", "Which tea?"),
    node("a0", "u0", "assistant", "An answer that was regenerated"),
    node("a1", "u0", "assistant", "Green tea.", metadata={"model_slug": "gpt-4o"}, create_time=1700000010),
    node("think", "a1", "assistant", {"content_type": "thoughts", "thoughts": [{"content": "Hm"}]}),
    node("hidden", "think", "user", "not seen", metadata={"is_visually_hidden_from_conversation": True}),
    node("code", "hidden", "assistant", {"content_type": "code", "text": "1+1"}, recipient="python", create_time=None),
    node("out", "code", "tool", {"content_type": "execution_output", "text": "2"}, name="python"),
    node(
        "u1",
        "out",
        "user",
        {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, "See"]},
        metadata={"attachments": [{"name": "cup.png"}]},
    ),
    node("a2", "u1", "assistant", {"content_type": "multimodal_text", "parts": [IMAGE]}),
    current="a2",
)


class TestChatGpt:
    def test_the_current_branch_is_imported(self, db: psycopg.Connection, memory: Memory, tmp_path: Path) -> None:
        path = tmp_path / "conversations.json"
        assert run(db, path, [TEA]) == ImportProgress(done=6, new=6, total=6, users=1, threads=1)
        messages = memory.get_messages("ana", "c-1")
        assert [(message.role, message.content) for message in messages] == [
            ("user", "Which tea?"),
            ("assistant", "Green tea."),
            ("assistant", "1+1"),
            ("tool", "2"),
            ("user", "[image]\nSee"),
            ("assistant", "[image: a cup]"),
        ]
        assert messages[0].created_at == datetime.fromtimestamp(1700000000.5, timezone.utc)
        assert messages[1].metadata == {"title": "Tea", "model": "gpt-4o"}
        assert messages[2].metadata == {"title": "Tea", "recipient": "python", "content_type": "code"}
        assert messages[3].metadata["name"] == "python"
        assert messages[4].metadata["attachments"] == ["cup.png"]

    def test_again_stores_what_was_said_since(self, db: psycopg.Connection, memory: Memory, tmp_path: Path) -> None:
        path = tmp_path / "conversations.json"
        run(db, path, [TEA])
        assert run(db, path, [TEA]).new == 0
        longer = json.loads(json.dumps(TEA))
        longer["mapping"]["u2"] = node("u2", "a2", "user", "Thanks")
        longer["current_node"] = "u2"
        assert run(db, path, [longer]).new == 1
        assert len(memory.get_messages("ana", "c-1")) == 7

    def test_the_archive_that_is_sent(self, db: psycopg.Connection, tmp_path: Path) -> None:
        path = tmp_path / "export.zip"
        other = chatgpt(node("x", "root", "user", "Hi"), current="x", conversation_id="c-2")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("chat.html", "<html>")
            archive.writestr("conversations-000.json", json.dumps([TEA]))
            archive.writestr("conversations-001.json", json.dumps([other]))
        assert run(db, path).threads == 2
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("user.json", "{}")
        with pytest.raises(ImportFileError, match=r"has no conversations\.json"):
            run(db, path)

    def test_damaged_trees(self, db: psycopg.Connection, memory: Memory, tmp_path: Path) -> None:
        circle = chatgpt(
            node("x", "y", "user", "X"), node("y", "x", "assistant", "Y"), current="x", conversation_id="1"
        )
        newest = chatgpt(
            node("x", "root", "user", "X"),
            node("y", "x", "assistant", "old", create_time=1),
            node("z", "x", "assistant", "new", create_time=2),
            current="gone",
            conversation_id="2",
        )
        assert run(db, tmp_path / "conversations.json", {"conversations": [circle, newest]}).new == 4
        assert [message.content for message in memory.get_messages("ana", "2")] == ["X", "new"]

    def test_a_bad_message_does_not_stop_the_others(
        self, db: psycopg.Connection, memory: Memory, tmp_path: Path
    ) -> None:
        strange = chatgpt(
            node("x", "root", "user", "a\0b \ud83d"),
            node("y", "x", "martian", "Y"),
            node("z", "y", "assistant", {"content_type": "text", "parts": 5}),
            node("t", "z", "user", "Bye", create_time="soon"),
            node("end", "t", "user", "End"),
            current="end",
        )
        bad: list[ImportFileError] = []
        unreadable = {"id": "c-3", "mapping": {"x": 5}}
        last = run(db, tmp_path / "c.json", [{"mapping": {}}, strange, unreadable], on_bad=bad.append)
        assert (last.new, last.bad) == (2, 4)
        assert bad[3].message.endswith("item 3: mapping has no node that can be read")
        assert [error.message.partition("c.json, ")[2] for error in bad][:2] == [
            "item 1: a conversation of ChatGPT has conversation_id and mapping",
            "item 2: message y: unknown role 'martian'",
        ]
        assert "item 2: message t: 'soon': Input should be a valid datetime" in bad[2].message
        assert [message.content for message in memory.get_messages("ana", "c-1")] == ["a�b �", "End"]


def claude_message(uuid: str, sender: str, content: Any, **more: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    common = {
        "uuid": uuid,
        "sender": sender,
        "text": "",
        "content": blocks,
        "created_at": "2025-03-01T10:00:00.123456Z",
    }
    return {**common, "attachments": [], "files": [], **more}


class TestClaude:
    def test_a_conversation(self, db: psycopg.Connection, memory: Memory, tmp_path: Path) -> None:
        blocks = [
            {"type": "thinking", "thinking": "Hm"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "tea"}},
            {
                "type": "tool_result",
                "tool_use_id": "toolu_1",
                "name": "search",
                "content": [{"type": "text", "text": "Sencha"}],
            },
            {"type": "text", "text": "Sencha."},
        ]
        paste = {"file_name": "", "file_type": "txt", "file_size": 3, "extracted_content": "A long paste"}
        conversation = {
            "uuid": "c-1",
            "name": "Tea",
            "account": {"uuid": "someone"},
            "created_at": "2025-03-01T09:00:00Z",
            "chat_messages": [
                claude_message("m1", "human", "Which tea?", files=[{"file_name": "cup.png"}]),
                claude_message("m2", "assistant", blocks),
                claude_message("m3", "human", [], attachments=[paste]),
                {"uuid": "m4", "sender": "assistant", "text": "An older export", "created_at": "2025-03-01T10:05:00Z"},
                claude_message("m5", "human", ""),
            ],
        }
        path = tmp_path / "conversations.json"
        assert run(db, path, [conversation]).new == 6
        assert run(db, path, [conversation]).new == 0
        messages = memory.get_messages("ana", "c-1")
        assert [(message.role, message.content) for message in messages] == [
            ("user", "Which tea?\n\n[cup.png]"),
            ("assistant", "I look."),
            ("tool", "Sencha"),
            ("assistant", "Sencha."),
            ("user", "[pasted text]\nA long paste"),
            ("assistant", "An older export"),
        ]
        call = {"id": "toolu_1", "type": "function", "function": {"name": "search", "arguments": '{"q": "tea"}'}}
        assert messages[1].metadata == {"title": "Tea", "tool_calls": [call]}
        assert messages[2].metadata == {"title": "Tea", "tool_call_id": "toolu_1", "name": "search"}
        assert messages[5].created_at == datetime(2025, 3, 1, 10, 5, tzinfo=timezone.utc)

    def test_branches_that_were_left(self, db: psycopg.Connection, memory: Memory, tmp_path: Path) -> None:
        root = "00000000-0000-4000-8000-000000000000"
        messages = [
            claude_message("q", "human", "Which tea?", parent_message_uuid=root),
            claude_message("a", "assistant", "Black", parent_message_uuid="q"),
            claude_message("b", "assistant", "Green", parent_message_uuid="q", created_at="2025-03-02T10:00:00Z"),
        ]
        newest = {"uuid": "c-1", "name": "", "chat_messages": messages}
        chosen = {"uuid": "c-2", "name": "", "chat_messages": messages, "current_leaf_message_uuid": "a"}
        run(db, tmp_path / "c.json", [newest, chosen])
        assert [message.content for message in memory.get_messages("ana", "c-1")] == ["Which tea?", "Green"]
        assert [message.content for message in memory.get_messages("ana", "c-2")] == ["Which tea?", "Black"]

    def test_bad_ones_are_named(self, db: psycopg.Connection, tmp_path: Path) -> None:
        bad: list[ImportFileError] = []
        conversation = {
            "uuid": "c",
            "chat_messages": [claude_message("m", "robot", "Hi"), 5, claude_message("n", "human", "Hi")],
        }
        last = run(db, tmp_path / "c.json", [{"chat_messages": []}, conversation], on_bad=bad.append)
        assert (last.new, len(bad)) == (1, 3)
        assert "item 1: a conversation of Claude has uuid" in bad[0].message
        assert "item 2, message 1: unknown sender 'robot'" in bad[1].message


class TestMem0:
    MEMORIES = [
        {
            "id": "m-1",
            "memory": "Likes tea",
            "hash": "x",
            "metadata": {"category": "drinks"},
            "score": None,
            "created_at": "2025-02-27T16:33:20.557-08:00",
            "updated_at": None,
            "user_id": "alex",
            "run_id": "t1",
        },
        {"id": "m-2", "memory": "Lives in Lund", "categories": ["home"], "agent_id": "helper"},
    ]

    def test_what_get_all_returns(self, db: psycopg.Connection, memory: Memory, tmp_path: Path) -> None:
        path = tmp_path / "mem0.json"
        last = run(db, path, {"results": self.MEMORIES})
        assert last == ImportProgress(done=2, new=2, total=2, users=2, threads=0, memories=2)
        assert run(db, path).new == 0
        [tea] = memory.list_memories("alex")
        assert (tea.content, tea.thread_id) == ("Likes tea", "t1")
        assert tea.metadata == {"mem0_id": "m-1", "created_at": "2025-02-27T16:33:20.557-08:00", "category": "drinks"}
        assert tea.valid_from == datetime(2025, 2, 28, 0, 33, 20, 557000, timezone.utc)
        memory.delete_memory("alex", tea.memory_id)
        assert run(db, path).new == 0
        assert memory.list_memories("alex") == []
        [lund] = memory.list_memories("ana")
        assert (lund.tags, lund.agent_id) == (["home"], "helper")

    @pytest.mark.feature("F5")
    def test_imported_memories_are_stored_at_once_with_the_trust_of_imports_at_most(
        self, db: psycopg.Connection, memory: Memory, tmp_path: Path
    ) -> None:
        trusts: dict[str, tuple[dict[str, Any], float]] = {
            "tea": ({}, 0.7),
            "cake": ({"source": "user"}, 0.7),
            "milk": ({"source": "user", "metadata": {"trust": "1"}}, 0.7),
            "jam": ({"source": "tool: mail"}, 0.4),
            "rum": ({"source": "user", "trust": 0.2}, 0.2),
        }
        run(db, tmp_path / "mem0.json", [{"memory": name, **more} for name, (more, _) in trusts.items()])
        stored = memory.list_memories("ana")
        assert {each.content: pytest.approx(each.trust) for each in stored} == {
            name: trust for name, (_, trust) in trusts.items()
        }
        assert len({each.created_at for each in stored}) == 1, "rows of one statement have one time"

    def test_bad_ones_are_named(self, db: psycopg.Connection, tmp_path: Path) -> None:
        path = tmp_path / "mem0.json"
        for record, problem in (
            ({"memory": 5}, "memory: must be a text"),
            ({"memory": "x", "metadata": []}, "metadata: must be an object"),
            ({"memory": "x", "created_at": "soon"}, "valid datetime"),
            ({"memory": "x", "confidence": 5}, "confidence: "),
            ({"memory": "x", "confidence": "high"}, "confidence must be a number"),
        ):
            with pytest.raises(ImportFileError, match=r"results 2: ") as raised:
                run(db, path, {"results": [self.MEMORIES[0], record]})
            assert problem in raised.value.message
            assert Memory(db).list_memories("alex") == []
        bad: list[ImportFileError] = []
        assert run(db, path, on_bad=bad.append).new == 1
        assert [error.message for error in bad] == [raised.value.message]


class TestAllFormats:
    def test_bad_lines_do_not_stop_the_others(self, db: psycopg.Connection, memory: Memory, tmp_path: Path) -> None:
        path = tmp_path / "chat.jsonl"
        long = {"role": "user", "content": "x" * 10_485_761}
        exchange = [
            {"role": "user", "content": "Hi"},
            {"role": "nobody", "content": "?"},
            {"role": "user", "content": "Bye"},
        ]
        lines = [{"role": "user", "content": "first"}, "{", long, {"role": "user"}, {"messages": exchange}, {"a": 1}]
        path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
        bad: list[ImportFileError] = []
        last = run(db, path, on_bad=bad.append)
        assert (last.new, last.bad) == (3, 5)
        places = [error.message.partition("chat.jsonl, ")[2] for error in bad]
        assert [place.partition(":")[0] for place in places] == ["line 2", "line 4", "line 5", "line 6", "line 3"]
        assert "messages.1.role" in places[2]
        assert [message.content for message in memory.get_messages("ana", "chat-5")] == ["Hi", "Bye"]
        # Once it is mended, only what was left out is new.
        path.write_text(path.read_text().replace('"nobody"', '"assistant"'))
        assert run(db, path, on_bad=bad.append).new == 1

    def test_a_dry_run_stores_nothing(self, db: psycopg.Connection, memory: Memory, tmp_path: Path) -> None:
        path = tmp_path / "c.json"
        assert run(db, path, [TEA], dry_run=True).new == 6
        assert memory.list_threads("ana") == []
        assert db.execute("select count(*) from memory.jobs").fetchone() == (0,)
        run(db, path)
        assert run(db, path, dry_run=True) == ImportProgress(done=6, new=0, total=6, users=1, threads=1)

    def test_what_the_file_does_not_say(self, db: psycopg.Connection, tmp_path: Path) -> None:
        with pytest.raises(ImportFileError, match="item 1: no user_id") as raised:
            run(db, tmp_path / "c.json", [TEA], user_id=None)
        assert "--user" in (raised.value.hint or "")
        with pytest.raises(ImportFileError, match="a conversation of Claude has uuid and chat_messages"):
            run(db, tmp_path / "c.json", [TEA], format="claude")
