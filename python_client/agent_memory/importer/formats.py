"""Recognises the format of a file, and hands each of its values to the reader of that format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..choices import ImportFormat
from ..errors import InvalidValueError
from .chat import EXPECTED, ChatReader
from .chatgpt import read_chatgpt
from .claude import read_claude
from .mem0 import read_mem0
from .records import ImportFileError, Record, Source, shown
from .values import values_of

_ARCHIVED = ("chatgpt", "claude", None)
"""The formats that come as archives; any bytes may be a ZIP archive, also behind lines of JSON."""


def records_of(
    path: Path | str, format: ImportFormat | None, user_id: str | None, thread_id: str | None
) -> Iterator[Record]:
    """Yield the messages, the memories, and the records that cannot be read."""
    is_database = "://" in str(path) or _is_sqlite(Path(path))
    if format is not None and is_database != (format == "langgraph"):
        raise InvalidValueError(
            f"format: {shown(path)} is not of format {format}",
            hint="LangGraph's checkpoints are a SQLite file, or a connection string: postgresql://...",
        )
    source = Source(shown(path), user_id, thread_id or Path(path).stem)
    if is_database:
        from .langgraph import read_langgraph

        yield from read_langgraph(source, path)
        return
    chat = ChatReader(source)
    number = 0
    for place, value in values_of(Path(path), may_be_archive=format in _ARCHIVED):
        if isinstance(value, ImportFileError):
            number += 1
            yield value
            continue
        for inner_place, inner in _unwrapped(place, value, format):
            number += 1
            yield from _read(source, chat, inner_place, number, inner, format)


def _unwrapped(place: str, value: Any, format: ImportFormat | None) -> Iterator[tuple[str, Any]]:
    """Yield the records in an object that has nothing else: {"results": [...]} of mem0, {"conversations": [...]}."""
    for member, formats in (("results", ("mem0", None)), ("conversations", ("chatgpt", "claude", "chat", None))):
        if isinstance(value, dict) and isinstance(value.get(member), list) and format in formats:
            for index, inner in enumerate(value[member], start=1):
                yield f"{place}, {member} {index}", inner
            return
    yield place, value


def _read(
    source: Source, chat: ChatReader, place: str, number: int, value: Any, format: ImportFormat | None
) -> Iterator[Record]:
    if not isinstance(value, dict):
        yield source.bad(place, "not a JSON object", EXPECTED)
        return
    match format or _format_of(value):
        case "chatgpt":
            yield from read_chatgpt(source, place, value)
        case "claude":
            yield from read_claude(source, place, value)
        case "mem0":
            yield read_mem0(source, place, value)
        case _:
            yield from chat.read(place, number, value)


def _format_of(value: dict[str, Any]) -> ImportFormat:
    if "chat_messages" in value:
        return "claude"
    if isinstance(value.get("mapping"), dict) and "messages" not in value:
        return "chatgpt"
    if "memory" in value and not value.keys() & {"messages", "role"}:
        return "mem0"
    return "chat"


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"
