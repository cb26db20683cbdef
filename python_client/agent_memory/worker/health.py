"""The file by which a worker shows that it is alive, and its check."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .._files import written
from ..errors import AgentMemoryError


class NotAliveError(AgentMemoryError):
    """The worker has not written its health file in time."""


def write_health(path: Path, state: dict[str, Any]) -> None:
    """Replace the file by the state and the present time; a reader sees the old one or the new one."""
    with written(path, overwrites=True, mode=0o644) as file:
        file.write(json.dumps({"time": datetime.now(timezone.utc).isoformat(), **state}, indent=2) + "\n")


def check_health(path: Path, max_age: float) -> str:
    """Return a line about the worker that writes this health file."""
    try:
        state = json.loads(path.read_text())
        age = (datetime.now(timezone.utc) - datetime.fromisoformat(state["time"])).total_seconds()
        line = f"{state['worker']} was {state['state']} {age:.0f} s ago, {state['in_flight']} in flight"
    except FileNotFoundError:
        raise NotAliveError(
            f"there is no file {path}", hint=f"A worker writes it: agent-memory worker --health-file {path}"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise NotAliveError(f"{path} is not the health file of a worker") from None
    if age > max_age:
        raise NotAliveError(
            f"{line}; at most {max_age:g} s are allowed",
            hint=f"Its last error: {state['last_error']}" if state.get("last_error") else None,
        )
    return line
