"""Replies of the sizes that models choose, because the cost of a call depends on the lengths of request and reply.

Every reply keeps to the limits that its prompt sets. A summary keeps what the previous one said and adds what is new;
at its limit it drops its oldest lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.support.model_rules import Body, rows_of

POINTS = 15
THREAD_LINES, THREAD_LINE_WORDS = 12, 20
USER_LINES, USER_LINE_WORDS = 10, 18
MESSAGES_PER_LINE = 5
MESSAGES_PER_MEMORY = 2
MEMORIES_PER_ARTICLE = 5


def reply(body: Body) -> str:
    """The text of the completion that a request asks for."""
    shape = body["response_format"]["json_schema"]
    content = _REPLIES[shape["name"]](body["messages"][-1]["content"], shape["schema"]["properties"])
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def _gist(text: str, words: int) -> str:
    return " ".join(text.split()[:words])


def _memories(prompt: str, properties: Body) -> Body:
    """A memory for every second message of the user, of each type in turn."""
    types = properties["memories"]["items"]["properties"]["memory_type"]["enum"]
    said = [message for message in rows_of(prompt, "conversation") if message["role"] == "user"]
    return {
        "memories": [
            {
                "content": f"{message.get('name', 'The user')} said: {_gist(message['content'], 20)}",
                "memory_type": types[message["seq"] // 2 % len(types)],
                "subject": "user",
                "confidence": 0.9,
                "importance": 0.5,
                "event_time": None,
                "seqs": [message["seq"]],
            }
            for message in said[::MESSAGES_PER_MEMORY]
        ]
    }


def _points(prompt: str, _: Body) -> Body:
    """A point for each round: question and answer in 25 words."""
    messages = rows_of(prompt, "conversation")
    new = [
        {
            "text": "; ".join(f"{each.get('name', each['role'])}: {_gist(each['content'], 12)}" for each in pair),
            "seqs": [each["seq"] for each in pair],
        }
        for pair in (messages[start : start + 2] for start in range(0, len(messages), 2))
    ]
    return {"points": (rows_of(prompt, "previous_summary") + new)[-POINTS:]}


def _lines(prompt: str, limit: int, words: int) -> str:
    previous = [line for row in rows_of(prompt, "previous_summary") for line in row["summary"].split("\n")]
    messages = rows_of(prompt, "conversation")
    new = [_gist(message["content"], words) for message in messages[::MESSAGES_PER_LINE]]
    return "\n".join((previous + new)[-limit:])


def _thread_summary(prompt: str, _: Body) -> Body:
    contents = [message["content"] for message in rows_of(prompt, "conversation")]
    return {
        "summary": _lines(prompt, THREAD_LINES, THREAD_LINE_WORDS),
        "topics": [_gist(content, 3) for content in contents[:5]],
        "entities": [_gist(content, 2) for content in contents[-8:]],
        "decisions": [_gist(content, 10) for content in contents[:3]],
        "questions": [_gist(content, 10) for content in contents[-2:]],
    }


def _user_summary(prompt: str, _: Body) -> Body:
    contents = [message["content"] for message in rows_of(prompt, "conversation")]
    return {
        "summary": _lines(prompt, USER_LINES, USER_LINE_WORDS),
        "topics": [_gist(content, 3) for content in contents[:5]],
    }


def _reconciliation(_prompt: str, _: Body) -> Body:
    """Two facts that say the same, every time."""
    return {"duplicates": [{"numbers": [1, 2]}], "contradictions": []}


def _articles(prompt: str, _: Body) -> Body:
    memories = rows_of(prompt, "memories")
    groups = [memories[start : start + MEMORIES_PER_ARTICLE] for start in range(0, len(memories), MEMORIES_PER_ARTICLE)]
    return {
        "articles": [
            {
                "title": _gist(group[0]["content"], 6),
                "content": " ".join(memory["content"] for memory in group),
                "numbers": [memory["number"] for memory in group],
            }
            for group in groups
            if len(group) > 1
        ]
    }


_REPLIES: dict[str, Callable[[str, Body], dict[str, Any]]] = {
    "extract_memories": _memories,
    "summarize_thread": _points,
    "compress_thread": _thread_summary,
    "summarize_user": _user_summary,
    "reconcile_memories": _reconciliation,
    "consolidate": _articles,
}
