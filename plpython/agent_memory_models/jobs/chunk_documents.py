"""Kind `chunk_documents`: cuts documents into chunks, which are embedded one by one. No model is asked."""

from __future__ import annotations

from ..payload import Payload, Result
from ..task import Task
from ..text.chunking import Cutter


async def run(task: Task) -> Result:
    """The chunks of each document: their starts and lengths in characters, and their tokens."""

    async def chunk_all(payload: Payload) -> Result:
        cutter = await Cutter.of(payload["tokenizer"], payload["chunk_size"], payload["chunk_overlap"], task.counter)
        return {
            "documents": [
                {"number": document["number"], "chunks": await cutter.chunks(document["text"])}
                for document in payload["documents"]
            ]
        }

    return await task.ask(local=chunk_all)
