"""Reads the JSON values of a file one by one, in memory that does not grow with the file.

ijson takes a third of the time, but does not say in which line and column a file is no JSON, reads half a surrogate
pair as a question mark, and would leave the limits of an item to this module.
"""

from __future__ import annotations

import json
import re
import time
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import StringIO, TextIOWrapper
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any, TextIO

from .._json_values import JsonValues
from .records import ImportFileError

_BLOCK = 1 << 20
"""Characters that are read at once."""
_MARGIN = 16
"""An error so near to the end of what was read may come of the cut: no literal or escape of JSON is longer."""
_PIECE = 1 << 14
"""Characters after which the values that were read are counted."""
_TOO_DEEP = "nested too deeply"
_MANY_DIGITS = "an integer has more digits than Python reads"
_SPACE = re.compile(r"\s*")
_CONVERSATIONS = re.compile(r"(^|/)conversations[^/]*\.json$")
"""The files of an export's archive that are read; large accounts get several of them."""

_MOST_FILES = 1000
_MOST_UNPACKED = 1 << 34
_RATIO = 200
"""The most times that files may be longer than their archive: conversations are 5 to 20 times, bombs 1,000 times."""

Value = tuple[str, Any]
"""A place in the file and the value there, or the ImportFileError of a text that is not JSON."""


@dataclass(frozen=True)
class Limits:
    """The limits for reading a file of somebody else; by default none.

    Attributes:
        values: JSON values in one line, or in one item of an array. While they are parsed, no other thread runs.
        characters: of one line or item.
        until: when the reading has to be over, as ``time.monotonic()`` says it.
    """

    values: int = 1 << 62
    characters: int = 1 << 62
    until: float = inf

    def check(self, path: str, text: str) -> None:
        """Check a line or an item before it is parsed.

        Raises:
            ImportFileError: it exceeds a limit.
        """
        if time.monotonic() > self.until:
            raise ImportFileError(f"{path}: the import takes too long", hint="Import less at a time.")
        if len(text) > self.characters:
            raise ImportFileError(
                f"{path}: a line or an item has more than {self.characters} characters", hint="Write a message a line."
            )
        if 3 * self.values < len(text):  # a value and its comma
            values = JsonValues()
            values.feed(text.encode("utf-8", "surrogatepass"))
            if values.count > self.values:
                raise ImportFileError(
                    f"{path}: a line or an item has more than {self.values} values", hint="Write a message a line."
                )


NO_LIMITS = Limits()


def values_of(path: Path, limits: Limits = NO_LIMITS, *, may_be_archive: bool = True) -> Iterator[Value]:
    """Yield the values of a file: of each line, or of each item of an array; or the one of the whole file.

    Of a ZIP archive its conversations.json is read, as ChatGPT and Claude send their exports.

    Args:
        path: the file.
        limits: what it may cost.
        may_be_archive: whether an archive is read as such.

    Raises:
        ImportFileError: the file is not UTF-8, exceeds a limit, or is an archive without conversations, or one that
            unpacks to far more than conversations do.
    """
    try:
        if not (may_be_archive and zipfile.is_zipfile(path)):
            with path.open(encoding="utf-8-sig") as file:
                yield from _values(str(path), file, limits)
            return
        with zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if _CONVERSATIONS.search(name))
            if not names:
                raise ImportFileError(f"{path} has no conversations.json", hint="Pass the archive of an export.")
            unpacked = sum(archive.getinfo(name).file_size for name in names)  # zipfile reads no more than this
            if len(names) > _MOST_FILES or unpacked > min(_MOST_UNPACKED, _RATIO * path.stat().st_size):
                raise ImportFileError(
                    f"{path} unpacks to {len(names)} files of {unpacked} bytes, which is no export of conversations",
                    hint="Unpack it, and import its conversations.json if it is one.",
                )
            for name in names:
                with _opened(archive, name) as file:
                    for place, value in _values(f"{path}/{name}", file, limits):
                        yield place if len(names) == 1 else f"{name}, {place}", value
    except UnicodeDecodeError as error:
        raise ImportFileError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from None


@contextmanager
def _opened(archive: zipfile.ZipFile, name: str) -> Iterator[TextIO]:
    with archive.open(name) as file, TextIOWrapper(file, encoding="utf-8-sig") as text:
        yield text


def _values(path: str, file: TextIO, limits: Limits) -> Iterator[Value]:
    blocks = list[str]()
    while (not blocks or blocks[-1].isspace()) and (block := file.read(256)):
        blocks.append(block)
        if len(blocks) * 256 > _BLOCK:
            raise ImportFileError(f"{path} begins with 1 MiB of white space", hint="Remove it.")
    head = "".join(blocks)
    if head.lstrip().startswith("["):
        yield from _items(path, file, head, limits)
    elif head.strip():
        yield from _lines(path, file, head, limits)


