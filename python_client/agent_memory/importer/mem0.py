"""Reads memories in the form of mem0's ``get_all()``, of its platform's export, and of ``agent-memory export``.

A memory is ``{"memory": text, ...}``. ``user_id``, ``agent_id`` and ``run_id`` (the thread) are taken over; categories
become tags. Since when it holds is ``valid_from``, else when mem0 stored it. What else there is, mem0's own id and
times among it, is kept in the metadata.
"""

from __future__ import annotations

from typing import Any
from uuid import NAMESPACE_URL, uuid5

from .records import Incoming, Record, Source, repaired, time_of, without_empty

_ARGUMENTS = {"memory_type", "tags", "confidence", "importance", "source", "embedding_text"}
TRUST = 0.7
"""The most that the database trusts an imported memory."""
_TIMES = ("valid_from", "valid_to", "expires_at")
_DROPPED = {"memory", "hash", "score", "metadata", "user_id", "agent_id", "run_id", "thread_id", "categories"}


def read_mem0(source: Source, place: str, value: dict[str, Any]) -> Record:
    """Return the memory of a value."""
    value = repaired(value)
    content, metadata = value.get("memory"), value.get("metadata")
    if not isinstance(content, str) or not content.strip():
        return source.bad(place, "memory: must be a text that is not empty", 'Expected is {"memory": "Likes tea"}.')
    if metadata is not None and not isinstance(metadata, dict):
        return source.bad(place, "metadata: must be an object")
    user_id = value.get("user_id") or source.user_id
    if user_id is None:
        return source.no_user(place)
    arguments = {name: value[name] for name in _ARGUMENTS if value.get(name) is not None}
    for name in ("confidence", "importance"):
        if isinstance(arguments.get(name, 0), bool) or not isinstance(arguments.get(name, 0), (int, float)):
            return source.bad(place, f"{name} must be a number")
    try:
        for name in _TIMES:
            if (time := time_of(value.get(name))) is not None:
                arguments[name] = time
        if "valid_from" not in arguments and (stored := time_of(value.get("created_at"))) is not None:
            arguments["valid_from"] = stored
    except ValueError as error:
        return source.bad(place, str(error).partition("\n")[0])
    others = {key: item for key, item in value.items() if key not in _DROPPED | _ARGUMENTS | {*_TIMES}}
    if "id" in others:
        others["mem0_id"] = others.pop("id")
        # A second import leaves a memory as it is here: changed, superseded or deleted.
        arguments["memory_id"] = uuid5(NAMESPACE_URL, f"mem0:{user_id}/{others['mem0_id']}")
    if isinstance(value.get("categories"), list) and "tags" not in arguments:
        arguments["tags"] = [str(category) for category in value["categories"] if category]
    arguments["content"] = content
    arguments["metadata"] = metadata = {**without_empty(others), **(metadata or {})}
    if "source" in arguments:  # a file that says "user" is not the user
        given = metadata.get("trust")
        metadata["trust"] = min(given, TRUST) if isinstance(given, (int, float)) and given >= 0 else TRUST
    else:
        arguments["source"] = "import"  # which the database trusts as much
    if value.get("agent_id"):
        arguments["agent_id"] = str(value["agent_id"])
    if thread_id := value.get("thread_id") or value.get("run_id"):
        arguments["thread_id"] = str(thread_id)
    return Incoming(place, str(user_id), None, arguments)
