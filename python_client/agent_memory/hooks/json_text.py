"""Changes a JSON text in places and leaves the rest as it is: order, indentation, comments and commas at an end.

json-five keeps all that when it reads and writes, but the layout of what is added would be ours as well, and it takes
36 times as long (2026-11).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)")
_SCALAR = re.compile(r"true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


class JsonTextError(ValueError):
    """A text is no JSON, with or without comments; the message says where."""


@dataclass
class Node:
    """A value in a text.

    Attributes:
        start: where it begins.
        end: where the text goes on.
        value: the value.
        members: the values of an object by name. Of a name that stands twice the last one counts.
        places: where each member of an object begins, with its name.
        items: the values of a list.
    """

    start: int
    end: int = 0
    value: Any = None
    members: dict[str, Node] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    items: list[Node] = field(default_factory=list)

    @property
    def parts(self) -> list[tuple[int, int]]:
        """Where the members or items begin and end, in order."""
        if isinstance(self.value, dict):
            return sorted((self.places[name], node.end) for name, node in self.members.items())
        return [(item.start, item.end) for item in self.items]


def parsed(text: str) -> Node:
    """Return the value of a text.

    Raises:
        JsonTextError: it is none.
    """
    try:
        node = _value(text, _after_space(text, 0))
    except RecursionError:
        raise JsonTextError("is nested too deeply") from None
    rest = _after_space(text, node.end)
    if rest < len(text):
        raise _unexpected(text, rest)
    return node


def with_member(text: str, parent: Node, name: str, value: Any, depth: int) -> str:
    """Return the text with another member at the end of an object that is so many levels deep."""
    rendered = f"{json.dumps(name, ensure_ascii=False)}: {_rendered(text, value, depth + 1)}"
    return _with_part(text, parent, rendered, depth)


def with_item(text: str, parent: Node, value: Any, depth: int) -> str:
    """Return the text with another item at the end of a list that is so many levels deep."""
    return _with_part(text, parent, _rendered(text, value, depth + 1), depth)


def without_part(text: str, parent: Node, place: int) -> str:
    """Return the text without the member or item that begins at a place."""
    parts = parent.parts
    at = [start for start, _ in parts].index(place)
    end = parts[at][1]
    if at + 1 < len(parts):
        after = parts[at + 1][0]
        return text[:place] + _without_comma(text[end:after]).lstrip() + text[after:]
    if at > 0:
        before = parts[at - 1][1]
        return text[:before] + _without_comma(text[before:place]).rstrip() + text[end:]
    rest = text[end : parent.end - 1].lstrip(",")
    return text[: parent.start + 1] + (rest if rest.strip() else "") + text[parent.end - 1 :]


def _without_comma(between: str) -> str:
    """Return what is between two parts without the comma; comments are the user's."""
    comma = _after_space(between, 0)
    return between[:comma] + between[comma + 1 :]


def _with_part(text: str, parent: Node, rendered: str, depth: int) -> str:
    newline, indent = _layout(text)
    parts = parent.parts
    if parts:
        end = parts[-1][1]
        comment = _COMMENT.match(text, end)
        rest = end if comment is None else comment.end()
        return f"{text[:end]},{text[end:rest]}{newline}{indent * (depth + 1)}{rendered}{text[rest:]}"
    inside = text[parent.start + 1 : parent.end - 1]
    closing = "" if inside.strip() else newline + indent * depth
    start = parent.start + 1
    return (
        f"{text[:start]}{newline}{indent * (depth + 1)}{rendered}{inside if inside.strip() else closing}"
        + (text[parent.end - 1 :])
    )


def _rendered(text: str, value: Any, depth: int) -> str:
    newline, indent = _layout(text)
    lines = json.dumps(value, indent=indent, ensure_ascii=False).split("\n")
    return (newline + indent * depth).join(lines)


def _layout(text: str) -> tuple[str, str]:
    """Return how the text ends a line, and how far it indents the first level."""
    indented = re.search(r"\n([ \t]+)[^\s/*]", text)
    return "\r\n" if "\r\n" in text else "\n", indented[1] if indented else "  "


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def _unexpected(text: str, at: int) -> JsonTextError:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return JsonTextError(f"has something unexpected in line {line}, column {column}")


def _value(text: str, at: int) -> Node:
    opening = text[at : at + 1]
    if opening in ("{", "["):
        return _container(text, at, is_object=opening == "{")
    node = Node(at)
    if opening == '"':
        node.value, node.end = _string(text, at)
        return node
    scalar = _SCALAR.match(text, at)
    if scalar is None:
        raise _unexpected(text, at)
    node.value, node.end = json.loads(scalar[0]), scalar.end()
    return node


def _container(text: str, at: int, *, is_object: bool) -> Node:
    node, closing = Node(at, value={} if is_object else []), "}" if is_object else "]"
    at = _after_space(text, at + 1)
    while text[at : at + 1] != closing:
        place, name = at, ""
        if is_object:
            if text[at : at + 1] != '"':
                raise _unexpected(text, at)
            name, at = _string(text, at)
            at = _after_space(text, at)
            if text[at : at + 1] != ":":
                raise _unexpected(text, at)
            at = _after_space(text, at + 1)
        part = _value(text, at)
        if is_object:
            node.value[name], node.members[name], node.places[name] = part.value, part, place
        else:
            node.value.append(part.value)
            node.items.append(part)
        at = _after_space(text, part.end)
        if text[at : at + 1] == ",":
            at = _after_space(text, at + 1)
        elif text[at : at + 1] != closing:
            raise _unexpected(text, at)
    node.end = at + 1
    return node


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        value, end = scanstring(text, at + 1, True)
    except ValueError:
        raise _unexpected(text, at) from None
    return str(value), int(end)
