"""Cuts texts into chunks of a limited number of tokens, along their paragraphs, sentences and words.

The cutting is that of the package semantic-text-splitter, which has its own copy of the encodings.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from ..errors import MissingPackageError
from .tokens import TokenCounter, estimate_tokens

if TYPE_CHECKING:
    import tiktoken

WINDOW_CHARACTERS = 32_000
"""Text is cut in windows of this size, and other jobs may run between two windows: the splitter holds the thread."""
MIN_WINDOW_PER_TOKEN = 16
MAX_WINDOW_PER_TOKEN = 64
"""Characters of a window for each token of a chunk: several chunks fit into a window in any language, but not hundreds,
because for each chunk the splitter looks at the whole rest of the window."""

# A model for each encoding that TokenCounter knows: the splitter takes names of models only.
_MODELS = {"o200k_base": "gpt-4o", "cl100k_base": "gpt-4"}
_DEFAULT_ENCODING = "cl100k_base"
# A gap ends a window, because the splitter takes quadratic time for blanks.
_GAP = re.compile(r"\s{500,}")
_MARKDOWN = re.compile(r"^(?:#{1,6} \S|```|~~~)", re.MULTILINE)

Split = Callable[[str], list[tuple[int, str]]]


class Cutter:
    """Cuts texts into chunks of at most `size` tokens, of which each repeats up to `overlap` of the chunk before.

    Made by `Cutter.of`.
    """

    def __init__(self, model: str, size: int, overlap: int, encoding: tiktoken.Encoding | None) -> None:
        self._model = model
        self._size = size
        self._overlap = overlap
        self._encoding = encoding

    @classmethod
    async def of(cls, tokenizer: str, size: int, overlap: int, counter: TokenCounter) -> Cutter:
        """A cutter that counts in the tokens of `tokenizer`, the name of a model or of an encoding.

        Raises MissingPackageError.
        """
        size = max(size, 1)
        # With more than half, the number of chunks, and the time to find them, would grow without limit.
        overlap = min(max(overlap, 0), size // 2)
        model = _model(tokenizer)
        return cls(model, size, overlap, await counter.encoding(model))

    async def chunks(self, text: str) -> list[dict[str, int]]:
        """The `start` and `length` of each chunk in characters, and its `token_count`. Raises MissingPackageError."""
        split = _splitter(text, self._model, self._size, self._overlap)
        chunks: list[dict[str, int]] = []
        last_start, covered = -1, 0
        async for start, end in _chunks(text, split, self._size):
            # The splitter adds up the tokens of parts, which together may have a few more.
            if start <= last_start or self._repeats_too_much(text[start:covered]):
                start = end - len(text[covered:end].lstrip())
            if start == end:  # Python knows more blanks than the splitter
                continue
            chunks.append({"start": start, "length": end - start, "token_count": self._count(text[start:end])})
            last_start, covered = start, end
        return chunks

    def _repeats_too_much(self, repeated: str) -> bool:
        return self._encoding is not None and _count(repeated, self._encoding) > self._overlap

    def _count(self, chunk: str) -> int:
        """The tokens of a chunk; an estimate stays within the size that the splitter has kept to."""
        return min(estimate_tokens(chunk), self._size) if self._encoding is None else _count(chunk, self._encoding)


def _count(text: str, encoding: tiktoken.Encoding) -> int:
    return len(encoding.encode(text, disallowed_special=()))


def _model(tokenizer: str) -> str:
    """A model whose encoding is that of the tokenizer, which is the name of a model or of an encoding."""
    try:
        from tiktoken.model import encoding_name_for_model
    except ImportError as error:
        raise _missing(error) from error
    try:
        encoding = tokenizer if tokenizer in _MODELS else encoding_name_for_model(tokenizer)
    except KeyError:
        encoding = _DEFAULT_ENCODING
    return _MODELS.get(encoding, _MODELS[_DEFAULT_ENCODING])


def _splitter(text: str, model: str, size: int, overlap: int) -> Split:
    try:
        from semantic_text_splitter import MarkdownSplitter, TextSplitter
    except ImportError as error:
        raise _missing(error) from error
    splitter = MarkdownSplitter if _MARKDOWN.search(text) else TextSplitter
    return splitter.from_tiktoken_model(model, size, overlap).chunk_indices


def _missing(error: ImportError) -> MissingPackageError:
    return MissingPackageError(
        f"documents are cut by the Python packages semantic-text-splitter and tiktoken, and one is missing: {error}"
    )


async def _chunks(text: str, split: Split, size: int) -> AsyncIterator[tuple[int, int]]:
    """The starts and ends of the chunks, found window by window; both increase.

    The last chunk of a window may have been cut short by the window's end, so the next window begins with it.
    """
    window = max(size * MIN_WINDOW_PER_TOKEN, min(size * MAX_WINDOW_PER_TOKEN, WINDOW_CHARACTERS))
    start = covered = 0
    while start < len(text):
        end = start + window
        if gap := _GAP.search(text, start, end):
            if gap.start() == start:
                start = gap.end()
                continue
            end = gap.start()
        found = _in_order(split(text[start:end]))
        await asyncio.sleep(0)
        next_start = end
        # A chunk that fills a whole window is a line of signs or a gap, which may be cut anywhere.
        if end < len(text) and not gap and len(found) > 1:
            next_start = start + found.pop()[0]
        for chunk_start, chunk_end in found:
            if start + chunk_end > covered:
                covered = start + chunk_end
                yield start + chunk_start, covered
        start = next_start


def _in_order(found: list[tuple[int, str]]) -> list[tuple[int, int]]:
    """The start and end of each chunk, without chunks within a neighbour, which a large overlap leaves."""
    kept: list[tuple[int, int]] = []
    for start, chunk in found:
        end = start + len(chunk)
        if kept and start <= kept[-1][0] and end > kept[-1][1]:
            kept.pop()
        if not kept or (start > kept[-1][0] and end > kept[-1][1]):
            kept.append((start, end))
    return kept
