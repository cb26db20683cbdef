"""Kind `embed`: the embeddings of texts by the active embedding model."""

from __future__ import annotations

from ..payload import Result
from ..providers.known import prefix_of
from ..task import Task


async def run(task: Task) -> Result:
    """One embedding for each text, in the order of the texts.

    Some models want a prefix before a query (`is_query`), or before a text that is searched. `token_counts` has the
    tokens of texts with `count`, null for other texts.
    """
    counts = await _token_counts(task)
    if prefix := prefix_of(task.payload["model"], bool(task.payload.get("is_query"))):
        for row in task.payload["texts"]:
            row["text"] = prefix + row["text"]
    if task.is_local:
        model = await task.local_model("embedding")
        return {**await task.ask(local=model.embed), **counts}
    return {**await task.ask(remote=lambda provider: provider.embed(task)), **counts}


async def _token_counts(task: Task) -> Result:
    texts = task.payload["texts"]
    counts = [await task.counter.count_exactly(row["text"], "") if row.get("count") else None for row in texts]
    return {"token_counts": counts} if any(count is not None for count in counts) else {}
