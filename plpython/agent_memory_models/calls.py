"""The calls that a job made: one entry for each HTTP call or run of the built-in model, for the database's ledger."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from .errors import reason_to_keep

Calls = list[dict[str, Any]]

MAX_ERROR_CHARACTERS = 500

observer: Callable[[dict[str, Any], dict[str, Any]], AbstractContextManager[object]] | None = None
"""Goes around each call, with its entry and its payload, once agent_memory.telemetry has set it."""


@contextmanager
def recorded_call(calls: Calls, kind: str, payload: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Enters the call that the body makes into `calls` when the body ends, also by an error; yields the entry.

    The body sets `tokens_in` and `tokens_out` of the entry as soon as it knows them, so that the ledger has the tokens
    of a call whose reply is unusable or that is cancelled.
    """
    entry: dict[str, Any] = {
        "kind": kind,
        "model": payload["model"]["name"],
        "tokens_in": None,
        "tokens_out": None,
        "duration_ms": None,
        "error": None,
        "prompt_version": (payload.get("prompt") or {}).get("version"),
    }
    started = time.monotonic()
    try:
        with nullcontext() if observer is None else observer(entry, payload):
            yield entry
    except asyncio.CancelledError:
        entry["error"] = "cancelled"
        raise
    except Exception as error:
        entry["error"] = reason_to_keep(error)[:MAX_ERROR_CHARACTERS]
        raise
    finally:
        entry["duration_ms"] = round((time.monotonic() - started) * 1000)
        calls.append(entry)
