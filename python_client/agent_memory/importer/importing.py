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
from .records import ImportFileError, Incoming, Record, shown

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
        connection_of: returns the connection to the node of a user, where a cluster has the users. The import is a
            transaction of each, and these are committed when the whole file is stored.

    Raises:
        ImportFileError: a record is malformed, or the database refused it.
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
    for record in records_of(path, format, user_id, thread_id):
        if isinstance(record, ImportFileError):
            note(record)
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

        for batch in _batches(records_of(path, format, user_id, thread_id)):
            user, thread = batch[0].user_id, batch[0].thread_id
            stored = _stored(begun_for(user), path, batch, note)
            users.add(user)
            if thread is None:
                memories += stored
            else:
                new[user, thread] += stored
            done += len(batch)
            yield ImportProgress(done, new.total() + memories, total, len(users), len(new), memories, bad)
        # The cadence has queued work for full rounds of messages only; this queues the last messages of each thread.
        for (user, thread), count in new.items():
            if count:
                Memory(begun_for(user)).extract_memories(user, thread)
    if bad and not done:
        yield ImportProgress(0, 0, 0, 0, 0, 0, bad)


def _stored(
    connection: psycopg.Connection[Any],
    path: Path | str,
    batch: list[Incoming],
    note: Callable[[ImportFileError, Exception], None],
) -> int:
    """Store messages of one thread or memories of one user, and return how many of them are new.

    What the database refuses is noted and left out, and what was forgotten here stays so.
    """
    memory, user_id, thread_id = Memory(connection), batch[0].user_id, batch[0].thread_id
    forgotten = memory.was_forgotten(user_id, [_as_said(each.given) for each in batch])
    batch = [record for record, is_forgotten in zip(batch, forgotten, strict=True) if not is_forgotten]
    last_before = -1
    if thread_id is not None:
        for newest in memory.get_messages(user_id, thread_id, recent_k=1, include_inactive=True):
            last_before = newest.seq
    while batch:
        given = [each.given for each in batch]
        try:
            with connection.transaction():
                if thread_id is None:
                    return sum(added.inserted for added in memory.add_memories(user_id, given))
                seqs = {message.seq for message in memory.add_messages(user_id, thread_id, given)}
                return sum(seq is not None and seq > last_before for seq in seqs)
        except _REFUSALS as error:
            match = _PLACE.search(error.message)
            number = int(match[1] or match[2]) if match else None
            place = f"{batch[0].place} to {batch[-1].place}" if number is None else batch[number].place
            text = error.message.replace(match[0], "") if match else error.message
            note(ImportFileError(f"{shown(path)}, {place}: {text}", hint=error.hint), error)
            batch = [] if number is None else batch[:number] + batch[number + 1 :]
    return 0


def _as_said(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message that states a record; what is malformed is left for the database."""
    content, said_at = given.get("content"), given.get("created_at") or given.get("valid_from")
    is_text = isinstance(content, str) and "\0" not in content
    time = said_at.isoformat() if isinstance(said_at, datetime) and said_at.tzinfo else None
    return {"role": "user", "content": content if is_text else "", "created_at": time}


def _batches(records: Iterator[Record]) -> Iterator[list[Incoming]]:
    """Gather the messages of each thread, and the memories of each user, which may be interleaved, not a whole file.

    What cannot be read was noted before.
    """
    gathered: dict[tuple[str, str | None], list[Incoming]] = {}
    held = 0
    for record in records:
        if isinstance(record, ImportFileError):
            continue
        of = (record.user_id, record.thread_id)
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
