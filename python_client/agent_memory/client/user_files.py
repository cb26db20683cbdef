"""Files with all that is stored about a user, of any size: JSON in which each row stands on a line of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from .._files import written
from ..errors import InvalidValueError

ROWS = 1000
"""How many rows a part has at most."""

_BYTES = 32_000_000
_HINT = 'Pass what "agent-memory users export" or export_user() has written; "agent-memory import" reads other formats.'

Part = dict[str, Any]


class UserFile:
    """Writes the parts of an export as one JSON object."""

    def __init__(self, output: TextIO) -> None:
        self.rows = 0
        """How many rows are written."""
        self._output = output
        self._kind: str | None = None

    def add(self, part: Mapping[str, Any]) -> None:
        """Write the rows of a part, the head before those of the first one."""
        kinds = {kind: rows for kind, rows in part.items() if isinstance(rows, list)}
        if self._kind is None:
            head = {name: value for name, value in part.items() if name != "next" and name not in kinds}
            self._output.write(_json(head)[:-1])
        for kind, rows in kinds.items():
            is_new = kind != self._kind
            if is_new:
                self._output.write("" if self._kind is None else "\n]")
                self._output.write(f',\n"{kind}": [')
                self._kind = kind
            for number, row in enumerate(rows):
                self._output.write(("\n" if is_new and number == 0 else ",\n") + _json(row))
            self.rows += len(rows)

    def end(self) -> None:
        """Close the object."""
        self._output.write("\n]\n}\n")


def parts_of(file: TextIO) -> Iterator[Part]:
    """Yield an export in parts, the last one without rows.

    A file that another program has written is one part: as it was one value of PostgreSQL, it has no more than 256 MB.
    """
    first = file.readline()
    try:
        head = json.loads(first.rstrip().removesuffix(",") + "}") if first.rstrip().endswith(",") else None
        if head is None:
            yield json.loads(first + file.read())
            return
        yield from _lines(file, head)
    except InvalidValueError:
        raise
    except ValueError as error:
        raise InvalidValueError(f"the file is not JSON: {error}", hint=_HINT) from None
    yield head


def _lines(file: TextIO, head: Part) -> Iterator[Part]:
    """Yield the rows under the head in parts."""
    part, kind, rows, size = dict(head), "", 0, 0
    for line in file:
        row = line.rstrip().removesuffix(",")
        if row.endswith('": ['):
            kind = json.loads(row[:-3])
            part[kind] = []
        elif row.startswith("{"):
            part[kind].append(json.loads(row))
            rows, size = rows + 1, size + len(row)
        elif row == "}":
            yield part
            return
        if rows == ROWS or size > _BYTES:
            yield part
            part, rows, size = {**head, kind: []}, 0, 0
    raise InvalidValueError("the end of the file is missing", hint="Write or copy it again, whole.")


@contextmanager
def opened(file: str | os.PathLike[str] | TextIO) -> Iterator[TextIO]:
    """Yield a file that is open, or that is opened by its path and closed in the end."""
    if isinstance(file, (str, os.PathLike)):
        with Path(file).open(encoding="utf-8") as stream:
            yield stream
    else:
        yield file


@contextmanager
def begun(file: str | os.PathLike[str] | TextIO, *, overwrite: bool) -> Iterator[TextIO]:
    """Yield a file that is open, or a new one of a path, which nobody but this user can read."""
    if isinstance(file, (str, os.PathLike)):
        with written(Path(file), overwrites=overwrite) as stream:
            yield stream
    else:
        yield file


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
