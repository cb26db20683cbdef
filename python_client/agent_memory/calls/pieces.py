"""Takes a long text from wherever it is, in pieces of one size, so that nobody has to hold all of it."""

from __future__ import annotations

import codecs
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path

from ..errors import InvalidValueError

PIECE = 1 << 20
"""Characters of a piece that is sent."""

LongText = str | PathLike[str] | Iterable[str | bytes] | AsyncIterable[str | bytes]
"""A text, the path of a text file, or the text in any number of parts; files and bytes are UTF-8."""


class Cutter:
    """Cuts what comes in parts of any length into pieces of ``PIECE`` characters."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._parts: list[str] = []
        self._length = 0
        self._bytes_read = 0

    def add(self, part: str | bytes) -> Iterator[str]:
        """Take a part, and yield the pieces that are full with it."""
        if isinstance(part, (bytes, bytearray, memoryview)):
            part = self._decoded(bytes(part), False)
        elif not isinstance(part, str):
            raise InvalidValueError(
                f"a part of {self._name} must be text or bytes, not {type(part).__name__}",
                hint="Pass text, a pathlib.Path, or an iterable of text or bytes.",
            )
        self._parts.append(part)
        self._length += len(part)
        if self._length >= PIECE:
            text = "".join(self._parts)
            whole = len(text) - len(text) % PIECE
            self._parts, self._length = [text[whole:]], len(text) - whole
            for start in range(0, whole, PIECE):
                yield text[start : start + PIECE]

    def rest(self) -> str:
        """Return what is left at the end."""
        self._parts.append(self._decoded(b"", True))
        return "".join(self._parts)

    def _decoded(self, part: bytes, is_last: bool) -> str:
        waiting = len(self._decoder.getstate()[0])
        try:
            text = self._decoder.decode(part, is_last)
        except UnicodeDecodeError as error:
            place = self._bytes_read - waiting + error.start
            raise InvalidValueError(
                f"{self._name} is not UTF-8: {error.reason} at byte {place}", hint="Decode it, and pass text."
            ) from None
        self._bytes_read += len(part)
        return text


def parts_of(name: str, content: object) -> Iterator[str | bytes]:
    """Yield a long text in parts: a file by the MiB, anything iterable as it comes."""
    if isinstance(content, PathLike):
        with Path(content).open("rb") as file:
            while block := file.read(PIECE):
                yield block
    elif isinstance(content, str):
        yield content
    elif isinstance(content, Iterable) and not isinstance(content, (bytes, bytearray, memoryview, Mapping)):
        yield from content
    else:
        raise InvalidValueError(
            f"{name} must be text, a path, or an iterable of text or bytes, not {type(content).__name__}",
            hint=f"Pass {name}.decode()." if isinstance(content, bytes) else "The signature names the types it takes.",
        )


async def async_parts_of(name: str, content: object) -> AsyncIterator[str | bytes]:
    """Yield a long text in parts, as ``parts_of``, also of what is iterable asynchronously."""
    if isinstance(content, AsyncIterable):
        async for part in content:
            yield part
    else:
        for part in parts_of(name, content):
            yield part
