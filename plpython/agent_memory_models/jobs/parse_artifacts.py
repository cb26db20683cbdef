"""Kind `parse_artifacts`: the server parses artifacts when the job is completed. No model is asked."""

from __future__ import annotations

from ..task import Payload, Result, Task


async def run(task: Task) -> Result:
    """Nothing: the job is there so that a worker says when there is time to parse."""

    async def nothing(_payload: Payload) -> Result:
        return {}

    return await task.ask(local=nothing)
