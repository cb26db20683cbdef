"""What the tests of documents do again and again: store, cut, search and embed."""

from __future__ import annotations

import itertools
from typing import Any
from uuid import UUID

from tests.support.protocol import claim, complete
from tests.support.sqlapi import Api

SENTENCES = {"tea": "Tea grows in the hills.", "boat": "A boat needs paint.", "goat": "A goat eats anything."}
FILLER = "Nothing of note happened on this day, and nobody wrote anything down. " * 80
"""About 1,200 tokens that no test looks for."""
LONG = f"{SENTENCES['tea']} {FILLER}{SENTENCES['boat']} {FILLER}{SENTENCES['goat']}"


def store(api: Api, content: str = LONG, **arguments: Any) -> UUID:
    stored: UUID = api.add_document(**{"user_id": "ana", "content": content, **arguments})
    return stored


def pieces(text: str, *starts: int, tokens: int = 300) -> list[dict[str, int]]:
    """Chunks that begin at these places and reach to the next one."""
    bounds = [*(starts or (0, len(text) // 2)), len(text)]
    return [{"start": start, "length": end - start, "token_count": tokens} for start, end in itertools.pairwise(bounds)]


def cut(api: Api, *starts: int) -> Any:
    """Do the one job that cuts documents, all of them at these places."""
    job = claim(api, "chunk_documents")
    return hand_in(api, job, *starts)


def hand_in(api: Api, job: Any, *starts: int) -> Any:
    given = job.payload["documents"]
    return complete(
        api, job, documents=[{"number": row["number"], "chunks": pieces(row["text"], *starts)} for row in given]
    )


def chunks(api: Api) -> list[tuple[int, str, int | None]]:
    rows = api.query("select number, content, token_count from memory.document_chunks order by document_id, number")
    return [tuple(row) for row in rows]


def find(api: Api, query: str, **arguments: Any) -> list[Any]:
    found: list[Any] = api.search(
        **{"user_id": "ana", "query": query, "sources": ["document"], "mode": "keyword", **arguments}
    )
    return found


def embed(api: Api, vectors: dict[str, list[float]] | None = None) -> list[str]:
    """Embed all there is; the texts. Those that contain a key of ``vectors`` get its vector."""
    texts = []
    while jobs := api.claim_jobs(worker="test", kinds=["embed", "backfill"]):
        given = [row["text"] for row in jobs[0].payload["texts"]]
        complete(
            api,
            jobs[0],
            embeddings=[
                next((v for key, v in (vectors or {}).items() if key in text), [1.0, 0.0, 0.0]) for text in given
            ],
        )
        texts += given
    return texts


def embedded(api: Api) -> list[str]:
    query = "select id from memory.texts where model is not null and source = 'document' order by id"
    return [row.id for row in api.query(query)]
