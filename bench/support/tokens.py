"""Tokens as a model counts them, where the file of the encoding is at hand."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from agent_memory_models.text.tokens import estimate_tokens

from bench.support.environment import SHARED

ENCODING = "o200k_base"
FILES = SHARED / "data" / "tiktoken"


def token_counter() -> tuple[str, Callable[[str], int]]:
    """What counts, by name, and the function that does: tiktoken, or bytes / 4 where tiktoken has no file to read."""
    if FILES.exists():
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(FILES))
    if not Path(os.environ.get("TIKTOKEN_CACHE_DIR", "")).is_dir():  # tiktoken would download
        return "bytes / 4", estimate_tokens
    import tiktoken

    encoding = tiktoken.get_encoding(ENCODING)
    return f"tiktoken {ENCODING}", lambda text: len(encoding.encode_ordinary(text))
