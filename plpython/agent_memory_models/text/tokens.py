"""Counts tokens with tiktoken where its encodings are installed, and estimates them elsewhere."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import tiktoken

DEFAULT_ENCODING = "o200k_base"
DOWNLOAD_SECONDS = 10.0
ENCODINGS_FOLDER = "tiktoken_encodings"
"""Where docker/install-server-python.sh puts the encodings, beside the packages."""
PIECE_CHARACTERS = 10_000
"""Text is encoded in pieces of this size, and other jobs may run between two pieces: tiktoken holds the thread, and its
older versions take quadratic time for a long run of letters."""

# Tiktoken's cache names a file by the SHA-1 of its URL; the SHA-256 is that of the content. Both are taken from
# tiktoken_ext/openai_public.py.
_FILES = {
    "o200k_base": (
        "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": (
        "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}
_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
_PACKAGES_VARIABLE = "AGENT_MEMORY_PYTHONPATH"

# Both encodings begin a new token at each of these places, so cutting there does not change the count.
_BOUNDARY = re.compile(r" (?=\S)|(?<=[^\W\d_])[，。、；：！？]")


def estimate_tokens(text: str) -> int:
    """A token for every four bytes, rounded up, as the database estimates."""
    return (len(text.encode(errors="replace")) + 3) // 4


class TokenCounter:
    """Counts tokens in the encoding of a model."""

    def __init__(self, *, may_download: bool) -> None:
        self._may_download = may_download
        self._encodings: dict[str, tiktoken.Encoding | None] = {}
        self._loading = asyncio.Lock()

    async def encoding(self, model: str) -> tiktoken.Encoding | None:
        """The encoding of a model, o200k_base for a model unknown to tiktoken; None where its file is not available."""
        try:
            from tiktoken.model import encoding_name_for_model
        except ImportError:
            return None
        try:
            name = encoding_name_for_model(model)
        except KeyError:
            name = DEFAULT_ENCODING
        name = name if name in _FILES else DEFAULT_ENCODING
        async with self._loading:
            if name not in self._encodings:
                self._encodings[name] = await self._load(name)
        return self._encodings[name]

    async def count(self, texts: Iterable[str], model: str) -> int:
        """The tokens of texts, estimated where there is no encoding."""
        encoding = await self.encoding(model)
        return sum([await _count(text, encoding) if encoding else estimate_tokens(text) for text in texts])

    async def count_exactly(self, text: str, model: str) -> int | None:
        """The tokens of a text; None when there is no encoding."""
        encoding = await self.encoding(model)
        return None if encoding is None else await _count(text, encoding)

    async def count_messages(self, messages: list[dict[str, Any]], model: str) -> dict[str, Any]:
        """The part of a result that corrects the database's estimates.

        `token_counts` by seq for each message that is whole and not counted yet, and `token_counter`, the encoding;
        nothing when there is no encoding.
        """
        encoding = await self.encoding(model)
        if encoding is None:
            return {}
        counts = {}
        for message in messages:
            if not (message.get("is_counted") or message.get("is_cut")):
                tool_calls = message.get("tool_calls")
                written = json.dumps(tool_calls, ensure_ascii=False) if tool_calls else ""
                counts[str(message["seq"])] = await _count(message["content"], encoding) + await _count(
                    written, encoding
                )
        return {"token_counts": counts, "token_counter": encoding.name}

    async def _load(self, name: str) -> tiktoken.Encoding | None:
        import tiktoken

        url, digest = _FILES[name]
        folder = os.environ.get(_CACHE_VARIABLE)
        if folder is None and self._may_download:
            return await self._download(name)
        if folder is None and (packages := os.environ.get(_PACKAGES_VARIABLE)):
            folder = os.environ[_CACHE_VARIABLE] = str(Path(packages, ENCODINGS_FOLDER))
        try:
            file = Path(folder or "", hashlib.sha1(url.encode()).hexdigest()).read_bytes()
        except OSError:
            return None
        # Only an intact file: tiktoken would replace a damaged one by a download.
        return tiktoken.get_encoding(name) if hashlib.sha256(file).hexdigest() == digest else None

    async def _download(self, name: str) -> tiktoken.Encoding | None:
        """The encoding from tiktoken's cache or the network, tried once; None when that fails or takes too long."""
        import tiktoken

        loaded: list[tiktoken.Encoding] = []

        def load() -> None:
            with suppress(Exception):  # no network, or no room for the cache
                loaded.append(tiktoken.get_encoding(name))

        thread = threading.Thread(target=load, daemon=True)
        thread.start()
        deadline = time.monotonic() + DOWNLOAD_SECONDS
        while thread.is_alive() and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        return loaded[0] if loaded else None


async def _count(text: str, encoding: tiktoken.Encoding) -> int:
    """The exact number of tokens, except that each cut in a run of PIECE_CHARACTERS without a space may add a token."""
    tokens = 0
    start = 0
    while start < len(text):
        end = start + PIECE_CHARACTERS
        if end < len(text):
            for boundary in _BOUNDARY.finditer(text, start + 1, end):
                end = boundary.start()
        tokens += len(encoding.encode(text[start:end], disallowed_special=()))
        start = end
        await asyncio.sleep(0)
    return tokens
