"""Result rows of the SQL API, one frozen dataclass each; fields are named as the columns.

Times are timezone-aware; an ``expires_at`` of None means never. Token counts are the database's estimates.

``repr()`` of a row leaves out what is empty and cuts long texts, so that a list of rows can be read in a terminal; the
attributes have all of it. ``str()`` of what people read (messages, memories, results, parts of a context) is one line.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ._row import Row, line
from .choices import MemoryState
from .operating_types import Backfill as Backfill
from .operating_types import Change as Change
from .operating_types import Check as Check
from .operating_types import QueryToEmbed as QueryToEmbed

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionMessageParam


@dataclass(frozen=True, slots=True, repr=False)
class StoredMessage(Row):
    """A message as it was stored; ``memory_ref`` names its artifact, ``seq`` is None for an agent without memory."""

    seq: int | None
    content: str
    token_count: int
    memory_ref: str | None


@dataclass(frozen=True, slots=True, repr=False)
class Message(Row):
    """One message of a thread."""

    seq: int
    role: str
    content: str
    agent_id: str
    metadata: dict[str, Any]
    token_count: int
    created_at: datetime
    expires_at: datetime | None
    is_active: bool

    def __str__(self) -> str:
        return line(self.role, self.content)


@dataclass(frozen=True, slots=True, repr=False)
class ContextPart(Row):
    """One chat message of a built context; ``source`` names its origin (memories, thread_summary, message).

    ``metadata["cache"]`` says how long it stays where it stands: stable, thread or volatile.
    ``ordinal`` is None for what ``explain`` says about something that is not in the context.
    """

    ordinal: int | None
    role: str
    content: str
    source: str
    token_count: int
    metadata: dict[str, Any]

    def __str__(self) -> str:
        return line(f"{self.role} ({self.source}, {self.token_count} tokens)", self.content)


class Context(list[ContextPart]):
    """The parts of a context, in the order in which a model is to read them."""

    def to_openai(self) -> list[ChatCompletionMessageParam]:
        """Return the context as chat messages of OpenAI, with tool calls; see ``adapters.openai.to_openai``.

        System messages that begin it become one message, because templates of some chat models refuse a second one.
        """
        from .chat_messages import to_openai, with_one_system_message

        return with_one_system_message(to_openai(part for part in self if part.ordinal is not None))

    def to_anthropic(self) -> dict[str, list[dict[str, Any]]]:
        """Return ``system`` and ``messages`` for Anthropic, with ``cache_control`` where a cache of the prompt pays."""
        from .anthropic_messages import to_anthropic

        return to_anthropic(part for part in self if part.ordinal is not None)


@dataclass(frozen=True, slots=True, repr=False)
class Thread(Row):
    """A thread with its counters; ``total_count`` is the number of threads on all pages of a list."""

    thread_id: str
    message_count: int
    active_tokens: int
    first_at: datetime | None
    last_at: datetime | None
    total_count: int
    title: str | None
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class UserRecord(Row):
    """A user that something is stored about; ``last_at`` is the time of the newest message."""

    user_id: str
    thread_count: int
    message_count: int
    memory_count: int
    last_at: datetime | None
    total_count: int


@dataclass(frozen=True, slots=True, repr=False)
class Space(Row):
    """A space: memory that users share; ``access`` is the user's, read or write, or None in the list of all spaces."""

    space: str
    title: str | None
    access: str | None
    member_count: int
    memory_count: int
    created_at: datetime
    total_count: int
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class Summary(Row):
    """The summary of messages ``start_seq`` to ``end_seq``; ``base_summary_id`` is the summary it continued.

    ``kind`` is rolling, thread or user. Of a user's profile, ``end_seq`` + 1 is the number of messages that went in.
    """

    summary_id: UUID
    summary: str
    start_seq: int
    end_seq: int
    base_summary_id: UUID | None
    status: str
    metadata: dict[str, Any]
    generation_time_ms: int | None
    created_at: datetime
    kind: str


@dataclass(frozen=True, slots=True, repr=False)
class AddedMemory(Row):
    """The stored memory; ``inserted`` is false when the same memory existed already and this is its id.

    When nothing was stored, because the policy of the agent has no resource memory, ``memory_id`` is None, although its
    type does not say so: otherwise every caller would have to check each id for this one case.
    """

    memory_id: UUID
    inserted: bool


@dataclass(frozen=True, slots=True, repr=False)
class MemoryRecord(Row):
    """One long-term memory; ``confidence`` and ``importance`` are between 0 and 1.

    In a list, ``total_count`` is the size of the whole match. ``source`` is where the memory comes from: user,
    extraction, or what the caller named. ``source_seqs`` are the messages of ``thread_id`` that state it.
    ``trust`` is between 0 and 1: 1 for what the user or the application states, less for what others said. A memory
    with a ``quarantined_at`` is in quarantine, for ``quarantine_reason``. ``space`` is the space that the memory is of,
    None for the user's own. ``subject`` and ``attribute`` say what it is about, where that is known. ``state`` is
    current, ended, replaced, corrected, duplicate, deleted or quarantined.
    """

    memory_id: UUID
    memory_type: str
    content: str
    agent_id: str
    thread_id: str | None
    metadata: dict[str, Any]
    tags: list[str]
    confidence: float
    importance: float
    valid_from: datetime | None
    valid_to: datetime | None
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    superseded_by: UUID | None
    supersede_reason: str | None
    superseded_at: datetime | None
    version: int
    total_count: int
    source: str
    source_seqs: list[int] | None
    trust: float
    quarantined_at: datetime | None
    quarantine_reason: str | None
    space: str | None
    subject: str | None
    attribute: str | None
    state: MemoryState

    def __str__(self) -> str:
        return line(self.memory_type, self.content)


