"""Provider `local`: the built-in rules of the modules in jobs/, which need neither a key nor a network."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any

from ..calls import Calls, recorded_call

Rules = Callable[[dict[str, Any]], dict[str, Any] | Awaitable[dict[str, Any]]]
"""Makes a job's result of its payload."""


async def run_rules(rules: Rules, kind: str, payload: dict[str, Any], calls: Calls) -> dict[str, Any]:
    """The result of a job by its built-in rules; the run is entered into `calls` with 0 tokens."""
    with recorded_call(calls, kind, payload) as call:
        call |= {"tokens_in": 0, "tokens_out": 0}
        made = rules(payload)
        return await made if isawaitable(made) else made
