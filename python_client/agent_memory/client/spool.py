"""Where a buffer keeps what was not pushed yet: an SQLite database, in memory or in a file.

SQLite does here what a file of lines would need code for: a process that is killed within a write leaves nothing half
written, several processes share one file, a full disk changes nothing, and what was pushed is removed in one step.
"""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._files import UnsafeFileError, make_own
from ..buffered import BufferedItem
from ..errors import AgentMemoryError, InvalidValueError

if TYPE_CHECKING:
    import sqlite3

_BUSY_SECONDS = 30.0
"""How long a process waits for another one that writes into the file."""
_OURS = 0x61674D42
"""The application_id of a buffer's file."""
_TABLE = """
create table if not exists items (
  item_id integer primary key autoincrement,
  kind text not null,
  arguments text not null,
  error text
)
"""


@dataclass(frozen=True, slots=True)
class Spooled:
    """An item that waits: its number in the order of arrival, its kind, what was given, and how long that is."""

    item_id: int
    kind: str
    arguments: dict[str, Any]
    size: int


class Spool:
    """Items in the order of their arrival, on disk if a path is given. Threads and processes may share it."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else _checked(path)
        self._lock = threading.Lock()
        self._pid = os.getpid()
        with self._explained():
            self._database: sqlite3.Connection | None = self._opened()

    def add(self, items: Sequence[tuple[str, Mapping[str, Any]]]) -> list[int]:
        """Keep items, each a kind and its arguments, all or none, and return their numbers."""
        rows = [(kind, json.dumps(arguments, ensure_ascii=False)) for kind, arguments in items]
        insert = "insert into items (kind, arguments) values (?, ?) returning item_id"
        with self._writing() as database:
            return [int(database.execute(insert, row).fetchone()[0]) for row in rows]

    def newest(self) -> int:
        """Return the number of the newest item, 0 without any."""
        with self._using() as database:
            return int(database.execute("select coalesce(max(item_id), 0) from items").fetchone()[0])

    def batch(self, after: int, until: int, max_items: int, max_size: int) -> list[Spooled]:
        """Return the oldest items with numbers above one and up to another; at least one, even if it is too large."""
        query = "select item_id, kind, arguments from items where item_id > ? and item_id <= ? order by item_id limit ?"
        found: list[Spooled] = []
        size = 0
        with self._using() as database:
            for item_id, kind, arguments in database.execute(query, (after, until, max_items)):
                size += len(arguments)
                if found and size > max_size:
                    break
                found.append(Spooled(item_id, kind, json.loads(arguments), len(arguments)))
        return found

    def settle(self, done: Collection[int], failed: Mapping[int, str]) -> None:
        """Remove what was pushed, and write down why the others could not be."""
        with self._writing() as database:
            database.executemany("delete from items where item_id = ?", [(item_id,) for item_id in done])
            database.executemany(
                "update items set error = ? where item_id = ?", [(error, item_id) for item_id, error in failed.items()]
            )

    def remove(self, item_id: int) -> bool:
        """Remove an item and return whether it was there."""
        with self._writing() as database:
            return database.execute("delete from items where item_id = ?", (item_id,)).rowcount > 0

    def items(self) -> list[BufferedItem]:
        """Return all items, oldest first."""
        with self._using() as database:
            rows = database.execute("select item_id, kind, arguments, error from items order by item_id").fetchall()
        return [BufferedItem(item_id, kind, json.loads(arguments), error) for item_id, kind, arguments, error in rows]

    def __len__(self) -> int:
        with self._using() as database:
            return int(database.execute("select count(*) from items").fetchone()[0])

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._database is None

    def close(self) -> None:
        """Close the file, or forget the items in memory."""
        with self._lock:
            if self._database is not None and self._pid == os.getpid():
                self._finalizer()
            self._database = None

    def _opened(self) -> sqlite3.Connection:
        import sqlite3

        if self.path is not None:
            make_own(self.path, "-wal", "-shm", "-journal")
        database = sqlite3.connect(
            ":memory:" if self.path is None else self.path,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        # An unclosed connection would be a ResourceWarning.
        self._finalizer = weakref.finalize(self, database.close)
        # In this order: another process, which makes the file now, sets the application_id before it makes the table.
        [is_used] = database.execute("select exists (select 1 from sqlite_master)").fetchone()
        [application] = database.execute("pragma application_id").fetchone()
        if application != _OURS and is_used:
            raise InvalidValueError(f"path: {self.path} is another database of SQLite", hint="Name a file of its own.")
        database.execute("pragma auto_vacuum = full")  # the file shrinks when items are removed
        database.execute("pragma journal_mode = wal")  # no fsync for each item
        database.execute("pragma synchronous = normal")
        if application != _OURS:
            database.execute(f"pragma application_id = {_OURS}")
        database.execute(_TABLE)
        return database

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        is_forked = self._pid != os.getpid()
        if is_forked:
            self._pid, self._lock = os.getpid(), threading.Lock()  # a thread of the parent may have held the first
        with self._lock, self._explained():
            if self._database is None:
                raise AgentMemoryError("the buffer is closed", hint="Make a new one with memory.buffer().")
            if is_forked and self.path is not None:
                # SQLite forbids that a forked process uses, or only closes, the connection of its parent.
                self._finalizer.detach()
                self._of_parent, self._database = self._database, self._opened()
            yield self._database

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._using() as database:
            database.execute("begin immediate")
            try:
                yield database
                database.execute("commit")
            except BaseException:
                if database.in_transaction:
                    database.execute("rollback")
                raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        import sqlite3

        try:
            yield
        except UnsafeFileError as error:
            raise InvalidValueError(f"path: {error.message}", hint="Name a file of your own.") from error
        except sqlite3.OperationalError as error:
            hint = "Nothing was changed in it. Look at its disk and at the rights of its folder, then try again."
            raise AgentMemoryError(f"the buffer in {self.path or 'memory'}: {error}", hint=hint) from error
        except sqlite3.DatabaseError as error:
            raise InvalidValueError(
                f"path: {self.path}: {error}", hint="Name a new file, or one of a buffer."
            ) from error
        except OSError as error:
            hint = "Name a file in a folder that exists and that this user may write to."
            raise InvalidValueError(f"path: {self.path}: {error.strerror}", hint=hint) from error


def _checked(path: object) -> Path:
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise InvalidValueError("path must be the path of a file", hint="Leave it out to keep items in memory.")
    return Path(text).expanduser().absolute()
