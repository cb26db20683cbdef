"""Kind `parse_artifacts`: the server parses artifacts when the job is completed. No model is asked."""

from __future__ import annotations

from ..payload import Payload, Result
from ..task import Task


async def run(task: Task) -> Result:
    """How many bytes the server may parse in the transaction that completes the job: as many as it proposes."""

    async def accept(payload: Payload) -> Result:
        return {"max_bytes": payload["max_bytes"]}

    return await task.ask(local=accept)
