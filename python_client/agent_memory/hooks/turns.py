"""Finds what was said in a session, and stores each message once."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NamedTuple

import psycopg

from .._text import storable
from .assistants import Assistant

MAX_TEXT = 1_000_000
"""Characters of a message that are stored."""
_MAX_TRANSCRIPT = 32 << 20
"""Bytes of a transcript that one hook reads. What is longer began before there were hooks."""
_BATCH = 200
_WAIT = 0.5
"""Seconds that the end of a turn waits for its answer: Claude Code may write the transcript a moment later."""
_NOT_SAID = (
    "<command-", "<local-command-", "<bash-", "<system-reminder>", "<ide_", "<task-notification>",
    "[Request interrupted by user",
)  # fmt: skip
"""How texts begin in the transcript of Claude Code that neither the user nor the model has said."""
_TOLD = ("<hook_context>", "</hook_context>")
"""What Gemini CLI puts around the words of a hook before a prompt."""
_SOURCES = (None, "user", "sdk")
"""Who has written a prompt that is the user's; Claude Code also wakes itself up by prompts."""
_MARKS_OF_OTHERS = ("isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")


class Said(NamedTuple):
    """A message.

    Attributes:
        role: user or assistant.
        text: what was said.
        key: what tells it from the others of its session.
    """

    role: str
    text: str
    key: str


class Mark(NamedTuple):
    """How far a transcript was read: the number of bytes, and the key of the last answer in them.

    A message is told from others by its text and the answer before. Hooks know as much of a prompt that they are told
    before the transcript has it, where it gets an id.
    """

    read: int
    answer: str


def store(
    connection: psycopg.Connection[Any],
    user: str,
    assistant: Assistant,
    event: dict[str, Any],
    folder: str | None,
) -> None:
    """Store what was said since the last hook of a session.

    The thread's metadata has the folder, the assistant, and how far the transcript was read.
    """
    thread = thread_of(event)
    before = _metadata(connection, user, thread)
    folder = before.get("folder") or folder
    about = {"assistant": assistant.name, **({"folder": folder} if folder else {})}
    mark = _mark(before.get("transcript"))
    if assistant.name == "claude-code":
        said, mark = _of_claude_code(event, mark)
    else:
        said = list(_of_codex(event) if assistant.name == "codex" else _of_gemini_cli(event))
    messages = [
        {"role": each.role, "content": text, "idempotency_key": each.key, "metadata": about}
        for each in said
        if (text := storable(each.text if len(each.text) <= MAX_TEXT else f"{each.text[:MAX_TEXT]} [...]")).strip()
    ]
    for start in range(0, len(messages), _BATCH):
        connection.execute(
            "select from memory.add_messages(user_id => %s, thread_id => %s, messages => %s::jsonb)",
            [user, thread, json.dumps(messages[start : start + _BATCH])],
        )
    after = before | about | ({"transcript": list(mark)} if mark.read else {})
    if after != before and (messages or before):
        connection.execute(
            "select from memory.set_thread(user_id => %s, thread_id => %s, metadata => %s::jsonb)",
            [user, thread, json.dumps(after)],
        )


def _metadata(connection: psycopg.Connection[Any], user: str, thread: str) -> dict[str, Any]:
    asked = "select metadata from memory.get_thread(user_id => %s, thread_id => %s)"
    try:
        with connection.transaction():
            [found] = connection.execute(asked, [user, thread]).fetchone() or [{}]
    except psycopg.errors.NoDataFound:
        return {}
    return dict(found)


def thread_of(event: dict[str, Any]) -> str:
    """Return the thread of a session: its id, as far as that can be one."""
    session = event.get("session_id")
    if not isinstance(session, str) or not session.strip():
        raise ValueError("session_id is missing")
    session = storable(session)
    return session if len(session) <= 200 else sha256(session.encode()).hexdigest()