@dataclass(frozen=True, slots=True, repr=False)
class MemoryVersion(Row):
    """One version of a memory and the change that made it."""

    version: int
    operation: str
    content: str
    metadata: dict[str, Any]
    changed_at: datetime
    changed_by: str


@dataclass(frozen=True, slots=True, repr=False)
class Quarantined(Row):
    """Something in quarantine: a memory, message, document, artifact or summary, which ``source`` and ``id`` name.

    ``quarantined_with`` is the poisoned source that it derives from; None when it is itself the reason. ``content`` has
    the first 8,000 characters. ``total_count`` is the number of all.
    """

    source: str
    id: str
    content: str
    trust: float
    quarantined_at: datetime
    reason: str
    quarantined_with: str | None
    total_count: int

    def __str__(self) -> str:
        return line(f"{self.source} {self.id} ({self.reason})", self.content)


@dataclass(frozen=True, slots=True, repr=False)
class Document(Row):
    """One document of the knowledge base; ``thread_id`` is the thread it was archived from, if it was.

    ``total_count`` is the size of the whole match. ``trust`` is from 0 to 1. ``quarantined_at`` and
    ``quarantine_reason`` are None unless the document is in quarantine.
    """

    document_id: UUID
    title: str | None
    namespace: str
    doc_type: str
    content: str
    metadata: dict[str, Any]
    thread_id: str | None
    created_at: datetime
    updated_at: datetime
    total_count: int
    trust: float
    quarantined_at: datetime | None
    quarantine_reason: str | None


@dataclass(frozen=True, slots=True, repr=False)
class StoredArtifact(Row):
    """An artifact as it was stored; ``memory_ref`` is the placeholder that a context shows in its place.

    Both are None when nothing was stored, because the policy of the agent has no resource memory.
    """

    key: str | None
    memory_ref: str | None
    token_count: int


@dataclass(frozen=True, slots=True, repr=False)
class Artifact(Row):
    """One artifact without its content; ``total_count`` is the size of the whole match."""

    key: str
    memory_ref: str
    artifact_type: str
    description: str
    token_count: int
    agent_id: str
    thread_id: str | None
    metadata: dict[str, Any]
    created_at: datetime
    expires_at: datetime | None
    total_count: int


@dataclass(frozen=True, slots=True, repr=False)
class Checkpoint(Row):
    """The state of a graph after a step, with its serialised values.

    ``channels``, ``types`` and ``blobs`` are lists of one length or None; so are ``write_tasks``, ``write_channels``,
    ``write_types`` and ``write_blobs``: what tasks of the next step have written, in the order in which that applies.
    """

    thread_id: str
    namespace: str
    checkpoint_id: str
    parent_id: str | None
    checkpoint: dict[str, Any]
    metadata: dict[str, Any]
    created_at: datetime
    channels: list[str] | None
    types: list[str] | None
    blobs: list[bytes] | None
    write_tasks: list[str] | None
    write_channels: list[str] | None
    write_types: list[str] | None
    write_blobs: list[bytes] | None


@dataclass(frozen=True, slots=True, repr=False)
class Secret(Row):
    """A secret of a user without its value: when it was stored, and when it was last replaced."""

    name: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, repr=False)
class SearchResult(Row):
    """One hit of a search, best first.

    Attributes:
        source: memory, message, document, summary or artifact.
        id: of a memory, document or summary its id; of a message ``thread_id/seq``; of an artifact its key.
        thread_id: the thread that it belongs to, None where it belongs to none.
        content: what was found.
        score: 0 to 1, larger is better. In mode vector it is the cosine similarity. In mode hybrid it joins the ranks
            by words and by meaning as the policy's search.fusion says; it orders the results of one search, and says
            little when two searches are compared.
        metadata: that of the memory, message, document or artifact.
        created_at: when it was stored.
        details: depends on the source and on ``explain``. A memory and the message that it was drawn from are one hit:
            the other is here, as ``source_messages`` or ``memories``. In a search with spaces, ``space`` is the space
            that the hit is of, None for the user's own.
        valid_from: when it held or happened, None where that is not known.
        relevance: how much it has to do with the query, 0 to 1, comparable between queries and users; None where
            nothing can be said.
    """

    source: str
    id: str
    thread_id: str | None
    content: str
    score: float
    metadata: dict[str, Any]
    created_at: datetime
    details: dict[str, Any] | None
    valid_from: datetime | None
    relevance: float | None

    def __str__(self) -> str:
        return line(f"{self.score:.2f} {self.source} {self.valid_from or self.created_at:%Y-%m-%d}", self.content)


@dataclass(frozen=True, slots=True, repr=False)
class MemoryNeed(Row):
    """Whether a request needs memory: ``decision`` is search or skip, ``reason`` says why in words.

    ``details`` holds the ``score``, the score from which on memory is searched (``search_from``), and the ``signs``
    with their weights, the strongest reason to search first.
    """

    decision: str
    reason: str
    details: dict[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class Job(Row):
    """A job with its status, and its result or error."""

    job_id: int
    kind: str
    status: str
    attempts: int
    result: dict[str, Any] | None
    error: str | None
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, repr=False)
class ClaimedJob(Row):
    """A job leased to a worker: the payload goes to the model; the worker passes the token with the result."""

    job_id: int
    kind: str
    user_id: str
    lease_token: UUID
    attempt: int
    payload: dict[str, Any]