def _lines(path: str, file: TextIO, head: str, limits: Limits) -> Iterator[Value]:
    """Yield the values of lines; a file whose first line is no JSON by itself is one value."""
    most = limits.characters + 1
    cut = head.rpartition("\n")[2] if not head.endswith("\n") else ""
    whole = StringIO(head[: len(head) - len(cut)])  # not splitlines, which cuts at signs that a text of JSON may have
    following = iter(partial(file.readline, most), "")
    rest = chain([cut + file.readline(most)], following) if cut else following
    numbered = _numbered(path, chain(whole, rest), limits)
    first = next(numbered, None)
    if first is None:
        return
    if not _is_json(first[1]):
        text = first[1]
        for _, line in numbered:
            text += line
            if len(text) > limits.characters:
                break
        limits.check(path, text)
        yield f"line {first[0]}", _parsed(path, text, first[0])
        return
    for number, line in chain([first], numbered):
        yield f"line {number}", _parsed(path, line.rstrip(), number)


def _numbered(path: str, lines: Iterable[str], limits: Limits) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank with their numbers."""
    for number, line in enumerate(lines, start=1):
        limits.check(path, line)
        if not line.isspace():
            yield number, line


def _items(path: str, file: TextIO, head: str, limits: Limits) -> Iterator[Value]:
    """Yield the items of an array. A text that is not JSON ends the reading: nobody knows the next item."""
    decoder = json.JSONDecoder()
    start = head.index("[") + 1
    lines = 1 + head.count("\n", 0, start)  # the line at which the text begins
    column = start - head.rfind("\n", 0, start) - 1  # and how many characters of that line stand before the text
    text = head[start:]
    is_whole = False
    position, number, after_item = 0, 0, False
    values = JsonValues()
    values.feed(head.encode("utf-8", "surrogatepass"))

    def read(size: int) -> None:
        """Read on, and no more values than one item may have: what has been read is parsed before it is checked."""
        nonlocal text, position, lines, column, is_whole
        newline = text.rfind("\n", 0, position)
        column = position - newline - 1 if newline >= 0 else column + position
        lines += text.count("\n", 0, position)
        most, parts, left = values.count + limits.values, [text[position:]], size
        while left > 0 and values.count < most and (part := file.read(min(left, _PIECE))):
            values.feed(part.encode("utf-8", "surrogatepass"))
            parts.append(part)
            left -= len(part)
        text, position, is_whole = "".join(parts), 0, left == size

    def failed(message: str, at: int) -> Value:
        line = lines + text.count("\n", 0, at)
        newline = text.rfind("\n", 0, at)
        return f"line {line}", _no_json(path, line, message, at - newline if newline >= 0 else column + at + 1)

    while True:
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr]
        if position >= len(text):
            if is_whole:
                yield failed("the array does not end", len(text))
                return
            read(_BLOCK)
            continue
        sign = text[position]
        if sign == "]":
            rest = text[position + 1 :] + file.read(_BLOCK)
            if rest.strip():
                at = position + 1 + len(rest) - len(rest.lstrip())
                text = text[: position + 1] + rest
                yield failed("Extra data", at)
            return
        if after_item:
            if sign != ",":
                yield failed("Expecting ',' delimiter", position)
                return
            position, after_item = position + 1, False
            continue
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            is_cut = error.msg.startswith("Unterminated string") or error.pos >= len(text) - _MARGIN
            if is_cut and not is_whole:
                limits.check(path, text[position:])
                read(max(_BLOCK, len(text) - position))  # twice as much each time, so that a long item is not slow
                continue
            yield failed(error.msg, error.pos)
            return
        except RecursionError:
            yield failed(_TOO_DEEP, position)
            return
        except ValueError:
            yield failed(_MANY_DIGITS, position)
            return
        if end == len(text) and not is_whole:  # a number may go on
            read(_BLOCK)
            continue
        number += 1
        limits.check(path, text[position:end])
        position, after_item = end, True
        yield f"item {number}", value


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (json.JSONDecodeError, RecursionError):
        return False
    except ValueError:  # an integer of many digits
        pass
    return True


def _parsed(path: str, text: str, first_line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        return _no_json(path, first_line + error.lineno - 1, error.msg, error.colno)
    except RecursionError:
        return _no_json(path, first_line, _TOO_DEEP, 1)
    except ValueError:
        return _no_json(path, first_line, _MANY_DIGITS, 1)


def _no_json(path: str, line: int, message: str, column: int) -> ImportFileError:
    if message in (_TOO_DEEP, _MANY_DIGITS):
        return ImportFileError(f"{path}, line {line}: {message}")
    return ImportFileError(
        f"{path}, line {line}: not JSON: {message} at column {column}",
        hint="A file holds messages or conversations as JSON objects: one per line, or all in one array.",
    )
