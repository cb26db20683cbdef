"""What clients of this process know of a database: whether it embeds queries, and what a role may do there."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

KNOWN_SECONDS = 60.0
"""How long a client relies on what it has found out."""
FAILED_SECONDS = 30.0
"""How long a model that has failed is not asked again."""
MAX_VECTORS = 256

RIGHTS = """
select coalesce(has_function_privilege(to_regprocedure(
    'memory.query_to_embed(text, text, text, text, boolean, boolean)'), 'execute'), false) as may_embed,
  coalesce(has_function_privilege(to_regprocedure(
    'memory.claim_jobs(text, text[], integer, interval, text)'), 'execute'), false) as may_work
"""
"""Whether the database knows the functions that the client needs, and whether the role may call them."""


@dataclass
class Server:
    """What is known of a database for one role; the times are those of time.monotonic().

    Attributes:
        checked_at: when the rights of the role were read.
        may_embed: whether the role may ask what to embed.
        may_work: whether the role may claim jobs.
        probed_at: when the server was asked whether it calls the model by itself.
        model: the model that it was asked for.
        embeds: whether queries are left to the server.
        idle_until: until when no jobs are claimed, because the model was too slow or failed.
        failed_until: until when the model is not asked.
        failure: that model, and why.
    """

    checked_at: float = float("-inf")
    may_embed: bool = False
    may_work: bool = False
    probed_at: float = float("-inf")
    model: Mapping[str, Any] | None = None
    embeds: bool = False
    idle_until: float = float("-inf")
    failed_until: float = float("-inf")
    failure: tuple[str, str] = ("", "")

    def embeds_itself(self) -> bool:
        """Whether queries are left to the server, which was asked lately."""
        return self.embeds and not self.is_to_be_probed()

    def is_to_be_probed(self) -> bool:
        """Whether it is time to ask whether the server embeds queries by itself."""
        return time.monotonic() > self.probed_at + KNOWN_SECONDS

    def fail(self, model: str, reason: str) -> None:
        """Remember that a model could not be asked."""
        self.failed_until, self.failure = time.monotonic() + FAILED_SECONDS, (model, reason)

    def known_failure(self, model: str) -> str | None:
        """Why a model could not be asked a moment ago, or None."""
        return self.failure[1] if self.failure[0] == model and time.monotonic() < self.failed_until else None


_servers: dict[Hashable, Server] = {}


def server(database: Hashable) -> Server:
    """What is known of a database, named by its address, role and schema."""
    return _servers.setdefault(database, Server())


class Vectors:
    """The embeddings of the newest queries of a client. Threads may share it."""

    def __init__(self) -> None:
        self._vectors: OrderedDict[tuple[str, str], list[float]] = OrderedDict()
        self._lock = Lock()

    def get(self, model: str, text: str) -> list[float] | None:
        """Return the embedding of a text by a model, if it is kept."""
        with self._lock:
            if (model, text) in self._vectors:
                self._vectors.move_to_end((model, text))
            return self._vectors.get((model, text))

    def keep(self, model: str, text: str, vector: list[float]) -> None:
        """Keep an embedding, and drop the one that was used longest ago if there are too many."""
        with self._lock:
            self._vectors[model, text] = vector
            if len(self._vectors) > MAX_VECTORS:
                self._vectors.popitem(last=False)
