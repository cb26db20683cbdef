"""The replies of the fake model server: what the rules make of each prompt, embeddings, and scores."""

from __future__ import annotations

import json
import math
import re
import zlib
from collections import defaultdict
from collections.abc import Callable
from typing import Any

Body = dict[str, Any]


def count_tokens(text: str) -> int:
    """What the server takes for the tokens of a text."""
    return len(text.split()) + 1


def embedding(text: str, dimensions: int) -> list[float]:
    """A unit vector; texts that share words have similar ones."""
    vector = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()) or [text]:
        code = zlib.crc32(word.encode())
        vector[code % dimensions] += 1.0 if code & 2**31 else -1.0
    if not any(vector):
        vector[0] = 1.0
    length = math.hypot(*vector)
    return [number / length for number in vector]


def relevance(query: str, text: str) -> float:
    """The share of the query's words that the text has."""
    words = set(re.findall(r"\w+", query.lower()))
    return len(words & set(re.findall(r"\w+", text.lower()))) / max(len(words), 1)


def by_rule(body: Body) -> str:
    """The reply that the shape asked for makes plain.

    Every user message becomes a fact. Summaries keep the previous one and add each message. Facts that differ in case
    or a last "!" only are duplicates, and contradictions when they differ behind " is ". Memories with the same first
    word make an article. A text's score is the share of the query's words that it has. The description by rule stays.
    """
    prompt = "\n".join(message["content"] for message in body["messages"])
    if "json_schema" in body.get("response_format", {}):
        schema = body["response_format"]["json_schema"]["schema"]
    else:
        schema, _ = json.JSONDecoder().raw_decode(prompt.partition("JSON schema: ")[2])
    return json.dumps(_RULES[tuple(schema["properties"])](prompt))


def _extract(prompt: str) -> Body:
    facts = [message for message in rows_of(prompt, "conversation") if message["role"] == "user"]
    return {
        "memories": [
            {
                "content": message["content"],
                "memory_type": "fact",
                "subject": "user",
                "confidence": 0.9,
                "importance": 0.5,
                "event_time": None,
                "seqs": [message["seq"]],
            }
            for message in facts
        ],
        "ends": [],
    }


def _roll(prompt: str) -> Body:
    messages = rows_of(prompt, "conversation")
    new = [{"seqs": [message["seq"]], "text": f"{message['role']}: {message['content']}"} for message in messages]
    return {"points": rows_of(prompt, "previous_summary") + new}


def _summarize(prompt: str) -> Body:
    lines = [previous["summary"] for previous in rows_of(prompt, "previous_summary")]
    lines += [f"{message['role']}: {message['content']}" for message in rows_of(prompt, "conversation")]
    return {"summary": "\n".join(lines), "topics": ["everything"]}


def _compress(prompt: str) -> Body:
    return {**_summarize(prompt), "entities": ["Ana"], "decisions": ["To go on"], "questions": ["What now?"]}


def _reconcile(prompt: str) -> Body:
    same = defaultdict(list)
    about = defaultdict(list)
    for fact in rows_of(prompt, "facts"):
        same[fact["group"], fact["content"].lower().rstrip("!")].append(fact)
    for facts in same.values():
        about[facts[0]["group"], facts[0]["content"].lower().partition(" is ")[0]].append(facts[0])
    return {
        "duplicates": [{"numbers": [fact["number"] for fact in facts]} for facts in same.values() if len(facts) > 1],
        "contradictions": [
            {"numbers": [fact["number"] for fact in facts]} for facts in about.values() if len(facts) > 1
        ],
    }


def _consolidate(prompt: str) -> Body:
    topics = defaultdict(list)
    for memory in rows_of(prompt, "memories"):
        topics[memory["content"].split()[0]].append(memory)
    return {
        "articles": [
            {
                "title": topic,
                "content": "\n".join(memory["content"] for memory in memories),
                "numbers": [memory["number"] for memory in memories],
            }
            for topic, memories in topics.items()
            if len(memories) > 1
        ]
    }


def _score(prompt: str) -> Body:
    [query] = rows_of(prompt, "query")
    return {
        "scores": [
            {"number": row["number"], "score": relevance(query["content"], row["content"])}
            for row in rows_of(prompt, "texts")
        ]
    }


def _describe(prompt: str) -> Body:
    [text] = rows_of(prompt, "text")
    return {"description": text["description_by_rule"]}


_RULES: dict[tuple[str, ...], Callable[[str], Body]] = {
    ("description",): _describe,
    ("memories", "ends"): _extract,
    ("points",): _roll,
    ("summary", "topics"): _summarize,
    ("summary", "topics", "entities", "decisions", "questions"): _compress,
    ("duplicates", "contradictions"): _reconcile,
    ("articles",): _consolidate,
    ("scores",): _score,
}


_LINE = re.compile(r"(?:(\d+(?:-\d+)?)\b ?)?([^:(]*?)(?: \(([^)]*)\))?: (.*)")
_NUMBERED = {"conversation": "seq", "earlier": "seq"}
_WHO = {"conversation": "role", "earlier": "role", "known": "subject", "facts": "subject", "memories": "memory_type"}


def rows_of(prompt: str, tag: str) -> list[Body]:
    """What stands on the lines between the tags: JSON objects, or `number who (details): content`.

    A detail that only says what differs from the line before holds for the lines that follow.
    """
    found = re.search(rf"^<{tag}>\n(.*?)\n?</{tag}>$", prompt, re.MULTILINE | re.DOTALL)
    lines = found[1].split("\n") if found and found[1] else []
    names: dict[str, str] = {}
    rows: list[Body] = []
    for line in lines:
        if line.startswith("{"):
            rows.append(json.loads(line))
            continue
        match = _LINE.fullmatch(line)
        assert match, line
        number, who, details, content = match.groups()
        row: Body = {"content": json.loads('"' + content.replace('"', '\\"') + '"')}
        if tag == "previous_summary":
            row = {"seqs": [int(part) for part in number.split("-")], "text": row["content"]}
        elif number:
            row[_NUMBERED.get(tag, "number")] = int(number)
        if tag in _WHO:
            row[_WHO[tag]] = who
        row["details"] = details.split(", ") if details else []
        if tag == "conversation":
            for detail in row["details"]:
                if detail.startswith("conversation "):
                    row["thread"] = int(detail.split()[1])
                elif not re.search(r"\d\d:\d\d|\d{4}-\d\d-\d\d", detail):
                    names[who] = "" if detail == "unnamed" else detail
            if names.get(who):
                row["name"] = names[who]
        if tag == "facts":
            row["group"] = next((detail for detail in row["details"] if detail.startswith("group ")), "")
        if not row["details"]:
            del row["details"]
        rows.append(row)
    return rows
