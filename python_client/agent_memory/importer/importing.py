"""Stores the records of the readers in one transaction."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg

from ..choices import ImportFormat
from ..client import Memory
from ..errors import ConflictError, InvalidValueError, LimitExceededError
from .formats import records_of
from .records import ImportFileError, IncomingMemory, Record, shown
from .values import NO_LIMITS, Limits

_BATCH = 1000
_REFUSALS = (InvalidValueError, LimitExceededError, ConflictError)
"""Errors by which the database refuses a record; other errors end an import."""

_PLACE = re.compile(r" of (?:messages|memories)\[(\d+)\]|(?:messages|memories)\[(\d+)\]: ")
"""Where an error names the record of a batch."""

OnBad = Callable[[ImportFileError], None]


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """The progress of an import in messages and memories; ``users`` and ``threads`` count those seen so far.

    Of the records done, ``new`` were stored by this import; the others had been stored before. ``memories`` of those
    that are new are memories, ``bad`` records were left out.
    """

    done: int
    new: int
    total: int
    users: int
    threads: int
    memories: int = 0
    bad: int = 0


def import_file(
    connection: psycopg.Connection[Any],
    path: Path | str,
    *,
    user_id: str | None = None,
    thread_id: str | None = None,
    format: ImportFormat | None = None,
    on_bad: OnBad | None = None,
    dry_run: bool = False,
    only_user: str | None = None,
    limits: Limits = NO_LIMITS,
    connection_of: Callable[[str], psycopg.Connection[Any]] | None = None,
) -> Iterator[ImportProgress]:
    """Import a file in one transaction, queue the extraction of memories from what is new, and report on the way.

    As long as its messages are kept, importing a file again stores only what was added to it.

    Args:
        connection: an open connection; the import is a transaction of it.
        path: the file; of LangGraph's checkpoints also the connection string of their PostgreSQL.
        user_id: the user of records that name none.
        thread_id: the thread of messages that name none; the file's name without extension when None.
        format: what the file is; None finds out.
        on_bad: is called with each record that cannot be imported, and the others are; None raises the first one, and
            nothing is stored.
        dry_run: roll back at the end: the progress says what would be stored.
        only_user: the user whose records are accepted; None for any.
        limits: what reading the file may cost.
        connection_of: returns the connection to the node of a user, where a cluster has the users. The import is a
            transaction of each, and these are committed when the whole file is stored.

    Raises:
        ImportFileError: a record is malformed, is of another user than ``only_user``, or the database refused it.
        OSError: the file cannot be read.
    """
    bad = 0

    def note(error: ImportFileError, cause: Exception | None = None) -> None:
        nonlocal bad
        if on_bad is None:
            raise error from cause
        bad += 1
        on_bad(error)

    # Reading the file twice costs little beside writing; nothing is written before the whole file is known to be valid.
    total = 0
    for record in records_of(path, format, user_id, thread_id, limits):
        if isinstance(record, ImportFileError):
            note(record)
        elif only_user not in (None, record.user_id):
            raise ImportFileError(
                f"{shown(path)}, {record.place}: the message is of another user",
                hint="Leave user_id out of the messages.",
            )
        else:
            total += 1
    done, memories = 0, 0
    users, new = set[str](), Counter[tuple[str, str]]()
    begun: dict[int, psycopg.Connection[Any]] = {}
    with ExitStack() as transactions:

        def begun_for(user_id: str) -> psycopg.Connection[Any]:
            chosen = connection if connection_of is None else connection_of(user_id)
            if id(chosen) not in begun:
                transactions.enter_context(chosen.transaction(force_rollback=dry_run))
            return begun.setdefault(id(chosen), chosen)

        for batch in _batches(records_of(path, format, user_id, thread_id, limits)):
            first = batch[0]
            if isinstance(first, IncomingMemory):
                memories += _add_memories(begun_for(first.user_id), path, batch, note)
                users.add(first.user_id)
            else:
                thread = (first.user_id, first.thread_id)
                new[thread] += _add_messages(begun_for(first.user_id), path, batch, note)
                users.add(first.user_id)
            done += len(batch)
            yield ImportProgress(done, new.total() + memories, total, len(users), len(new), memories, bad)
        # The cadence has queued work for full rounds of messages only; this queues the last messages of each thread.
        for thread, count in new.items():
            if count:
                Memory(begun_for(thread[0])).extract_memories(*thread)
    if bad and not done:
        yield ImportProgress(0, 0, 0, 0, 0, 0, bad)


def _add_messages(
    connection: psycopg.Connection[Any],
    path: Path | str,
    batch: list[Any],
    note: Callable[[ImportFileError, Exception], None],
) -> int:
    """Store messages of one thread, and return how many of them are new."""
    memory = Memory(connection)
    thread = (batch[0].user_id, batch[0].thread_id)
    batch = _not_forgotten(memory, thread[0], batch, [each.message for each in batch])
    newest = memory.get_messages(*thread, recent_k=1, include_inactive=True)
    last_before = newest[0].seq if newest else -1
    stored = _stored(
        connection, path, batch, note, lambda kept: memory.add_messages(*thread, [each.message for each in kept])
    )
    return len({seq for message in stored if (seq := message.seq) is not None and seq > last_before})


def _add_memories(
    connection: psycopg.Connection[Any],
    path: Path | str,
    batch: list[Any],
    note: Callable[[ImportFileError, Exception], None],
) -> int:
    """Store memories of one user, and return how many of them are new."""
    memory, user_id = Memory(connection), batch[0].user_id
    batch = _not_forgotten(memory, user_id, batch, [each.arguments for each in batch])
    stored = _stored(
        connection, path, batch, note, lambda kept: memory.add_memories(user_id, [each.arguments for each in kept])
    )
    return sum(added.inserted for added in stored)


def _stored(
    connection: psycopg.Connection[Any],
    path: Path | str,
    batch: list[Any],
    note: Callable[[ImportFileError, Exception], None],
    store: Callable[[list[Any]], list[Any]],
) -> list[Any]:
    """Store a batch without the records that the database refuses, and return what it says of the others."""
    while batch:
        try:
            with connection.transaction():
                return store(batch)
        except _REFUSALS as error:  # noqa: PERF203
            match = _PLACE.search(error.message)
            number = int(match[1] or match[2]) if match else None
            place = f"{batch[0].place} to {batch[-1].place}" if number is None else batch[number].place
            text = error.message.replace(match[0], "") if match else error.message
            note(ImportFileError(f"{shown(path)}, {place}: {text}", hint=error.hint), error)
            batch = [] if number is None else batch[:number] + batch[number + 1 :]
    return []


def _not_forgotten(memory: Memory, user_id: str, records: list[Any], said: list[Mapping[str, Any]]) -> list[Any]:
    """Return the records without those that were forgotten here; what is malformed is left for the database."""
    asked = []
    for each in said:
        content, said_at = each.get("content"), each.get("created_at") or each.get("valid_from")
        is_text = isinstance(content, str) and "\0" not in content
        time = said_at.isoformat() if isinstance(said_at, datetime) and said_at.tzinfo else None
        asked.append({"role": "user", "content": content if is_text else "", "created_at": time})
    forgotten = memory.was_forgotten(user_id, asked)
    return [record for record, is_forgotten in zip(records, forgotten, strict=True) if not is_forgotten]


def _batches(records: Iterator[Record]) -> Iterator[list[Any]]:
    """Gather the messages of each thread, and the memories of each user, which may be interleaved, not a whole file.

    What cannot be read was noted before.
    """
    gathered: dict[tuple[str, ...], list[Any]] = {}
    held = 0
    for record in records:
        if isinstance(record, ImportFileError):
            continue
        of = (record.user_id,) if isinstance(record, IncomingMemory) else (record.user_id, record.thread_id)
        batch = gathered.setdefault(of, [])
        batch.append(record)
        held += 1
        if len(batch) == _BATCH:
            yield gathered.pop(of)
            held -= _BATCH
        elif held >= 10 * _BATCH:
            yield from gathered.values()
            gathered.clear()
            held = 0
    yield from gathered.values()
