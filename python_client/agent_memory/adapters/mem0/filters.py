"""The filters of mem0: the owner of memories, and conditions on their metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

IDS = ("user_id", "agent_id", "run_id")
DEFAULT_USER = "default"
"""Whose memories those are that only an agent or a run names: in agent_memory every memory belongs to a user."""

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda value, wanted: bool(value == wanted),
    "ne": lambda value, wanted: bool(value != wanted),
    "gt": lambda value, wanted: bool(value > wanted),
    "gte": lambda value, wanted: bool(value >= wanted),
    "lt": lambda value, wanted: bool(value < wanted),
    "lte": lambda value, wanted: bool(value <= wanted),
    "in": lambda value, wanted: value in wanted,
    "nin": lambda value, wanted: value not in wanted,
    "contains": lambda value, wanted: wanted in value,
    "icontains": lambda value, wanted: wanted.lower() in value.lower(),
}


@dataclass(frozen=True)
class Scope:
    """Whose memories are meant."""

    user_id: str
    agent_id: str | None
    run_id: str | None
    wanted: dict[str, Any]

    def containment(self) -> dict[str, Any] | None:
        """Return the values that the metadata must contain, as far as the database can compare them."""
        plain = {
            name: value
            for name, value in self.wanted.items()
            if name not in ("AND", "OR", "NOT") and isinstance(value, (str, int, float)) and value != "*"
        }
        return plain or None

    def is_contained(self) -> bool:
        """Whether the database can compare all conditions."""
        return (self.containment() or {}) == self.wanted


def scope(filters: Mapping[str, Any] | None, ids: Mapping[str, Any], user_id: str | None) -> Scope:
    """Return whose memories a call means."""
    wanted = dict(filters or {})
    named = {name: value for name, value in ids.items() if name in IDS and value is not None}
    if unknown := set(ids) - set(IDS):
        raise TypeError(f"unknown arguments: {', '.join(sorted(unknown))}")
    for part in (wanted, *wanted.get("AND", [])):
        named |= {name: part[name] for name in IDS if part.get(name) is not None}
    for name, value in named.items():
        if not isinstance(value, str) or value.strip() in ("", "*"):
            raise ValueError(f"{name} must name one; it is {value!r}")
    if not named and user_id is None:
        raise ValueError("name at least one of user_id, agent_id and run_id, such as filters={'user_id': 'u1'}")
    rest = {name: value for name, value in wanted.items() if name not in IDS}
    if "AND" in rest:
        rest["AND"] = [without for part in rest["AND"] if (without := {k: v for k, v in part.items() if k not in IDS})]
        if not rest["AND"]:
            del rest["AND"]
    stripped = {name: value.strip() for name, value in named.items()}
    owner = stripped.get("user_id", user_id or DEFAULT_USER)
    return Scope(owner, stripped.get("agent_id"), stripped.get("run_id"), rest)


def matches(payload: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a memory with this payload fulfils all conditions."""
    return all(_fulfils(payload, name, condition) for name, condition in wanted.items())


def _fulfils(payload: Mapping[str, Any], name: str, condition: Any) -> bool:
    if name == "AND":
        return all(matches(payload, part) for part in condition)
    if name == "OR":
        return any(matches(payload, part) for part in condition)
    if name == "NOT":
        return not any(matches(payload, part) for part in condition)
    if condition == "*":
        return name in payload
    if isinstance(condition, Mapping):
        return all(_compares(payload.get(name), operator, operand) for operator, operand in condition.items())
    return bool(payload.get(name) == condition)


def _compares(value: Any, operator: str, operand: Any) -> bool:
    if operator not in _OPERATORS:
        raise ValueError(f"unknown operator: {operator}; known are {', '.join(_OPERATORS)}")
    try:
        return _OPERATORS[operator](value, operand)
    except (TypeError, AttributeError):  # a text and a number, or a member that the memory does not have
        return False


def parts_of(messages: Any) -> Iterator[dict[str, Any]]:
    """Yield the messages of an argument: a text, a message, or a list of messages."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    elif isinstance(messages, Mapping):
        messages = [messages]
    if not isinstance(messages, list) or not all(isinstance(m, Mapping) and "role" in m for m in messages):
        raise ValueError("messages must be a text, a message or a list of messages")
    yield from map(dict, messages)
