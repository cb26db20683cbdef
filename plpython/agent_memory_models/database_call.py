"""One model call inside the server, for a query that waits for it: the body of the function memory._call_model().

Unlike memory.run_jobs() it is part of somebody's transaction, so it commits nothing and writes nothing: what the call
cost is handed back for the caller to enter.
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Coroutine
from typing import Any

from .backend import CLOSING_SECONDS, SIGNALS, TURN_SECONDS, Plpy, event_loop
from .calls import Calls
from .errors import ModelError, storable
from .models import Models

KINDS = ("embed", "rerank")


def call_model(plpy: Plpy, kind: str | None, payload: str | None) -> str:
    """The outcome as JSON: `calls`, and `result` or `error`.

    When PostgreSQL cancels the statement or ends the session, the call is dropped.
    """
    calls: Calls = []
    outcome: dict[str, Any] = {}
    try:
        if kind not in KINDS or payload is None:
            raise ModelError(f"memory._call_model() takes a payload of kind {' or '.join(KINDS)}")
        with event_loop() as loop:
            outcome["result"] = _run(plpy, loop, kind, json.loads(payload), calls)
    except plpy.SPIError:
        raise
    except ModelError as error:
        outcome["error"] = str(error)
    except Exception as error:
        outcome["error"] = storable(f"{type(error).__name__}: {error}")
    return json.dumps({**outcome, "calls": calls})


def _run(
    plpy: Plpy, loop: asyncio.AbstractEventLoop, kind: str, payload: dict[str, Any], calls: Calls
) -> dict[str, Any]:
    models = Models(may_download=False)
    call = loop.create_task(models.run(kind, payload, calls))
    try:
        while not call.done():
            _drive(loop, asyncio.wait({call}, timeout=TURN_SECONDS))
            plpy.execute("select 1")  # acts on a cancel, a timeout or a SIGTERM
        return call.result()
    finally:
        call.cancel()
        _drive(loop, asyncio.wait({call, loop.create_task(models.close())}, timeout=CLOSING_SECONDS))


def _drive(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, object]) -> None:
    """Run the event loop while the backend's signals wait."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        loop.run_until_complete(coroutine)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
