"""Summaries that a model has written as text instead of JSON: under headings, or as plain prose."""

from __future__ import annotations

import re
from typing import Any

_SECTIONS = ("summary", "topics", "entities", "decisions", "questions")
_HEADING = re.compile(rf"^[ \t#*]*({'|'.join(_SECTIONS)})[ \t*]*(?::[ \t*]*|$)", re.IGNORECASE | re.MULTILINE)
_BULLET = re.compile(r"^(?:[-*•]|\d+[.)])\s+")


def summary_of_text(text: str) -> dict[str, Any]:
    """The summary and the lists under ``## SUMMARY``, ``## TOPICS``; the text as a summary without headings."""
    first, *rest = _HEADING.split(text)
    sections = {name.lower(): said.strip() for name, said in zip(rest[::2], rest[1::2], strict=True)}
    if "summary" not in sections:
        return {"summary": (first if sections else text).strip()}
    lists = {
        # Topics and entities stand in a line with commas; a decision or a question has a line of its own.
        name: [
            item
            for part in re.split(r"[,\n]" if name in ("topics", "entities") else r"\n", said)
            if (item := _item(part))
        ]
        for name, said in sections.items()
        if name != "summary"
    }
    return {"summary": sections["summary"], **lists}


def _item(text: str) -> str:
    """An entry of a list; empty where the model says that there is none."""
    item = _BULLET.sub("", text.strip())
    return "" if item.strip("[].").lower() in ("none", "") else item
