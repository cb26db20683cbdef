"""Kind `embed`: the embeddings of texts by the active embedding model."""

from __future__ import annotations

from ..errors import ModelError
from ..task import Result, Task


async def run(task: Task) -> Result:
    """One embedding for each text, in the order of the texts."""
    if task.is_local:
        raise ModelError("provider local has no embedding model; register one of provider openai")
    return await task.ask(remote=lambda provider: provider.embed(task))
