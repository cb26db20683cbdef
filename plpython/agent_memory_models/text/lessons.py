"""Finds what a conversation teaches about tools: a call that failed, and the next one of the same tool that worked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_MAX_CHARACTERS = 200
"""Of the arguments of a call and of the reason why it failed."""
_FAILED = re.compile(r"\W*(?:\w+ ){0,2}\w*(?:error|exception|traceback|fail(?:ed|ure))\b", re.IGNORECASE)
_FAULTS = ("error", "errors", "isError", "is_error")
_VERDICTS = ("success", "ok")


class _Call(NamedTuple):
    """A call of a tool, with the seq of the message that has it."""

    name: str
    arguments: str
    seq: int

    def __str__(self) -> str:
        arguments = self.arguments
        return f"{self.name}({arguments if len(arguments) <= _MAX_CHARACTERS else arguments[:_MAX_CHARACTERS] + '…'})"


def lessons(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a memory of type `procedural` for each tool call that failed and was put right in these messages.

    Its subject is the tool, and its evidence the two calls with their outputs. Of several calls that failed before one
    worked the last counts: its difference to the one that worked is the smallest.
    """
    calls: dict[str, _Call] = {}
    failed: dict[str, tuple[_Call, int, str]] = {}  # of each tool: the last call that failed, its output, the reason
    for message in messages:
        for call in message.get("tool_calls") or ():
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict) and isinstance(function.get("name"), str):
                arguments = " ".join(str(function.get("arguments") or "").split())
                calls[str(call.get("id"))] = _Call(function["name"], arguments, message["seq"])
        made = calls.get(str(message.get("tool_call_id")))
        if message["role"] != "tool" or made is None:
            continue
        reason = _reason(message["content"])
        if reason is not None:
            failed[made.name] = (made, message["seq"], reason)
        elif made.name in failed:
            wrong, seq, reason = failed.pop(made.name)
            if wrong.arguments != made.arguments:  # else the tool was down for a while, which teaches nothing
                yield {
                    "content": f"{wrong} failed: {reason}. {made} worked.",
                    "memory_type": "procedural",
                    "subject": f"tool {made.name}",
                    "status": "holds",
                    "importance": 0.4,  # less than the default: what people say stays longer
                    "seqs": sorted({wrong.seq, seq, made.seq, message["seq"]}),
                }


def _reason(output: str) -> str | None:
    """Why a call failed, as its output says; None where it did not fail."""
    text = output.strip()
    said: Any = None
    if text.startswith("{"):
        try:
            said = json.loads(text)
        except ValueError:
            said = None
    if isinstance(said, dict):
        fault = next((said[key] for key in _FAULTS if said.get(key)), None)
        if fault is None and not any(said.get(key) is False for key in _VERDICTS):
            return None
        fault = next((said[key] for key in ("message", "detail") if isinstance(said.get(key), str)), fault)
        fault = fault.get("message", fault) if isinstance(fault, dict) else fault
        text = fault if isinstance(fault, str) else text
    elif not _FAILED.match(text):
        return None
    line = " ".join(text.split())
    return line[:_MAX_CHARACTERS].rstrip(" .")
