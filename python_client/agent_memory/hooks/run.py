"""One call of a hook: the assistant's event on stdin, what it is told as JSON on stdout.

A hook disturbs nobody: whatever happens, it ends with status 0 and writes nothing but that JSON. What went wrong is in
the file agent-memory.log beside the settings of the assistant, without any text of the session.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

from .assistants import ASSISTANTS, PATIENCE

_GIVE_UP = 0.6
"""The part of an assistant's patience after which a hook ends by itself, without what it has not done yet."""
_MAX_INPUT = 64 << 20
_MAX_LOG = 1 << 20


def app(**_: Any) -> NoReturn:
    """Be the command ``agent-memory hooks run ASSISTANT FILE``."""
    name, file = [*sys.argv[3:], "", ""][:2]
    log = Log(Path(file).parent / "agent-memory.log" if file else None)
    try:
        answers = os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 1)  # whatever a library may print
        os.dup2(nothing, 2)
        log.give_up_after(PATIENCE * _GIVE_UP)
        given = _input()
        os.dup2(nothing, 0)
        answer = _answer(name, file, given, log)
        if answer:
            _write(answers, (json.dumps(answer) + "\n").encode())
    except BaseException as error:
        log.write(_described(error))
    finally:
        os._exit(0)


def _answer(name: str, file: str, given: bytes, log: Log) -> dict[str, Any] | None:
    """Return what the assistant is told about an event, and store what was said."""
    assistant = ASSISTANTS[name]
    memory = json.loads(Path(file).read_bytes())
    event = json.loads(given.decode("utf-8", "replace"))
    if not isinstance(event, dict):
        raise ValueError("the event is no object")
    kind = event.get("hook_event_name")
    log.about = f"{name} {kind if kind in assistant.events else 'unknown event'}"
    if kind not in assistant.events:
        return None
    log.give_up_after(assistant.patience(kind) * _GIVE_UP)
    from . import place, recall, turns

    thread, folder = turns.thread_of(event), recall.folder_of(event.get("cwd"))
    with place.connected(memory) as connection:
        if kind == assistant.start:
            told = recall.told(connection, memory["user"], folder, thread)
            return {"hookSpecificOutput": {"hookEventName": kind, "additionalContext": told}} if told else None
        place.mask_credentials(connection, memory["user"])
        turns.store(connection, memory["user"], assistant, event, folder)
    return None


def _input() -> bytes:
    given = b"".join(iter(lambda: os.read(0, 1 << 20), b""))
    if len(given) > _MAX_INPUT:
        raise ValueError(f"the event has more than {_MAX_INPUT} bytes")
    return given


def _write(descriptor: int, said: bytes) -> None:
    while said:
        said = said[os.write(descriptor, said) :]


class Log:
    """The file that says what went wrong, also that a hook took too long; it begins anew when it is long."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._waiting: threading.Timer | None = None
        self.about = "unknown assistant"

    def give_up_after(self, seconds: float) -> None:
        """End the process some seconds from now, and say so."""

        def give_up() -> NoReturn:
            self.write(f"gave up after {seconds:g} s")
            os._exit(0)

        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = threading.Timer(seconds, give_up)
        self._waiting.daemon = True
        self._waiting.start()

    def write(self, text: str) -> None:
        """Add a line, if that is possible."""
        if self._path is None:
            return
        line = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {self.about}: {' '.join(text.split())[:500]}\n"
        try:
            # Not open_own(): its import could wait for one that hangs in the main thread; then nothing ends the hook.
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
            descriptor = os.open(self._path, flags, 0o600)
            if os.fstat(descriptor).st_size > _MAX_LOG:
                os.ftruncate(descriptor, 0)
            os.write(descriptor, line.encode("utf-8", "replace"))
        except OSError:
            pass


def _described(error: BaseException) -> str:
    """Return what an error says, without values of statements, which may be the user's texts."""
    said = getattr(getattr(error, "diag", None), "message_primary", None) or str(error)
    hint = getattr(error, "hint", None)
    return f"{type(error).__name__}: {said}" + (f" ({hint})" if hint else "")
