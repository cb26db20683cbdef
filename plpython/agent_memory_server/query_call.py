"""One model call inside the server, for a query that waits for it: the body of the function memory._call_model().

Unlike memory.run_jobs(), the function runs in its caller's transaction. So it commits nothing and writes nothing; it
returns the cost of the call, and the caller enters that into the ledger.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from agent_memory_models import ModelError, reason_to_keep
from agent_memory_models.calls import Calls
from agent_memory_models.payload import vector_text

from .backend import TURN_SECONDS, Plpy, drive, kept_models

KINDS = ("embed", "rerank")
"""The calls that a query waits for: its embedding, and the scores of its results."""


def call_model(plpy: Plpy, kind: str | None, payload: str | None) -> str:
    """The outcome as JSON: `calls`, and `result` or `error`.

    When PostgreSQL cancels the statement or ends the session, the call is dropped.
    """
    calls: Calls = []
    outcome: dict[str, Any] = {}
    try:
        if kind not in KINDS or payload is None:
            raise ModelError(f"memory._call_model() takes a payload of kind {' or '.join(KINDS)}")
        result = _run(plpy, kind, json.loads(payload), calls)
        if kind == "embed":
            # As texts, which pgvector reads: for 1,536 numbers, JSON numbers would take a millisecond longer.
            result["embeddings"] = list(map(vector_text, result["embeddings"]))
        outcome["result"] = result
    except plpy.SPIError:
        raise
    except Exception as error:
        outcome["error"] = reason_to_keep(error)
    return json.dumps({**outcome, "calls": calls})


def _run(plpy: Plpy, kind: str, payload: dict[str, Any], calls: Calls) -> dict[str, Any]:
    with kept_models("query") as (loop, models):
        call = loop.create_task(models.run(kind, payload, calls))
        while True:
            drive(loop, asyncio.wait({call}, timeout=TURN_SECONDS))
            if call.done():
                break
            plpy.execute("select 1")  # acts on a cancel, a timeout or a SIGTERM
    return call.result()
