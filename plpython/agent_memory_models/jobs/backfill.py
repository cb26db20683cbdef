"""Kind `backfill`: the work of `embed`, for an embedding model that is not active yet."""

from __future__ import annotations

from .embed import run

__all__ = ["run"]
