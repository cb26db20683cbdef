"""Reads the JSON values of a file one by one, in memory that does not grow with the file."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from .records import ImportFileError

_BLOCK = 1 << 20
"""Characters that are read at once."""
_MARGIN = 16
"""An error so near to the end of what was read may come of the cut: no literal or escape of JSON is longer."""
_SPACE = re.compile(r"\s*")
_CONVERSATIONS = re.compile(r"(^|/)conversations[^/]*\.json$")
"""The files of an export's archive that are read; large accounts get several of them."""

Value = tuple[str, Any]
"""A place in the file and the value there, or the ImportFileError of what is no JSON."""


def values_of(path: Path) -> Iterator[Value]:
    """Yield the values of a file: of each line, or of each item of an array; or the one of the whole file.

    Of a ZIP archive its conversations.json is read, as ChatGPT and Claude send their exports.

    Raises:
        ImportFileError: the file is not UTF-8, or an archive without conversations.
    """
    try:
        if not zipfile.is_zipfile(path):
            with path.open(encoding="utf-8-sig") as file:
                yield from _values(str(path), file)
            return
        with zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if _CONVERSATIONS.search(name))
            if not names:
                raise ImportFileError(f"{path} has no conversations.json", hint="Pass the archive of an export.")
            for name in names:
                with _opened(archive, name) as file:
                    for place, value in _values(f"{path}/{name}", file):
                        yield place if len(names) == 1 else f"{name}, {place}", value
    except UnicodeDecodeError as error:
        raise ImportFileError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from None


@contextmanager
def _opened(archive: zipfile.ZipFile, name: str) -> Iterator[TextIO]:
    with archive.open(name) as file, TextIOWrapper(file, encoding="utf-8-sig") as text:
        yield text


def _values(path: str, file: TextIO) -> Iterator[Value]:
    head = ""
    while (block := file.read(256)) and not (head := head + block).strip():
        pass
    if head.lstrip().startswith("["):
        yield from _items(path, file, head)
    elif head.strip():
        yield from _lines(path, file, head)


def _lines(path: str, file: TextIO, head: str) -> Iterator[Value]:
    """Yield the values of lines; a file whose first line is no JSON by itself is one value."""
    cut = head.rpartition("\n")[2] if not head.endswith("\n") else ""
    whole = head[: len(head) - len(cut)].splitlines(keepends=True)
    rest = chain([cut + file.readline()], file) if cut else file
    numbered = ((number, line) for number, line in enumerate(chain(whole, rest), start=1) if not line.isspace())
    first = next(numbered, None)
    if first is None:
        return
    if not _is_json(first[1]):
        text = first[1] + "".join(line for _, line in numbered)
        yield f"line {first[0]}", _parsed(path, text, first[0])
        return
    for number, line in chain([first], numbered):
        yield f"line {number}", _parsed(path, line.rstrip(), number)


def _items(path: str, file: TextIO, head: str) -> Iterator[Value]:
    """Yield the items of an array. What is no JSON ends the reading: nobody can say where the next item begins."""
    decoder = json.JSONDecoder()
    start = head.index("[") + 1
    lines = 1 + head.count("\n", 0, start)  # the line at which the text begins
    column = start - head.rfind("\n", 0, start) - 1  # and how many characters of that line stand before the text
    text = head[start:]
    is_whole = False
    position, number, after_item = 0, 0, False

    def read(size: int) -> None:
        nonlocal text, position, lines, column, is_whole
        newline = text.rfind("\n", 0, position)
        column = position - newline - 1 if newline >= 0 else column + position
        lines += text.count("\n", 0, position)
        block = file.read(size)
        text, position, is_whole = text[position:] + block, 0, not block

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
                read(max(_BLOCK, len(text) - position))  # twice as much each time, so that a long item is not slow
                continue
            yield failed(error.msg, error.pos)
            return
        except RecursionError:
            yield failed("nested too deeply", position)
            return
        if end == len(text) and not is_whole:  # a number may go on
            read(_BLOCK)
            continue
        number += 1
        position, after_item = end, True
        yield f"item {number}", value


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _parsed(path: str, text: str, first_line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        return _no_json(path, first_line + error.lineno - 1, error.msg, error.colno)
    except RecursionError:
        return ImportFileError(f"{path}, line {first_line}: nested too deeply")


def _no_json(path: str, line: int, message: str, column: int) -> ImportFileError:
    if message == "nested too deeply":
        return ImportFileError(f"{path}, line {line}: {message}")
    return ImportFileError(
        f"{path}, line {line}: not JSON: {message} at column {column}",
        hint="A file holds messages or conversations as JSON objects: one per line, or all in one array.",
    )
