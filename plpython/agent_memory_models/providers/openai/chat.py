"""Chat completions of OpenAI, of any server that speaks its protocol, or of Azure, with a reply of a given shape."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

import openai
from pydantic import BaseModel, Field, ValidationError

from ...calls import Calls, recorded_call
from ...chat.prompts import chat_messages
from ...chat.question import Question
from ...chat.replies import parse_reply, strict_schema
from ...errors import ModelError
from ...text.tokens import TokenCounter
from .client import OpenAIClient, RefusedRequestError
from .usage import used_tokens

# The ways to ask for the shape of a reply, the strictest first. A server that refuses one is asked in the next way.
_MODES = ("schema", "object", "off")
_OLDER_MODES = {None: "schema", True: "object", False: "off"}
_ABOUT_THE_MODE = re.compile(r"response_?format|json_?(?:schema|object|mode)|structured.?output", re.IGNORECASE)


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: Any = None


class OpenAIChat:
    """Asks chat models, and remembers in which way each of them can be asked for the shape of its reply."""

    def __init__(self, client: OpenAIClient, counter: TokenCounter) -> None:
        self._client = client
        self._counter = counter
        self._modes: dict[tuple[str, ...], int] = {}

    async def run(self, kind: str, payload: dict[str, Any], question: Question, calls: Calls) -> dict[str, Any]:
        """The result that the checked reply to a question makes; each request is entered into `calls`.

        Raises ModelError when the reply is invalid, and as OpenAIClient.request does.
        """
        model = payload["model"]
        settings = model.get("settings") or {}
        wanted = _OLDER_MODES.get(settings.get("json_mode"), settings.get("json_mode"))
        if wanted not in _MODES:
            raise ModelError(f"json_mode must be one of {', '.join(_MODES)}")
        messages = chat_messages(payload, question.variables)
        reply_type = question.reply_type(payload)
        server = (model["provider"], str(settings.get("base_url")), model["model"])
        mode = max(_MODES.index(wanted), self._modes.get(server, 0))
        while True:
            try:
                with recorded_call(calls, kind, payload) as call:
                    content = await self._ask(payload, messages, _MODES[mode], strict_schema(reply_type), call)
                    reply = parse_reply(
                        content, reply_type, question.from_text and partial(question.from_text, payload)
                    )
                    return question.result(payload, reply)
            except RefusedRequestError as error:
                if _MODES[mode] == "off" or not _ABOUT_THE_MODE.search(error.said):
                    raise
            mode += 1
            self._modes[server] = max(mode, self._modes.get(server, 0))

    async def _ask(
        self,
        payload: dict[str, Any],
        messages: list[dict[str, str]],
        mode: str,
        schema: dict[str, Any],
        call: dict[str, Any],
    ) -> str:
        """The text of one completion; the tokens that it took are entered into `call`."""
        model = payload["model"]
        options: dict[str, Any] = {}
        if mode == "schema":
            named = {"name": payload["prompt"]["name"], "strict": True, "schema": schema}
            options["response_format"] = {"type": "json_schema", "json_schema": named}
        else:
            first, *others = messages
            shape = f"Reply with one JSON object and nothing else. Its JSON schema: {json.dumps(schema)}"
            messages = [{**first, "content": f"{first['content']}\n\n{shape}"}, *others]
        if mode == "object":
            options["response_format"] = {"type": "json_object"}
        temperature = (model.get("settings") or {}).get("temperature")
        if temperature is not None:
            options["temperature"] = temperature

        async def send(client: openai.AsyncOpenAI, timeout: float) -> Any:
            return await client.chat.completions.with_raw_response.create(
                model=model["model"],
                messages=messages,  # type: ignore[arg-type]
                timeout=timeout,
                **options,
            )

        body = await self._client.request(model, send)
        try:
            completion = _Completion.model_validate_json(body)
        except ValidationError:
            raise ModelError("the reply is not a chat completion") from None
        choice = completion.choices[0]
        content = choice.message.content
        call["tokens_in"] = used_tokens(completion.usage, "prompt_tokens")
        call["tokens_out"] = used_tokens(completion.usage, "completion_tokens")
        if call["tokens_in"] is None:
            sent = [await self._counter.count(message["content"], model["model"]) for message in messages]
            call["tokens_in"] = sum(sent)
        if call["tokens_out"] is None:
            call["tokens_out"] = await self._counter.count(content or "", model["model"])
        if choice.finish_reason == "length":
            raise ModelError("the reply was cut off at the model's token limit")
        if choice.finish_reason == "content_filter":
            raise ModelError("the provider's content filter withheld the reply")
        if choice.message.refusal:
            raise ModelError("the model refused to answer")
        if content is None:
            raise ModelError("the reply holds no text")
        return content
