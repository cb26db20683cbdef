"""Tokens as a model counts them, where the file of the encoding is at hand."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_memory_models.text.tokens import estimate_tokens

from bench.support.environment import SHARED

ENCODING = "o200k_base"
FILES = SHARED / "data" / "tiktoken"


def encoding() -> Any:
    """The encoding of tiktoken, from its file where that is at hand."""
    import tiktoken

    if FILES.exists():
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(FILES))
    return tiktoken.get_encoding(ENCODING)


def token_counter() -> tuple[str, Callable[[str], int]]:
    """What counts, by name, and the function that does: tiktoken, or bytes / 4 where tiktoken has no file to read."""
    if not FILES.exists() and not Path(os.environ.get("TIKTOKEN_CACHE_DIR", "")).is_dir():  # tiktoken would download
        return "bytes / 4", estimate_tokens
    encode = encoding().encode_ordinary
    return f"tiktoken {ENCODING}", lambda text: len(encode(text))
