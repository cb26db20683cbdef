"""Kind `embed`: the embeddings of texts by the active embedding model."""

from __future__ import annotations

from ..payload import Result
from ..task import Task


async def run(task: Task) -> Result:
    """One embedding for each text, in the order of the texts.

    A text that is a query (`is_query`) gets the setting query_prefix put before, which some models want.
    """
    prefix = (task.payload["model"].get("settings") or {}).get("query_prefix")
    if prefix and task.payload.get("is_query"):
        for row in task.payload["texts"]:
            row["text"] = prefix + row["text"]
    if task.is_local:
        model = await task.local_model("embedding")
        return await task.ask(local=model.embed)
    return await task.ask(remote=lambda provider: provider.embed(task))