def _of_claude_code(event: dict[str, Any], mark: Mark) -> tuple[list[Said], Mark]:
    """Return what a transcript has had since the mark, and what the event says that is not in it yet."""
    path, answer = event.get("transcript_path"), _text(event.get("last_assistant_message"))
    said, after = _transcript(path, mark)
    deadline = time.monotonic() + _WAIT
    while answer and said and not _has(said, answer) and time.monotonic() < deadline:
        time.sleep(0.02)
        said, after = _transcript(path, mark)
    # The transcript comes later, or there is none. Nothing new in it means that this hook was called a second time.
    if answer and not _has(said, answer) and (said or not after.read):
        said.append(Said("assistant", answer, _key(after.answer, "assistant", answer)))
    prompt = _text(event.get("prompt"))
    if prompt and event.get("source") in _SOURCES:
        said.append(Said("user", prompt, _key(after.answer, "user", prompt)))
    return said, after


def _has(said: list[Said], answer: str) -> bool:
    return any(each.role == "assistant" and (each.text in answer or answer in each.text) for each in said[-5:])


def _transcript(path: Any, mark: Mark) -> tuple[list[Said], Mark]:
    """Return the messages of a transcript since the mark, and the new mark."""
    said: list[Said] = []
    if mark.read > _size(path):  # it was written anew
        mark = Mark(0, "")
    for line, end in _lines(path, mark.read):
        mark = Mark(end, mark.answer)
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(entry, dict) or any(entry.get(name) for name in _MARKS_OF_OTHERS):
            continue
        role, message = entry.get("type"), entry.get("message")
        text = _text(message.get("content")) if isinstance(message, dict) else ""
        if role in ("user", "assistant") and text:
            said.append(Said(role, text, _key(mark.answer, role, text)))
            if role == "assistant":
                mark = Mark(end, said[-1].key)
    return said, mark


def _size(path: Any) -> int:
    try:
        return os.stat(os.path.expanduser(path)).st_size  # noqa: PTH111, PTH116
    except (OSError, TypeError, ValueError):
        return 0


def _lines(path: Any, start: int) -> Iterator[tuple[bytes, int]]:
    """Yield the whole lines of a file from a place on, each with the place at which it ends."""
    if not isinstance(path, str) or not path or "\0" in path:
        return
    try:
        descriptor = os.open(os.path.expanduser(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # noqa: PTH111
    except OSError:
        return
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        return
    with os.fdopen(descriptor, "rb") as file:
        is_whole = found.st_size - start <= _MAX_TRANSCRIPT
        start = start if is_whole else found.st_size - _MAX_TRANSCRIPT
        file.seek(start)
        for line in file.read(_MAX_TRANSCRIPT).splitlines(keepends=True):
            start += len(line)
            if not line.endswith(b"\n") and not _is_json(line):
                return
            if is_whole:
                yield line, start
            is_whole = True


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _mark(kept: Any) -> Mark:
    is_one = isinstance(kept, list) and len(kept) == 2 and isinstance(kept[0], int) and isinstance(kept[1], str)
    return Mark(*kept) if is_one else Mark(0, "")


def _text(content: Any) -> str:
    """Return what a content says: a text, or the blocks of text of a message."""
    blocks = content if isinstance(content, list) else [content]
    texts = [
        block.get("text") if isinstance(block, dict) and block.get("type") == "text" else block for block in blocks
    ]
    said = [text.strip() for text in texts if isinstance(text, str)]
    return "\n\n".join(text for text in said if text and not text.startswith(_NOT_SAID))


def _of_codex(event: dict[str, Any]) -> Iterator[Said]:
    turn = str(event.get("turn_id") or "")
    for role, name in (("user", "prompt"), ("assistant", "last_assistant_message")):
        text = _text(event.get(name))
        if text:
            yield Said(role, text, _key(turn, role, text))


def _of_gemini_cli(event: dict[str, Any]) -> Iterator[Said]:
    moment = str(event.get("timestamp") or "")
    answer, prompt = _text(event.get("prompt_response")), _text(event.get("prompt"))
    if prompt.startswith(_TOLD[0]):  # what the session began with, where it has one prompt only
        prompt = prompt.partition(_TOLD[1])[2].strip()
    # If another hook has refused an answer, the next one is to the same prompt.
    if prompt and answer and not event.get("stop_hook_active"):
        yield Said("user", prompt, _key(moment, "user", prompt))
    if answer:
        yield Said("assistant", answer, _key(moment, "assistant", answer))


def _key(*parts: str) -> str:
    return sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
