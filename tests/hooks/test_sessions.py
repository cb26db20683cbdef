"""What hooks store of a session: each turn, once, in a thread of the session, without credentials."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from agent_memory import Memory

from tests.hooks.steps import FILES, Assistant, at_once, said

pytestmark = pytest.mark.feature("F28")

KEY = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz0123456789" * 2
Make = Callable[..., Assistant]
Read = Callable[..., list[tuple[str, str]]]


@pytest.mark.parametrize("name", FILES)
def test_each_turn_is_stored_once_in_the_thread_of_its_session(assistant: Make, said_in: Read, name: str) -> None:
    session = assistant(name)
    assert session.begin() == ""
    for number in (1, 2):
        session.turn(f"Question {number}\nwith „zwei“ lines 🏙", f"Answer {number}", number)
    expected = [
        (role, text)
        for number in (1, 2)
        for role, text in (("user", f"Question {number}\nwith „zwei“ lines 🏙"), ("assistant", f"Answer {number}"))
    ]
    assert said_in() == expected
    if name == "claude-code":
        session.fire("Stop", last_assistant_message="Answer 2")
        session.fire("SessionEnd", reason="exit")
        assert said_in() == expected
    other = assistant(name, session="session-2")
    other.turn("Question 1\nwith „zwei“ lines 🏙", "Answer 1")
    assert said_in("session-2") == expected[:2]
    assert said_in() == expected
    assert session.log == ""


@pytest.mark.parametrize("name", FILES)
def test_an_event_that_comes_twice_or_together_is_stored_once(assistant: Make, said_in: Read, name: str) -> None:
    session = assistant(name)
    if name == "claude-code":
        session.write(said("user", "What?"), said("assistant", [{"type": "text", "text": "That."}]))
    given = {
        "claude-code": ("Stop", {}),
        "codex": ("Stop", {"turn_id": "t", "last_assistant_message": "That."}),
        "gemini-cli": ("AfterAgent", {"prompt": "What?", "prompt_response": "That.", "timestamp": "2026"}),
    }[name]
    event, fields = given
    at_once(*[lambda: session.fire(event, **fields)] * 4)
    session.fire(event, **fields)
    expected = [("user", "What?"), ("assistant", "That.")]
    assert said_in() == (expected[1:] if name == "codex" else expected)
    assert session.log == ""


def test_credentials_are_marks_before_they_are_stored(assistant: Make, said_in: Read, db: Any) -> None:
    session = assistant("codex")
    session.turn(f"Deploy with {KEY}", "I set DB_PASSWORD=hunter2hunter2 in .env")
    assert said_in() == [
        ("user", "Deploy with (credential: Anthropic key)"),
        ("assistant", "I set DB_PASSWORD=(credential: password) in .env"),
    ]
    for [table] in db.execute(
        "select format('%I.%I', table_schema, table_name) from information_schema.tables"
        " where table_schema = 'memory' and table_type = 'BASE TABLE'"
    ).fetchall():
        [found] = db.execute(
            f"select count(*) from {table} as t where t::text like '%%' || %s || '%%'", [KEY]
        ).fetchone()
        assert found == 0, table


def test_a_policy_that_was_lost_is_set_again_before_something_is_stored(
    assistant: Make, said_in: Read, dsn: str
) -> None:
    session = assistant("codex")
    session.turn("Hello", "Hello!")
    with Memory(dsn) as memory:
        memory.forget_user("ana")
    session.turn(f"Use {KEY}", "Yes.", 2)
    assert said_in()[0] == ("user", "Use (credential: Anthropic key)")
    with Memory(dsn) as memory:
        memory.admin.set_policy({"secrets": {"mask_in_threads": False}}, agent_id="default", user_id="ana")
    session.turn(f"Now use {KEY}", "Yes.", 3)
    assert said_in()[2] == ("user", "Now use (credential: Anthropic key)")


def test_what_nobody_has_said_is_not_stored(assistant: Make, said_in: Read) -> None:
    session = assistant()
    session.write(
        {"type": "summary", "summary": "Not said", "leafUuid": "x"},
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
        said("user", "Fix the test"),
        said("user", "Not said", isMeta=True),
        said("user", "Not said", isCompactSummary=True),
        said("user", "<command-name>/model</command-name>"),
        said("user", "<local-command-stdout>Not said</local-command-stdout>"),
        said("assistant", [{"type": "thinking", "thinking": "Not said"}]),
        said("assistant", [{"type": "text", "text": "I look."}, {"type": "tool_use", "name": "Bash", "input": {}}]),
        said("user", [{"type": "tool_result", "tool_use_id": "x", "content": "Not said, and has secrets"}]),
        said("assistant", [{"type": "text", "text": "Of a sub-agent"}], isSidechain=True),
        said("user", [{"type": "text", "text": "<system-reminder>Not said</system-reminder>"},
                      {"type": "text", "text": "And quickly"}, {"type": "image", "source": {}}]),
        said("assistant", [{"type": "text", "text": "Fixed."}]),
    )  # fmt: skip
    session.fire("Stop")
    assert said_in() == [
        ("user", "Fix the test"), ("assistant", "I look."), ("user", "And quickly"), ("assistant", "Fixed."),
    ]  # fmt: skip


def test_what_a_killed_or_late_hook_has_missed_is_stored_by_the_next(assistant: Make, said_in: Read) -> None:
    session = assistant()
    session.fire("UserPromptSubmit", prompt="First")
    session.write(said("user", "First"), said("assistant", "Answer 1"))
    # The hook of the end of the turn was killed; the next turn's prompt is not in the transcript yet.
    session.fire("UserPromptSubmit", prompt="First")
    session.write(said("user", "First"), said("assistant", "Answer 2"))
    assert session.transcript is not None
    with session.transcript.open("a", encoding="utf-8") as file:
        file.write('{"type": "assistant", "message": {"content": "Half wri')
    session.fire("Stop")
    turns = [("user", "First"), ("assistant", "Answer 1"), ("user", "First"), ("assistant", "Answer 2")]
    assert said_in() == turns
    with session.transcript.open("a", encoding="utf-8") as file:
        file.write('tten"}}\n')
    session.fire("SessionEnd")
    assert said_in() == [*turns, ("assistant", "Half written")]


def test_a_transcript_that_was_written_anew_is_not_stored_again(assistant: Make, said_in: Read) -> None:
    session = assistant()
    turns = [said("user", "What?"), said("assistant", "That."), said("user", "Why? " * 50), said("assistant", "So.")]
    session.write(*turns)
    session.fire("Stop")
    before = said_in()
    assert len(before) == 4
    assert session.transcript is not None
    session.transcript.write_text("".join(json.dumps(line) + "\n" for line in turns[:2]), encoding="utf-8")
    session.fire("Stop")
    assert said_in() == before


def test_a_thread_has_the_folder_and_keeps_other_metadata(assistant: Make, dsn: str) -> None:
    session = assistant("codex", "projekt")
    (session.cwd / "src" / "deep").mkdir(parents=True)
    root = session.cwd
    session.cwd = root / "src" / "deep"
    session.turn("Hello", "Hello!")
    with Memory(dsn) as memory:
        assert memory.get_thread("ana", "session-1").metadata == {"folder": str(root), "assistant": "codex"}
        memory.set_thread("ana", "session-1", metadata={"folder": str(root), "mine": 1})
        session.turn("Again", "Yes.", 2)
        assert memory.get_thread("ana", "session-1").metadata["mine"] == 1
        [message, *_] = memory.get_messages("ana", "session-1", filter={"folder": str(root)})
        assert message.content == "Hello"


def test_a_role_that_may_not_set_policies_stores_no_credentials(
    assistant: Make, said_in: Read, db: Any, dsn: str
) -> None:
    parts: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(dsn)
    db.execute("drop role if exists hooks_app")
    db.execute("create role hooks_app login")
    db.execute("grant memory_app to hooks_app")
    app = psycopg.conninfo.make_conninfo(**{**parts, "user": "hooks_app"})
    session = assistant("codex")
    with pytest.raises(AssertionError, match=r"may not set policies(.|\n)*agent-memory policy set"):
        session.install("--user", "bo", "--dsn", app)
    db.execute("""select memory.set_policy('{"secrets": {"mask_in_threads": true}}', user_id => 'bo')""")
    session.install("--user", "bo", "--dsn", app)
    session.turn(f"Use {KEY}", "Yes.")
    assert said_in(user="bo")[0] == ("user", "Use (credential: Anthropic key)")
    db.execute("select memory.forget_user('bo')")
    session.turn(f"Use {KEY}", "Yes.", 2)
    assert said_in(user="bo") == []
    assert "may not set policies" in session.log
    assert KEY not in session.log
