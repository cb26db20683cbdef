"""Writes our hooks into the settings of an assistant, and takes them out again; all else in the file stays."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from .._files import written
from ..errors import AgentMemoryError, InvalidValueError
from .assistants import Assistant
from .json_text import JsonTextError, Node, parsed, with_item, with_member, without_part

MEMORY, LOG = "agent-memory.json", "agent-memory.log"
"""Files beside the settings: whose memory it is and where, and what went wrong."""
BACKUP = ".before-agent-memory"
_HOOK = ["hooks", "run"]


def install(assistant: Assistant, memory: dict[str, str]) -> Path:
    """Write the hooks of an assistant into its settings, and whose memory they are about into a file beside them.

    Args:
        assistant: the assistant.
        memory: the user, and the connection string ("dsn") or the folder of the embedded store ("store").

    Returns:
        The file of the settings.

    Raises:
        InvalidValueError: the file is not what the assistant could read.
        OSError: it cannot be written.
    """
    home = assistant.home
    file = (home / assistant.file).resolve()
    found = _read(file)
    command = shlex.join([str(_program()), *_HOOK, assistant.name, str(home / MEMORY)])
    groups = {event: assistant.group(event, command) for event in assistant.events}
    text = found or "{}\n"
    if _ours(_parsed(file, text), assistant) != {event: [group] for event, group in groups.items()}:
        text = _without_hooks(file, text, assistant)
        for event, group in groups.items():
            text = _with_hook(file, text, event, group)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with written(home / MEMORY, overwrites=True) as output:
        json.dump({**memory, "made_file": found is None or _made(home)}, output, ensure_ascii=False, indent=2)
    if text != found:
        _write(file, text)
    return file


def remove(assistant: Assistant) -> Path | None:
    """Take our hooks out of the settings of an assistant, and return the file; None where there were none.

    Raises:
        InvalidValueError: the file is not what the assistant could read.
        OSError: it cannot be written.
    """
    home = assistant.home
    file = (home / assistant.file).resolve()
    found, made = _read(file), _made(home)
    text = None if found is None else _without_hooks(file, found, assistant)
    if text != found and text is not None:
        if made and text.strip() == "{}":
            file.unlink()
        else:
            _write(file, text)
    for name in (MEMORY, LOG):
        (home / name).unlink(missing_ok=True)
    return file if text != found else None


def _program() -> Path:
    """Return the path of the command, which assistants start without a shell's list of folders."""
    beside = Path(sys.executable).with_name("agent-memory")
    named = str(beside) if beside.exists() else shutil.which("agent-memory")
    if named is None:
        raise AgentMemoryError(
            "the command agent-memory is not installed", hint="Run: pip install 'pg-agent-memory[cli]'"
        )
    return Path(named).absolute()


def _made(home: Path) -> bool:
    """Tell whether the file of the settings was made by us."""
    with suppress(OSError, ValueError, AttributeError):
        return bool(json.loads((home / MEMORY).read_bytes()).get("made_file"))
    return False


def _read(file: Path) -> str | None:
    """Return the text of a file; None where it is missing."""
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise InvalidValueError(f"{file} is no text in UTF-8", hint="Correct the file; it is left as it is.") from None


def _write(file: Path, text: str) -> None:
    """Replace a file at once, keep who may read it, and keep a copy of what it was before."""
    mode = 0o600
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(file.stat().st_mode)
        shutil.copy2(file, file.with_name(file.name + BACKUP))
    with written(file, overwrites=True, mode=mode) as output:
        output.write(text)
        os.fchmod(output.fileno(), mode)


def _parsed(file: Path, text: str) -> Node:
    try:
        root = parsed(text if text.strip() else "{}")
    except JsonTextError as error:
        hint = "Correct the file; it is left as it is."
        raise InvalidValueError(f"{file} is no JSON: it {error}", hint=hint) from None
    for kind, name, node in (
        (dict, "it", root),
        (dict, "hooks", root.members.get("hooks")),
        *((list, f"hooks.{event}", each) for event, each in _events(root)),
    ):
        if node is not None and not isinstance(node.value, kind):
            wanted = "an object" if kind is dict else "a list"
            raise InvalidValueError(f"{file}: {name} is not {wanted}", hint="Correct the file; it is left as it is.")
    return root


def _events(root: Node) -> list[tuple[str, Node]]:
    hooks = root.members.get("hooks")
    # Gemini CLI once had switches among the events.
    return [] if hooks is None else [(name, node) for name, node in hooks.members.items() if name[:1].isupper()]


def _with_hook(file: Path, text: str, event: str, group: dict[str, Any]) -> str:
    if not text.strip():
        text = "{}\n"
    root = _parsed(file, text)
    hooks = root.members.get("hooks")
    if hooks is None:
        return with_member(text, root, "hooks", {event: [group]}, 0)
    if event not in hooks.members:
        return with_member(text, hooks, event, [group], 1)
    return with_item(text, hooks.members[event], group, 2)


def _without_hooks(file: Path, text: str, assistant: Assistant) -> str:
    """Return the text without our commands, and without the groups, events and hooks that only had ours."""
    while True:
        root = _parsed(file, text)
        place = _place_of_ours(root, assistant)
        if place is None:
            return text
        parent, start = place
        text = without_part(text, parent, start)


def _place_of_ours(root: Node, assistant: Assistant) -> tuple[Node, int] | None:
    """Return what holds a part that is ours alone, and where the part begins."""
    for event, groups in _events(root):
        for group in groups.items:
            handlers = group.members.get("hooks")
            for handler in handlers.items if handlers is not None else []:
                if not _is_ours(handler.value, assistant):
                    continue
                hooks = root.members["hooks"]
                assert handlers is not None
                if len(handlers.items) > 1:
                    return handlers, handler.start
                if len(groups.items) > 1:
                    return groups, group.start
                if len(hooks.members) > 1:
                    return hooks, hooks.places[event]
                return root, root.places["hooks"]
    return None


def _ours(root: Node, assistant: Assistant) -> dict[str, list[Any]]:
    """Return the groups that have our commands, by event."""
    found: dict[str, list[Any]] = {}
    for event, groups in _events(root):
        for group in groups.value:
            handlers = group.get("hooks") if isinstance(group, dict) else None
            if any(_is_ours(each, assistant) for each in (handlers if isinstance(handlers, list) else [])):
                found.setdefault(event, []).append(group)
    return found


def _is_ours(handler: Any, assistant: Assistant) -> bool:
    command = handler.get("command") if isinstance(handler, dict) else None
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    return len(words) >= 4 and Path(words[0]).name == "agent-memory" and words[1:4] == [*_HOOK, assistant.name]
