"""Kind `extract_memories`: finds lasting facts and preferences in the messages of one thread."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import date, datetime, timezone
from functools import lru_cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ..chat.prompts import messages
from ..chat.question import Question
from ..payload import Payload, Result
from ..task import Task
from ..text.event_times import event_date
from ..text.languages import recognise_all
from ..text.self_statements import statements_in
from ..text.sentences import PLACEHOLDER

if TYPE_CHECKING:
    from pydantic import BaseModel

MAX_SUBJECT_CHARACTERS = 255
_STAND_IN = "[MemoryRef]"
_PART_OF_A_DATE = re.compile(r"(\d{4})(?:-(\d\d))?")


async def run(task: Task) -> Result:
    """The memories found, with the seqs of the messages that they come from."""
    counts = await task.count_messages()
    made = await task.ask(local=_by_patterns, remote=lambda provider: provider.chat(task, QUESTION))
    return {**made, **counts}


# The built-in version


def _by_patterns(payload: Payload) -> Result:
    """The memories that the tables of words find in the user's messages, at most one for each sentence.

    A statement of several messages is a memory of each of them. The database makes one of them, whether they are read
    by one job or by several. A sentence with a placeholder in it is about the text that the placeholder stands for, and
    the description was not written by the user. `unread` counts the messages in languages without a table.
    """
    wanted = {row["memory_type"] for row in payload["memory_types"]}
    memories: dict[tuple[str, int], dict[str, Any]] = {}
    unread: Counter[str] = Counter()
    # Its tables know what people say about themselves, so statements of assistants tell it nothing.
    counts = "user" in payload.get("from_roles", ["user"])
    said = [message for message in payload["messages"] if message["role"] == "user" and counts]
    texts = [PLACEHOLDER.sub(_STAND_IN, message["content"]) for message in said]
    for message, text, found in zip(said, texts, recognise_all(texts), strict=True):
        if found.language is None:
            unread[str(found.unknown)] += 1
            continue
        for statement in statements_in(text, found.language):
            if _STAND_IN in statement.content or statement.memory_type not in wanted:
                continue
            memories.setdefault(
                (statement.content.lower(), message["seq"]),
                {
                    **statement._asdict(),
                    "event_time": event_date(statement.content, message.get("created_at") or ""),
                    "subject": "user",
                    "seqs": [message["seq"]],
                },
            )
    return {"memories": list(memories.values()), "unread": dict(unread)}


# The question to a chat model


_STATING = {
    ("assistant",): "Take only what a message of the assistant states: what the user says makes no memory.",
    ("assistant", "user"): "What a message of the assistant states counts as much as what a user message states.",
}
"""Rules for whose statements count (policy extraction.from_roles), where not only the user's do."""


def _memory_types(payload: Payload) -> str:
    """The types of memories, and after them the rules of the policy for this agent.

    An edited prompt has the variables of the built-in one, so the rules have none of their own.
    """
    types = "\n".join(map(_memory_type, payload["memory_types"]))
    rules = [
        _STATING.get(tuple(sorted(payload.get("from_roles", ()))), ""),
        "Give each memory the fields of its type, as fields; a field that the conversation does not tell is null."
        if any("fields" in row for row in payload["memory_types"])
        else "",
        payload.get("instructions", "").strip(),
    ]
    wanted = "\n".join(f"- {rule}" for rule in rules if rule)
    return f"{types}\n\nFor this agent these rules come before the rules above:\n{wanted}" if wanted else types


def _memory_type(row: dict[str, Any]) -> str:
    fields = f" Fields: {json.dumps(row['fields']['properties'], ensure_ascii=False)}" if "fields" in row else ""
    return f"- {row['memory_type']}: {' '.join((row.get('description') or '').split())}{fields}".rstrip(" :")


def _reply_type(payload: Payload) -> type[BaseModel]:
    return _memories_of(
        tuple((row["memory_type"], json.dumps(row.get("fields"), sort_keys=True)) for row in payload["memory_types"])
    )


@lru_cache(maxsize=32)
def _memories_of(memory_types: tuple[tuple[str, str], ...]) -> type[BaseModel]:
    """The type of a reply whose memories have one of these types, each with the JSON schema of its fields or null."""
    from pydantic import AfterValidator, BeforeValidator, StringConstraints

    from ..chat.replies import Seqs, Share, Storable, Text, of_schema, reply_object

    subject = Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SUBJECT_CHARACTERS),
        Storable,
        BeforeValidator(lambda given: given or "user"),
    ]
    schemas: dict[str, list[str]] = {}  # the types that have each schema of fields: one kind of object for all of them
    for name, schema in memory_types:
        schemas.setdefault(schema, []).append(name)
    common: dict[str, Any] = {
        "content": Text,
        "subject": (subject, "user"),
        "confidence": Share,
        "importance": Share,
        "event_time": (Annotated[str | None, AfterValidator(_event_time)], None),
        "seqs": Seqs,
        "suspicious": (Annotated[str, Storable] | None, None),
    }
    kinds = [
        reply_object(
            "Memory",
            memory_type=Literal[tuple(names)],
            **common,
            **({} if schema == "null" else {"fields": (of_schema(json.loads(schema)) | None, None)}),
        )
        for schema, names in schemas.items()
    ]
    kind: Any = reduce(or_, kinds)
    return reply_object("Memories", memories=list[kind])


def _event_time(text: str | None) -> str | None:
    """An ISO date, or a time with an offset. A year or a month becomes its first day; a time without offset is UTC.

    Raises ValueError for anything else, without the text, which may be what a user said.
    """
    if text is None or not text.strip():
        return None
    try:
        return _iso_time(text.strip())
    except (ValueError, OverflowError):
        raise ValueError("neither a date nor a time in ISO 8601") from None


def _iso_time(text: str) -> str:
    if part := _PART_OF_A_DATE.fullmatch(text):
        return date(int(part[1]), int(part[2] or 1), 1).isoformat()
    if len(text) == len("2024-05-03"):
        return date.fromisoformat(text).isoformat()
    moment = datetime.fromisoformat(re.sub("[zZ]$", "+00:00", text))
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).isoformat().replace("+00:00", "Z")


QUESTION = Question(
    variables={"messages": messages, "memory_types": _memory_types},
    reply_type=_reply_type,
    result=lambda _, reply: {"memories": [memory.model_dump() for memory in reply.memories]},
)
