"""Writes our hooks into the settings of an assistant, and takes them out again; all else in the file stays."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import stat
import sys
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

from .._files import written
from ..errors import AgentMemoryError, InvalidValueError
from .assistants import Assistant

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
    command = shlex.join([str(_program()), *_HOOK, assistant.name, str(home / MEMORY)])
    ours = {event: assistant.group(event, command) for event in assistant.events}
    found = _read(file)
    before = _parsed(file, found, f"add this by hand: {json.dumps({'hooks': {name: [ours[name]] for name in ours}})}")
    after = _without_hooks(before, assistant)
    hooks = after.setdefault("hooks", {})
    for event, group in ours.items():
        hooks.setdefault(event, []).append(group)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with written(home / MEMORY, overwrites=True) as output:
        json.dump({**memory, "made_file": found is None or _made(home)}, output, ensure_ascii=False, indent=2)
    if after != before:
        _write(file, found, after)
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
    before = _parsed(file, found, 'take the commands "agent-memory hooks run" out by hand')
    after = _without_hooks(before, assistant)
    if after != before:
        if made and not after:
            file.unlink()
        else:
            _write(file, found, after)
    for name in (MEMORY, LOG):
        (home / name).unlink(missing_ok=True)
    return file if after != before else None


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
        return file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise InvalidValueError(f"{file} is no text in UTF-8", hint="Correct the file; it is left as it is.") from None


def _parsed(file: Path, text: str | None, by_hand: str) -> dict[str, Any]:
    """Return the settings that a file has."""
    try:
        settings = json.loads(text or "{}") if (text or "").strip() else {}
    except (ValueError, RecursionError) as error:
        raise InvalidValueError(
            f"{file} is no JSON without comments: {error}",
            hint=f"Correct the file, which is left as it is, or {by_hand}",
        ) from None
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else {}
    events = _events(hooks) if isinstance(hooks, dict) else {}
    for kind, name, value in (
        (dict, "it", settings),
        (dict, "hooks", hooks),
        *((list, f"hooks.{event}", groups) for event, groups in events.items()),
    ):
        if not isinstance(value, kind):
            wanted = "an object" if kind is dict else "a list"
            raise InvalidValueError(f"{file}: {name} is not {wanted}", hint="Correct the file; it is left as it is.")
    return dict(settings)


def _write(file: Path, before: str | None, settings: dict[str, Any]) -> None:
    """Replace a file at once, keep its indentation and who may read it, and keep a copy of what it was before."""
    mode, backup = 0o600, file.with_name(file.name + BACKUP)
    indented = re.search(r"\n([ \t]+)", before or "")
    text = json.dumps(settings, ensure_ascii=False, indent=indented[1] if indented else 2) + "\n"
    with suppress(OSError, ValueError):  # what we take out again comes back to the letter
        if json.loads(kept := backup.read_bytes().decode("utf-8-sig")) == settings:
            text = kept
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(file.stat().st_mode)
        shutil.copy2(file, backup)
    with written(file, overwrites=True, mode=mode) as output:
        output.write(text)
        os.fchmod(output.fileno(), mode)


def _events(hooks: dict[str, Any]) -> dict[str, Any]:
    # Gemini CLI once had switches among the events.
    return {name: groups for name, groups in hooks.items() if name[:1].isupper()}


def _without_hooks(settings: dict[str, Any], assistant: Assistant) -> dict[str, Any]:
    """Return the settings without our commands, and without the groups, events and hooks that only had ours."""
    settings = deepcopy(settings)
    hooks = settings.get("hooks", {})
    for event, groups in _events(hooks).items():
        kept = []
        for group in groups:
            handlers = group.get("hooks") if isinstance(group, dict) else None
            others = [each for each in handlers or [] if not _is_ours(each, assistant)]
            if not isinstance(handlers, list) or len(others) == len(handlers):
                kept.append(group)
            elif others:
                kept.append({**group, "hooks": others})
        if kept != groups:
            hooks[event] = kept
            if not kept:
                del hooks[event]
                if not hooks:
                    del settings["hooks"]
    return settings


def _is_ours(handler: Any, assistant: Assistant) -> bool:
    command = handler.get("command") if isinstance(handler, dict) else None
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    return len(words) >= 4 and Path(words[0]).name == "agent-memory" and words[1:4] == [*_HOOK, assistant.name]
