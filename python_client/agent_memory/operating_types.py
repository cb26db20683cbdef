"""Result rows of what workers and administrators call; agent_memory.types has them, too."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ._row import Row


@dataclass(frozen=True, slots=True, repr=False)
class Backfill(Row):
    """How many of the texts that can be searched an embedding model has embedded: ``done`` of ``total``."""

    model: str
    done: int
    total: int
    is_active: bool


@dataclass(frozen=True, slots=True, repr=False)
class QueryToEmbed(Row):
    """What a client is to embed before a search or context.

    Attributes:
        model: name, provider, model and settings of the embedding model that serves the user.
        text: what to embed; None where nothing is to be embedded, or the database has the embedding already.
        server_embeds: whether the server calls the model by itself; False where it was not asked.
        is_read_only: whether the transaction can keep no embedding.
        has_due_jobs: whether embed jobs of the user are due, or under way.
    """

    model: dict[str, Any]
    text: str | None
    server_embeds: bool
    is_read_only: bool
    has_due_jobs: bool


@dataclass(frozen=True, slots=True, repr=False)
class Check(Row):
    """One line of ``doctor``."""

    check_name: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True, repr=False)
class Change(Row):
    """Something that was changed; ``user_id`` is None for a user who was forgotten."""

    change_id: int
    at: datetime
    user_id: str | None
    source: str
    id: str
    operation: str
    actor: str
