"""Conversations with good replies to them, in six languages, and how tests hand in replies."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import psycopg

from tests.support.protocol import age, claim, complete, lease
from tests.support.sqlapi import Api

CONVERSATIONS: list[dict[str, Any]] = [
    json.loads(line)
    for path in sorted(Path(__file__).parent.glob("good_replies.*.jsonl"))
    for line in path.read_text().splitlines()
]
"""Each has what was said ("a: " before what the assistant said), memories with the seqs that they name, and a summary
of the whole, as a good model writes them: in its own words, with names and numbers kept."""

_USERS = (f"user {number}" for number in itertools.count())
KEEPS_NOTHING = {"compression": {"recent_messages_to_keep": 1}, "cadence": {"fact_extraction_every_n": 0}}


def hear(api: Api, said: list[str]) -> str:
    """Store a conversation, one more message that stays after a compression, and the user whose it is."""
    user_id = next(_USERS)
    rows = [
        {"role": "assistant", "content": text[3:]} if text.startswith("a: ") else {"role": "user", "content": text}
        for text in said
    ]
    api.add_messages(user_id=user_id, thread_id="t", messages=[*rows, {"role": "assistant", "content": "Okay."}])
    return user_id


def extraction(api: Api, said: list[str], known: str | None = None) -> Any:
    user_id = hear(api, said)
    if known:
        api.add_memory(user_id=user_id, content=known)
        age(api, 1)  # said before the conversation
    api.extract_memories(user_id=user_id, thread_id="t")
    return claim(api, "extract_memories", user_id=user_id)


def compression(api: Api, said: list[str]) -> Any:
    user_id = hear(api, said)
    api.compress_thread(user_id=user_id, thread_id="t")
    return claim(api, "compress_thread", user_id=user_id)


def memory(content: str, seqs: list[int], **more: Any) -> dict[str, Any]:
    return {"content": content, "memory_type": "fact", "seqs": seqs, **more}


def extracted(api: Api, job: Any, *memories: dict[str, Any]) -> dict[str, Any]:
    return complete(api, job, memories=list(memories))


def refusal(api: Api, job: Any, summary: str, **result: Any) -> str:
    """Why a summary is refused; empty where it is stored."""
    try:
        api.complete_job(**lease(job), result={"summary": summary, **result})
    except psycopg.errors.InvalidParameterValue as error:
        return str(error.diag.message_primary)
    return ""


def active(api: Api, user_id: str) -> int:
    return len(api.get_messages(user_id=user_id, thread_id="t"))
