"""Rows of several users, stored in the database and known here too, with all that a filter may ask for."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID, uuid4

from psycopg import sql

from tests.support import embeddings
from tests.support.sqlapi import Api

DIMENSIONS = 6
START = datetime(2026, 1, 1, tzinfo=timezone.utc)
SOURCES = ["memory", "summary", "document", "message", "artifact"]
WORDS = ["tea", "boat", "lamp", "fern", "moss", "kite", "drum", "salt"]
USERS = ["ana", "bob", "cyd"]


def insert(api: Api, table: str, returning: str, **columns: Any) -> Any:
    """Store one row past the functions; returns one of its columns."""
    values = {name: json.dumps(value) if isinstance(value, dict) else value for name, value in columns.items()}
    statement = sql.SQL("insert into {} ({}) values ({}) returning {}").format(
        sql.Identifier("memory", table),
        sql.SQL(", ").join(map(sql.Identifier, values)),
        sql.SQL(", ").join(map(sql.Placeholder, values)),
        sql.Identifier(returning),
    )
    return api.value(statement, **values)


def register(api: Api, name: str, dimensions: int | None = None) -> None:
    settings = {} if dimensions is None else {"dimensions": dimensions}
    api.register_model(name=name, kind="embedding", provider="openai", model=name, settings=settings)


def embed(api: Api, row_id: Any, vector: Any, source: str = "memory", **columns: str) -> None:
    """Store the embedding of one text."""
    embeddings.embed(api, source, [(row_id, vector)], **columns)


@dataclass
class Row:
    """Anything that can be found, with all that a filter may ask for."""

    user_id: str
    source: str
    key: str = ""
    """Its id among the embeddings."""
    content: str = ""
    created_at: datetime = START
    thread_id: str | None = None
    agents: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    vector: list[int] | None = None
    # Of a memory
    memory_type: str = "fact"
    tags: list[str] = field(default_factory=list)
    confidence: float = 1.0
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    superseded_at: datetime | None = None
    is_gone: bool = False
    """Deleted, cleared or not finished."""
    # Of a message or a piece of a document
    number: int = 0
    doc_type: str = ""
    namespace: str = ""
    # Of a summary
    kind: str = ""
    end_seq: int = 0
    words: set[str] = field(default_factory=set)
    """Those of WORDS that it has."""
    lexemes: int = 0
    """How many different words it has."""

    @property
    def shown(self) -> str:
        """The text that a result shows for the row."""
        if self.source != "artifact":
            return self.content
        return f"[MemoryRef: {self.result_id} - notes - {(len(self.content) + 3) // 4} tokens]\n{self.content}"

    @property
    def result_id(self) -> str:
        return self.key.partition("/")[0] if self.source in ("document", "artifact") else self.key


def columns(row: Row, names: str) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names.split()}


def draw_vector(chance: random.Random) -> list[int]:
    """A direction, which zeros would not be."""
    vector = [chance.randrange(-3, 4) for _ in range(DIMENSIONS)]
    return vector if any(vector) else draw_vector(chance)


class World:
    """Rows of several users, stored in the database and known here."""

    def __init__(self, api: Api, seed: int) -> None:
        self.api = api
        self.chance = random.Random(seed)
        self.now: datetime = api.value("select now()")
        self.rows = [
            row
            for user_id in USERS
            for rows in (self._memories, self._messages, self._documents, self._artifacts)
            for row in rows(user_id)
        ]
        for user_id in USERS:
            self.rows += self._summaries(user_id)
        self.api.value("select memory._artifacts_parse(null, 1000000)")
        self.api.value("select memory._finish_unread_messages(70)")  # of 120 messages: search parses the others
        self._embed()
        self._read_words()

    def _row(self, user_id: str, source: str, **fields: Any) -> Row:
        chance = self.chance
        words = " ".join(chance.choices(WORDS, k=chance.randrange(1, 8)))
        # Few values, so that filters meet and rows tie.
        return Row(
            user_id=user_id,
            source=source,
            content=f"{words} n{chance.randrange(10**9)}",
            metadata={"channel": chance.choice(["mail", "chat"]), "nested": {"a": chance.randrange(2), "b": 1}},
            vector=draw_vector(chance) if chance.random() < 0.8 else None,
            **{"created_at": self.moment(), "thread_id": chance.choice([None, "t1", "t2"]), **fields},
        )

    def moment(self) -> datetime:
        return self.now - timedelta(days=self.chance.randrange(1, 300))

    def edge(self) -> datetime:
        """A moment at which something began or ended."""
        name = self.chance.choice(["created_at", "created_at", "valid_from", "valid_to", "superseded_at"])
        moments: list[datetime] = [
            moment for row in self.rows if (moment := getattr(row, name)) is not None and moment < self.now
        ]
        return self.chance.choice(moments)

    def _maybe(self, share: float = 0.2) -> datetime | None:
        return self.moment() if self.chance.random() < share else None

    def _memories(self, user_id: str) -> Iterator[Row]:
        chance = self.chance
        for _ in range(60):
            valid_from, valid_to = self._maybe(), self._maybe() or (self.now + timedelta(days=30))
            row = self._row(
                user_id,
                "memory",
                agents=[chance.choice(["cook", "tutor"])],
                memory_type=chance.choice(["fact", "preference", "context"]),
                tags=chance.sample(["red", "hot", "old"], chance.randrange(4)),
                confidence=chance.choice([0.25, 0.5, 1.0]),
                valid_from=valid_from,
                valid_to=max(valid_from or START, valid_to) if chance.random() < 0.5 else None,
                expires_at=self.now + timedelta(days=chance.choice([-1, 1])) if chance.random() < 0.2 else None,
                superseded_at=self._maybe(),
                is_gone=chance.random() < 0.1,
            )
            if chance.random() < 0.2:  # too many words for the index that the others are read from
                row.content += "".join(f" {chance.randrange(10**9)}" for _ in range(300))
            superseded = {"superseded_at": row.superseded_at, "superseded_by": UUID(int=1)} if row.superseded_at else {}
            stored = insert(
                self.api, "memories", "memory_id",
                **columns(row, "user_id thread_id memory_type content tags confidence metadata created_at"),
                **columns(row, "valid_from valid_to expires_at"),
                **superseded, agent_id=row.agents[0], deleted_at=self.now if row.is_gone else None,
            )  # fmt: skip
            row.key = str(stored)
            yield row

    def _messages(self, user_id: str) -> Iterator[Row]:
        for _ in range(40):
            row = self._row(
                user_id,
                "message",
                thread_id=self.chance.choice(["t1", "t2"]),
                agents=[self.chance.choice(["cook", "tutor"])],
                expires_at=self.now + timedelta(days=self.chance.choice([-1, 1, 1, 1])),
                is_gone=self.chance.random() < 0.1,
            )
            row.number = insert(
                self.api, "messages", "seq", agent_id=row.agents[0], role="user",
                **columns(row, "user_id thread_id content metadata created_at expires_at"),
            )  # fmt: skip
            row.key = f"{row.thread_id}/{row.number}"
            if row.is_gone:
                self.api.query(
                    """
                    update memory.messages set is_active = false
                    where user_id = %(user_id)s and thread_id = %(thread_id)s and seq = %(number)s returning 1
                    """,
                    **vars(row),
                )
            yield row

    def _documents(self, user_id: str) -> Iterator[Row]:
        for _ in range(10):
            first = self._row(
                user_id,
                "document",
                agents=self.chance.choice([[], ["cook"], ["cook", "tutor"]]),
                doc_type=self.chance.choice(["manual", "letter"]),
                namespace=self.chance.choice(["home", "work"]),
            )
            document_id = insert(
                self.api, "documents", "document_id", agent_ids=first.agents,
                **columns(first, "user_id namespace doc_type content metadata thread_id created_at"),
            )  # fmt: skip
            first.key = f"{document_id}/0"
            yield first
            shared = ("thread_id", "created_at", "agents", "doc_type", "namespace", "metadata")
            for number in range(1, self.chance.randrange(1, 5)):
                piece = self._row(user_id, "document", number=number, key=f"{document_id}/{number}")
                vars(piece).update({name: getattr(first, name) for name in shared})
                insert(
                    self.api, "document_chunks", "number", document_id=document_id, token_count=9,
                    **columns(piece, "user_id number content"),
                )  # fmt: skip
                yield piece

    def _artifacts(self, user_id: str) -> Iterator[Row]:
        for _ in range(30):
            row = self._row(
                user_id,
                "artifact",
                agents=[self.chance.choice(["cook", "tutor"])],
                expires_at=self.now + timedelta(days=self.chance.choice([-1, 1]))
                if self.chance.random() < 0.3
                else None,
            )
            key = insert(
                self.api, "artifacts", "key", agent_id=row.agents[0], description="notes",
                **columns(row, "user_id thread_id content metadata created_at expires_at"),
            )  # fmt: skip
            row.key = f"{key}/0"
            yield row

    def _summaries(self, user_id: str) -> Iterator[Row]:
        for thread_id, kind in (("t1", "rolling"), ("t2", "rolling"), ("t1", "thread"), (None, "user")):
            for end_seq in range(1, 5):
                row = self._row(
                    user_id, "summary", thread_id=thread_id, kind=kind, end_seq=end_seq,
                    agents=self.chance.choice([[], ["cook"], ["cook", "tutor"]]),
                    created_at=self.now - timedelta(days=300 - 60 * end_seq), is_gone=end_seq == 4,
                )  # fmt: skip
                summary_id = insert(
                    self.api, "summaries", "summary_id", summary_id=uuid4(), start_seq=0, agent_ids=row.agents,
                    thread_id=thread_id or "", summary=None if row.is_gone else row.content,
                    status="failed" if row.is_gone else "completed",
                    **columns(row, "user_id kind end_seq metadata created_at"),
                )  # fmt: skip
                row.key = str(summary_id)
                yield row

    def _embed(self) -> None:
        """One model for the vectors of the rows, and another that would say something else."""
        for model, dimensions in (("six", DIMENSIONS), ("two", 2)):
            register(self.api, model, dimensions)
            for row in self.rows:
                if row.vector is not None:
                    vector = row.vector[:dimensions] if any(row.vector[:dimensions]) else [1] * dimensions
                    embed(self.api, row.key, vector, row.source, user_id=row.user_id, model=model)
        self.api.activate_model(name="six")

    def _read_words(self) -> None:
        by_key = {(row.user_id, row.source, row.key): row for row in self.rows}
        read = self.api.query(
            """
            with texts (user_id, source, key, vector) as (
              select user_id, 'message', thread_id || '/' || seq,
                memory._text_vector('english', memory._said_in_message(content, metadata, created_at))
              from memory.messages
              union all select user_id, source, id, words from memory.texts where source <> 'message'
            )
            select t.user_id, t.source, t.key, tsvector_to_array(t.vector) from texts as t
            """
        )
        for user_id, source, key, words in read:
            row = by_key[user_id, source, key]
            row.words, row.lexemes = {*WORDS} & {*words}, len(words)

    def visible(self, user_id: str, filters: dict[str, Any]) -> list[Row]:
        """The rows that a search may show."""
        as_of = filters.get("as_of")
        latest: dict[tuple[str | None, str], Row] = {}
        for row in self.rows:
            is_known = as_of is None or row.created_at <= as_of
            if row.user_id == user_id and row.source == "summary" and not row.is_gone and is_known:
                latest[row.thread_id, row.kind] = row  # stored in the order of end_seq
        return [
            row
            for row in self.rows
            if row.user_id == user_id
            and (row.source != "summary" or latest.get((row.thread_id, row.kind)) is row)
            and self._holds(row, as_of, filters.get("include_superseded", False))
            and passes(row, filters)
        ]

    def _holds(self, row: Row, as_of: datetime | None, include_superseded: bool) -> bool:
        if row.is_gone or (row.expires_at is not None and row.expires_at <= self.now):
            return False
        if row.source != "memory":
            return as_of is None or row.created_at <= as_of
        if as_of is None:
            return include_superseded or (
                row.superseded_at is None and (row.valid_to is None or row.valid_to > self.now)
            )
        ends = row.valid_to or (None if include_superseded else row.superseded_at)
        return (row.valid_from or row.created_at) <= as_of and (ends is None or as_of < ends)


def passes(row: Row, filters: dict[str, Any]) -> bool:
    """Whether a row is what the caller asks for."""
    is_memory, is_document = row.source == "memory", row.source == "document"
    of_one_agent = row.source in ("memory", "message", "artifact")

    def check(name: str, value: Any) -> bool:
        match name:
            case "sources":
                return row.source in value
            case "agent_id":
                return row.agents == [value] if of_one_agent else {*row.agents} <= {value}
            case "thread_id":
                return bool(row.thread_id == value)
            case "exclude_thread_id":
                return bool(row.thread_id != value)
            case "memory_types":
                return is_memory and row.memory_type in value
            case "tags_all":
                return is_memory and {*value} <= {*row.tags}
            case "tags_any":
                return is_memory and not {*value}.isdisjoint(row.tags)
            case "exclude_tags":
                return {*value}.isdisjoint(row.tags)
            case "filter":
                nested = value.get("nested", {}).items() <= row.metadata["nested"].items()
                return bool(nested and value.get("channel", row.metadata["channel"]) == row.metadata["channel"])
            case "min_confidence":
                return is_memory and row.confidence >= value
            case "created_after":
                return bool(row.created_at > value)
            case "created_before":
                return bool(row.created_at < value)
            case "doc_types":
                return is_document and row.doc_type in value
            case "namespaces":
                return is_document and row.namespace in value
        return True

    return all(check(name, value) for name, value in filters.items())
