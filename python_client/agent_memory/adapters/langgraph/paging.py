"""How a list of checkpoints is read in pages."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..clients import needs

with needs("langgraph"):
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import CheckpointTuple, get_checkpoint_id

PAGE = 100
"""Checkpoints that are read at once."""


class Paging:
    """How far a list has been read."""

    def __init__(self, before: RunnableConfig | None, limit: int | None) -> None:
        self.before = None if before is None else get_checkpoint_id(before)
        self._left = math.inf if limit is None else limit
        self.wanted = int(min(self._left, PAGE))

    def passed(self, page: Sequence[CheckpointTuple]) -> Sequence[CheckpointTuple]:
        """Note and return a page that was read."""
        if page:
            self.before = get_checkpoint_id(page[-1].config)
        taken = page[: int(min(self._left, len(page)))]
        self._left -= len(taken)
        self.wanted = 0 if len(page) < self.wanted else int(min(self._left, PAGE))
        return taken
