"""The record of what a job asked of its model: one entry for each HTTP call or local run, for the database's ledger."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .errors import reason_to_keep

Calls = list[dict[str, Any]]

MAX_ERROR_CHARACTERS = 500


@contextmanager
def recorded_call(calls: Calls, kind: str, payload: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Enters the call of the body into `calls` when it ends, however it ends; yields the entry.

    The body sets `tokens_in` and `tokens_out` once it knows them: what was paid for stays known when the reply turns
    out to be of no use, or the call is cancelled.
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
