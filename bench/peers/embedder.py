"""A server of embeddings that answers at once, so that the time of a model is no part of the figures.

``python -m bench.peers.embedder PORT``, with the protocol of OpenAI. The same text has the same embedding everywhere.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import sys
import zlib
from functools import lru_cache
from typing import Any

import numpy

from bench.peers.data import DIMENSIONS

_TOPICS = 100
"""Texts lie around so many centres, as texts about so many topics do: an index has something to find."""
_SPREAD = 0.7
"""Distance of a text from its centre, where the centres are 1 apart from zero."""


@lru_cache(200_000)
def embedding(text: str) -> Any:
    """The embedding of a text, of length 1."""
    number = zlib.crc32(text.encode())
    centre = numpy.random.default_rng(number % _TOPICS).standard_normal(DIMENSIONS)
    vector = centre + _SPREAD * numpy.random.default_rng(number).standard_normal(DIMENSIONS)
    return (vector / numpy.linalg.norm(vector)).astype("<f4")


@lru_cache(200_000)
def _written(text: str, is_base64: bool) -> str:
    vector = embedding(text)
    return json.dumps(base64.b64encode(vector.tobytes()).decode() if is_base64 else vector.tolist())


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError), contextlib.closing(writer):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            if b"expect: 100" in head:
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            asked = json.loads(await reader.readexactly(length))
            texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
            is_base64 = asked.get("encoding_format") == "base64"
            data = ",".join(
                f'{{"object":"embedding","index":{index},"embedding":{_written(text, is_base64)}}}'
                for index, text in enumerate(texts)
            )
            usage = f'"usage":{{"prompt_tokens":{len(texts)},"total_tokens":{len(texts)}}}'
            body = f'{{"object":"list","model":"instant","data":[{data}],{usage}}}'.encode()
            answer = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(answer.encode() + body)
            await writer.drain()


async def _main(port: int) -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", port, limit=1 << 24)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1])))
