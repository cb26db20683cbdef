"""Reads the JSON values of a file one by one, in memory that does not grow with the file."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

from .records import ImportFileError

_BLOCK = 1 << 20
"""Characters that are read at once."""
_SPACE = re.compile(r"\s*")
_CONVERSATIONS = re.compile(r"(^|/)conversations[^/]*\.json$")
"""The files of an export's archive that are read; large accounts get several of them."""
_MOST_FILES = 1000
_RATIO = 200
"""The most times that files may be longer than their archive: conversations are 5 to 20 times, bombs 1,000 times."""

Value = tuple[str, Any]
"""A place in the file and the value there, or the ImportFileError of a text that is not JSON."""


def values_of(path: Path, *, may_be_archive: bool = True) -> Iterator[Value]:
    """Yield the values of a file: of each line, or of each item of an array; or the one of the whole file.

    Of a ZIP archive its conversations.json is read, as ChatGPT and Claude send their exports.
    """
    try:
        if not (may_be_archive and zipfile.is_zipfile(path)):
            with path.open(encoding="utf-8-sig") as file:
                yield from _values(str(path), file)
            return
        with zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if _CONVERSATIONS.search(name))
            if not names:
                raise ImportFileError(f"{path} has no conversations.json", hint="Pass the archive of an export.")
            unpacked = sum(archive.getinfo(name).file_size for name in names)  # zipfile reads no more than this
            if len(names) > _MOST_FILES or unpacked > _RATIO * path.stat().st_size:
                raise ImportFileError(
                    f"{path} unpacks to {len(names)} files of {unpacked} bytes, which is no export of conversations",
                    hint="Unpack it, and import its conversations.json if it is one.",
                )
            for name in names:
                with archive.open(name) as packed, TextIOWrapper(packed, encoding="utf-8-sig") as text:
                    for place, value in _values(f"{path}/{name}", text):
                        yield place if len(names) == 1 else f"{name}, {place}", value
    except UnicodeDecodeError as error:
        raise ImportFileError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from None


def _values(path: str, file: TextIO) -> Iterator[Value]:
    """Yield the items of an array, or the values of lines; a file whose first line is no JSON is one value."""
    number, line = 0, "\n"
    while line.isspace():
        number, line = number + 1, file.readline(_BLOCK)
    if line.lstrip().startswith("["):
        yield from _items(path, file, line, number)
        return
    if line and not line.endswith("\n"):
        line += file.readline()
    value = _parsed(path, line, number) if line else None
    if isinstance(value, ImportFileError):
        yield f"line {number}", _parsed(path, line + file.read(), number)
        return
    if line:
        yield f"line {number}", value
    for number, line in enumerate(file, start=number + 1):  # noqa: B020 - not splitlines, which cuts at signs in texts
        if not line.isspace():
            yield f"line {number}", _parsed(path, line.rstrip(), number)


def _items(path: str, file: TextIO, text: str, line: int) -> Iterator[Value]:
    """Yield the items of an array that begins in a line. A text that is no JSON ends: nobody knows the next item."""
    decoder, at, number = json.JSONDecoder(), text.index("[") + 1, 0

    def after_space(place: int) -> int:
        found = _SPACE.match(text, place)
        return found.end() if found else place

    def following(place: int) -> tuple[Any, int]:
        """Return the next item and where it ends; the end of the array as the text that follows it."""
        place = after_space(place)
        if text[place : place + 1] == "]":
            return text[place + 1 :], -1
        if number and text[place : place + 1] != ",":
            raise json.JSONDecodeError("Expecting ',' delimiter", text, place)
        return decoder.raw_decode(text, after_space(place + 1 if number else place))

    while True:
        try:
            value, end = following(at)
            is_cut, problem = end == len(text), None  # a number may go on
        except json.JSONDecodeError as error:
            is_cut, problem = True, error
        except (ValueError, RecursionError) as error:
            yield f"line {line}", _no_json(path, line + text.count("\n", 0, at), error)
            return
        if is_cut and (more := file.read(max(_BLOCK, len(text) - at))):  # twice as much each time
            line += text.count("\n", 0, at)
            text, at = text[at:] + more, 0
            continue
        if problem is not None:
            yield f"line {line}", _no_json(path, line + text.count("\n", 0, problem.pos), problem)
            return
        if end < 0:
            rest = value + file.read()
            if rest.strip():
                extra = json.JSONDecodeError("Extra data", rest, len(rest) - len(rest.lstrip()))
                ends_at = line + text.count("\n", 0, len(text) - len(value))
                yield f"line {line}", _no_json(path, ends_at + extra.lineno - 1, extra)
            return
        number, at = number + 1, end
        yield f"item {number}", value


def _parsed(path: str, text: str, line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        return _no_json(path, line + error.lineno - 1, error)
    except (ValueError, RecursionError) as error:
        return _no_json(path, line, error)


def _no_json(path: str, line: int, error: Exception) -> ImportFileError:
    if isinstance(error, json.JSONDecodeError):
        return ImportFileError(
            f"{path}, line {line}: not JSON: {error.msg}",
            hint="A file holds messages or conversations as JSON objects: one per line, or all in one array.",
        )
    is_deep = isinstance(error, RecursionError)
    problem = "nested too deeply" if is_deep else "an integer has more digits than Python reads"
    return ImportFileError(f"{path}, line {line}: {problem}")
