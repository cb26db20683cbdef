"""What the tests of artifacts do again and again: store, read, list, search and embed."""

from __future__ import annotations

from typing import Any

from tests.support.protocol import complete
from tests.support.sqlapi import Api

LOG = "added 512 packages in 9s\n" + "npm warn deprecated inflight@1.0.6\n" * 400
"""About 3,500 tokens."""


def store(api: Api, content: str | None = LOG, **arguments: Any) -> Any:
    return api.store_artifact(**{"user_id": "ana", "content": content, **arguments})


def read(api: Api, key: str, *bounds: int, user_id: str = "ana") -> str:
    arguments = dict(zip(("from_token", "max_tokens"), bounds, strict=False))
    content: str = api.retrieve_artifact(user_id=user_id, key=key, **arguments)
    return content


def read_lines(api: Api, key: str, from_line: int, max_lines: int = 200) -> str:
    lines: str = api.retrieve_artifact(user_id="ana", key=key, from_line=from_line, max_lines=max_lines)
    return lines


def listed(api: Api, **arguments: Any) -> list[str]:
    return [row.key for row in api.list_artifacts(**{"user_id": "ana", **arguments})]


def search(api: Api, query: str | None = None, vector: Any = None, **arguments: Any) -> list[Any]:
    """By keyword unless a vector is given, then by both."""
    how = {"mode": "keyword"} if vector is None else {"query_embedding": str(vector)}
    results: list[Any] = api.search(**{"user_id": "ana", "query": query, "sources": ["artifact"], **how, **arguments})
    return results


def found(api: Api, query: str | None = None, vector: Any = None, **arguments: Any) -> list[str]:
    return [result.id for result in search(api, query, vector, **arguments)]


def parse(api: Api) -> None:
    """Parse what was stored, as the job does after which texts are embedded."""
    while jobs := api.claim_jobs(worker="test", kinds=["parse_artifacts"]):
        complete(api, jobs[0], max_bytes=jobs[0].payload["max_bytes"])


def embed(api: Api, vectors: dict[str, list[float]] | None = None) -> list[str]:
    """Embed all there is; the texts. Those that contain a key of ``vectors`` get its vector."""
    parse(api)
    texts = []
    while jobs := api.claim_jobs(worker="test", kinds=["embed", "backfill"]):
        given = [row["text"] for row in jobs[0].payload["texts"]]
        embeddings = [next((v for key, v in (vectors or {}).items() if key in text), [1.0, 0.0, 0.0]) for text in given]
        complete(api, jobs[0], embeddings=embeddings)
        texts += given
    return texts


def embedded(api: Api) -> list[str]:
    """The keys of artifacts of which something is embedded."""
    keys = """
      select distinct substring(id from '^(.*)/') from memory.texts where model is not null and source = 'artifact'
      order by 1
    """
    return [key for [key] in api.query(keys)]
