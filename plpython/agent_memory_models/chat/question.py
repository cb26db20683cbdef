"""The question that a kind of job asks a chat model: prompt, type of the reply, and result."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..payload import Payload, Result
from .parts import Parts
from .prompts import Variables

if TYPE_CHECKING:
    from pydantic import BaseModel


class Question(NamedTuple):
    """The question of one kind of job.

    Attributes:
        variables: the variables of the kind's prompt, each with the function that renders it from a payload.
        reply_type: returns the type of the reply, which chat/replies.py checks. It is a function, so that jobs of the
            built-in model do not import pydantic.
        result: makes the job's result of the payload and the checked reply; raises ModelError.
        parts: how a payload is made smaller that does not fit into the model's window.
        reply_tokens: how many tokens a reply may have, unless the model's settings say otherwise.
        from_text: makes the fields of a reply of the payload and a text, where a model may answer without JSON.
    """

    variables: Variables
    reply_type: Callable[[Payload], type[BaseModel]]
    result: Callable[[Payload, Any], Result]
    parts: Parts
    reply_tokens: int
    from_text: Callable[[Payload, str], dict[str, Any]] | None = None
