"""Providers `openai` and `azure`: chat completions of OpenAI, of any server that speaks its protocol, or of Azure."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

import openai
from pydantic import AfterValidator, BaseModel, Field, StringConstraints, ValidationError

from .errors import ModelError, RateLimitedError
from .prompts import extraction_prompt, summary_prompt
from .summary_lines import Point

DEFAULT_TIMEOUT_SECONDS = 60.0
MAX_ERROR_CHARACTERS = 500
DEFAULT_RETRY_AFTER_SECONDS = 15.0
MAX_RETRY_AFTER_SECONDS = 86400.0
PLACEHOLDER_KEY = "no-key-needed"
_NO_COMPLETION = "the reply is not a chat completion"


def _storable(text: str) -> str:
    """Refuses what PostgreSQL cannot store as text."""
    if "\0" in text:
        raise ValueError("a NUL character cannot be stored")
    text.encode()  # a lone surrogate raises UnicodeEncodeError, which is a ValueError
    return text


_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(_storable)]
_Share = Annotated[float, Field(ge=0, le=1)]
_Seqs = Annotated[list[int], Field(min_length=1)]


class _Memory(BaseModel):
    content: _Text
    memory_type: str
    confidence: _Share
    importance: _Share
    seqs: _Seqs


class _Memories(BaseModel):
    memories: list[_Memory]


class _Point(BaseModel):
    seqs: _Seqs
    text: _Text


class _Points(BaseModel):
    points: list[_Point]


_Reply = TypeVar("_Reply", bound=BaseModel)


class OpenAIChat:
    """The clients of the servers in use, one for each base URL and key source."""

    def __init__(self) -> None:
        self._clients: dict[tuple[str, str | None, str], openai.AsyncOpenAI] = {}

    async def close(self) -> None:
        """Close every connection."""
        for client in self._clients.values():
            await client.close()

    async def extract(self, payload: dict[str, Any]) -> dict[str, Any]:
        """The result of an `extract_memories` job.

        Raises ModelError when any part of the reply is invalid, since results are applied whole.
        """
        reply = await self._ask(payload["model"], extraction_prompt(payload), _Memories)
        types = {row["memory_type"] for row in payload["memory_types"]}
        seqs = {message["seq"] for message in payload["messages"]}
        for memory in reply.memories:
            if memory.memory_type not in types:
                raise ModelError(f"the reply has the unknown memory type {memory.memory_type[:100]!r}")
            if unknown := set(memory.seqs) - seqs:
                raise ModelError(f"the reply rests on seq {min(unknown)}, which was not among the messages")
        return {"memories": [{**memory.model_dump(), "seqs": sorted(set(memory.seqs))} for memory in reply.memories]}

    async def summarize(self, payload: dict[str, Any]) -> dict[str, Any]:
        """The result of a `summarize_thread` job; points that rest only on messages before the window are dropped."""
        reply = await self._ask(payload["model"], summary_prompt(payload), _Points)
        points = [Point(min(point.seqs), max(point.seqs), point.text) for point in reply.points]
        if any(point.first_seq < 0 or point.last_seq > payload["end_seq"] for point in points):
            raise ModelError("the reply rests on a seq that does not exist")
        lines = [str(point) for point in points if point.last_seq >= payload["start_seq"]]
        if not lines:
            raise ModelError("the reply says nothing about the messages of the window")
        return {"summary": "\n".join(lines), "metadata": {}}

    async def _ask(self, model: dict[str, Any], prompt: tuple[str, str], reply_type: type[_Reply]) -> _Reply:
        """Ask once and validate the reply. Raises as `_complete` does, and ModelError for an invalid reply."""
        content = _content(await self._complete(model, prompt))
        try:
            # Servers without a JSON mode put prose or code fences around the object.
            return reply_type.model_validate_json(content[content.find("{") : content.rfind("}") + 1])
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"])) or "JSON"
            raise ModelError(f"the reply is invalid: {place}: {first['msg']}") from None

    async def _complete(self, model: dict[str, Any], prompt: tuple[str, str]) -> Any:
        """One chat completion, as the client parsed it but not validated.

        Raises RateLimitedError when the server asks to wait, and ModelError for everything else that goes wrong.
        """
        settings = model.get("settings") or {}
        api_key = _api_key(settings)
        client = self._client(model["provider"], settings, api_key)
        timeout = float(settings.get("timeout_seconds") or DEFAULT_TIMEOUT_SECONDS)
        options: dict[str, Any] = {}
        if settings.get("json_mode") is not False:
            options["response_format"] = {"type": "json_object"}
        if settings.get("temperature") is not None:
            options["temperature"] = settings["temperature"]

        def reason(error: BaseException) -> str:
            return str(error).replace(api_key, "***")[:MAX_ERROR_CHARACTERS]

        try:
            # The client's own timeout restarts with every byte received; this one is for the whole call.
            return await asyncio.wait_for(
                client.chat.completions.create(
                    model=model["model"],
                    messages=[{"role": "system", "content": prompt[0]}, {"role": "user", "content": prompt[1]}],
                    timeout=timeout,
                    **options,
                ),
                timeout,
            )
        # `from None` below: the errors behind these could show the request's headers.
        except (openai.APITimeoutError, asyncio.TimeoutError):
            raise ModelError(f"no answer from the model within {timeout:g} s") from None
        except openai.APIConnectionError as error:
            server = urlsplit(settings.get("base_url") or "").hostname or "the model's server"
            raise ModelError(f"cannot reach {server}: {reason(error.__cause__ or error)}") from None
        except openai.RateLimitError as error:
            if error.code == "insufficient_quota":  # waiting does not help
                raise ModelError(reason(error)) from None
            raise RateLimitedError(reason(error), _retry_after(error.response.headers)) from None
        except openai.OpenAIError as error:
            raise ModelError(reason(error)) from None
        except ValueError:  # a body that is not JSON, from a proxy for instance
            raise ModelError(_NO_COMPLETION) from None

    def _client(self, provider: str, settings: dict[str, Any], api_key: str) -> openai.AsyncOpenAI:
        base_url = settings.get("base_url")
        source = (provider, base_url, _key_variable(settings))
        if source not in self._clients:
            # The job queue is the only one that retries.
            if provider == "azure":
                if not (base_url and settings.get("api_version")):
                    raise ModelError("provider azure needs the settings base_url (the endpoint) and api_version")
                self._clients[source] = openai.AsyncAzureOpenAI(
                    azure_endpoint=base_url, api_version=settings["api_version"], api_key=api_key, max_retries=0
                )
            else:
                self._clients[source] = openai.AsyncOpenAI(base_url=base_url, api_key=api_key, max_retries=0)
        return self._clients[source]


def _key_variable(settings: dict[str, Any]) -> str:
    return str(settings.get("api_key_env") or "OPENAI_API_KEY")


def _api_key(settings: dict[str, Any]) -> str:
    """The key from the environment; a server of one's own (`base_url`) may do without. Raises ModelError."""
    variable = _key_variable(settings)
    api_key = os.environ.get(variable, "").strip()
    if not api_key:
        if settings.get("base_url"):
            return PLACEHOLDER_KEY
        raise ModelError(f"no API key: the environment variable {variable} is not set where the model is called")
    if not (api_key.isascii() and api_key.isprintable()):
        raise ModelError(f"the environment variable {variable} holds characters that no API key has")
    return api_key


def _retry_after(headers: Mapping[str, str]) -> float:
    """The seconds that a Retry-After header asks for, as a number or as a date; a default where it is of no use."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except ValueError:
            return DEFAULT_RETRY_AFTER_SECONDS
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_SECONDS) if math.isfinite(seconds) else DEFAULT_RETRY_AFTER_SECONDS


def _content(completion: Any) -> str:
    """The text of the reply, without the reasoning that some servers put in front. Raises ModelError."""
    try:
        choice = completion.choices[0]
        content, finish_reason = choice.message.content, choice.finish_reason
    except (AttributeError, IndexError, TypeError):
        raise ModelError(_NO_COMPLETION) from None
    if finish_reason == "length":
        raise ModelError("the reply was cut off at the model's token limit")
    if not isinstance(content, str):
        raise ModelError("the reply holds no text")
    return content.rpartition("</think>")[2]
