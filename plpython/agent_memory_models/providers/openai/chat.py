"""Chat completions of OpenAI, of any server that speaks its protocol, or of Azure, with a reply of a given shape."""

from __future__ import annotations

import json
import logging
import re
from functools import partial
from typing import Any, NamedTuple

import openai
from pydantic import BaseModel, Field, ValidationError

from ...calls import Calls, recorded_call
from ...chat.prompts import chat_messages
from ...chat.question import Question
from ...chat.replies import parse_reply, strict_schema, whole_part
from ...errors import ModelError, RateLimitedError, TimedOutError, TooLongError
from ...payload import Payload, Result
from ...task import Task
from ...text.tokens import TokenCounter
from ..known import provider_of, settings_of
from .client import OpenAIClient, RefusedRequestError, server_of
from .server import Server
from .usage import used_tokens

logger = logging.getLogger("agent_memory.models")

# The ways to ask for the shape of a reply, the strictest first. A server that refuses one is asked in the next way.
# Bounds of lengths are for servers that write by a grammar; providers that the product knows refuse them.
_MODES = ("bounds", "schema", "object", "off")
_OLDER_MODES = {None: "schema", True: "object", False: "off"}
_SHORTEST_FIT = 500
"""Tokens of a prompt that a slow server is always asked, whatever it took before."""
_MOST_CUT = 8
"""Replies of one job that may be cut off before its payload is no longer halved for that."""
_LEAST_READ = 0.5
"""The share of a prompt, as it is counted here, of which no tokenizer makes less."""
_LEAST_COUNTED = 500
_NAME = re.compile(r"[\w./:@+-]{1,255}", re.ASCII)
# The members of a request that it can do without, and what a refusal calls them.
_OPTIONS = {
    "temperature": re.compile("temperature", re.IGNORECASE),
    "max_completion_tokens": re.compile("max_completion_tokens"),
    "max_tokens": re.compile("max_tokens"),
}


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None
    reasoning: Any = None
    reasoning_content: Any = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: Any = None
    model: Any = None


class _Asked(NamedTuple):
    """A job's payload, what is asked about it, where its calls are entered, and how its replies were cut off."""

    kind: str
    payload: Payload
    question: Question
    calls: Calls
    cuts: list[_CutReplyError]


class _CutReplyError(TooLongError):
    """The reply ended at its limit. `reasons` says that thoughts were a part of it, `content` is what there is."""

    def __init__(self, message: str, reasons: bool, content: str) -> None:
        super().__init__(message)
        self.reasons = reasons
        self.content = content


class OpenAIChat:
    """Asks chat models, and remembers of each what its server can do and how much it reads."""

    def __init__(self, client: OpenAIClient, counter: TokenCounter) -> None:
        self._client = client
        self._counter = counter
        self._servers: dict[tuple[str, ...], Server] = {}

    async def run(self, job: Task, question: Question) -> Result:
        """The result that the checked replies to a question make; each request is entered into the job's calls.

        What does not fit into the model's window is read in parts, also where a part turns out not to fit.

        Raises ModelError when a reply is invalid, and as OpenAIClient.request does.
        """
        model = job.payload["model"]
        self._client.check_reach(model)
        server = self._servers.setdefault((*server_of(model), model["model"]), Server())
        try:
            await server.look(self._client, model)
        except RateLimitedError:
            with recorded_call(job.calls, job.kind, job.payload):
                raise
        return await self._in_parts(server, _Asked(job.kind, job.payload, question, job.calls, []))

    async def _in_parts(self, server: Server, asked: _Asked) -> Result:
        """The result of one reply, or of the replies to each part.

        Of a part that is not made smaller and still has no whole reply the whole entries are taken; without any it is
        left out, so that it does not stop the others for ever, unless a summary goes on from it.
        """
        parts = asked.question.parts
        smaller = [] if await self._fits(server, asked) else parts.of(asked.payload)
        if not smaller:
            try:
                return await self._ask_in_modes(server, asked)
            except TooLongError as error:
                smaller = self._asked_again(server, asked, error)
                if not smaller:
                    return self._of_whole_part(asked, error)
        made: list[Result] = []
        left_out: TooLongError | None = None
        for part in smaller:
            payload = parts.after(part, made[-1]) if made else part
            try:
                made.append(await self._in_parts(server, asked._replace(payload=payload)))
            except TooLongError as error:
                if parts.continues:
                    raise
                left_out = error
        if left_out is not None:
            if not made:
                raise left_out
            logger.warning("a part of a job of kind %s was left out: %s", asked.kind, left_out)
        return parts.joined(made)

    def _asked_again(self, server: Server, asked: _Asked, error: TooLongError) -> list[Payload]:
        """What is asked in place of a payload that was too long, or whose reply was; empty where nothing is.

        A model that does not stop writes as much about five short messages as about ten.
        """
        parts = asked.question.parts
        if isinstance(error, _CutReplyError):
            if error.reasons and not server.reasons:
                server.reasons = True  # the reply gets more room
                return [asked.payload]
            asked.cuts.append(error)
            if len(asked.cuts) >= _MOST_CUT or parts.is_short(asked.payload):
                return []
        return parts.of(asked.payload)

    def _of_whole_part(self, asked: _Asked, error: TooLongError) -> Result:
        """The result of the whole entries of a reply that was cut off; raises the error where it has none."""
        question = asked.question
        if not isinstance(error, _CutReplyError) or question.parts.continues:
            raise error
        try:
            reply = parse_reply(whole_part(error.content), question.reply_type(asked.payload))
            made = question.result(asked.payload, reply)
        except (ModelError, ValueError, TypeError):
            raise error from None
        if not any(made.values()):
            raise error
        return made

    async def _fits(self, server: Server, asked: _Asked) -> bool:
        """Whether the window has room for a prompt and its reply, and the server answered prompts of its size in time.

        Without the tokenizer of the model a count is too low for some languages, so a tenth of the window is left.
        """
        model = asked.payload["model"]
        prompt = self._prompt(asked, _MODES[server.mode])[0]
        tokens = await self._counter.count([message["content"] for message in prompt], model["model"])
        window = server.window_of(model)
        room = window - server.reply_tokens(model, asked.question.reply_tokens)
        if provider_of(model) is None:
            room -= window // 10
        return tokens <= min(room, server.fits or room)

    async def _ask_in_modes(self, server: Server, asked: _Asked) -> Result:
        """The result of one reply, asked for in the first way that the server takes."""
        model = asked.payload["model"]
        given = settings_of(model).get("json_mode")
        wanted = _OLDER_MODES.get(given, given)
        if wanted not in _MODES[1:]:
            raise ModelError(f"json_mode must be one of {', '.join(_MODES[1:])}")
        first = _MODES.index(wanted)
        if wanted == "schema" and provider_of(model) is None:
            first = 0
        mode = max(first, server.mode)
        first_refusal: RefusedRequestError | None = None
        while isinstance(made := await self._ask_or_refusal(server, asked, mode), RefusedRequestError):
            said = made.said
            if server.heed_overflow(said):
                raise TooLongError(f"{made}; prompt and reply are longer than the model's window")
            option = next((name for name in self._options(server, asked) if _OPTIONS[name].search(said)), None)
            if option:
                server.refused.add(option)
                continue
            # An error of a server that has taken this way before has another reason, whatever it is.
            first_refusal = first_refusal or made
            if server.has_answered or _MODES[mode] == "off":
                raise first_refusal
            mode += 1
        return made

    async def _ask_or_refusal(self, server: Server, asked: _Asked, mode: int) -> Result | RefusedRequestError:
        try:
            return await self._ask(server, asked, mode)
        except RefusedRequestError as error:
            return error

    def _options(self, server: Server, asked: _Asked) -> dict[str, Any]:
        """The members of a request that the server takes, beside those that it cannot do without."""
        model = asked.payload["model"]
        settings = settings_of(model)
        limit = (provider_of(model) or {}).get("output_limit", "max_tokens")
        if limit in server.refused:
            limit = {"max_tokens": "max_completion_tokens"}.get(limit, "max_tokens")
        temperature = settings.get("temperature")
        options = {
            "temperature": 0 if temperature is None else temperature,
            limit: server.reply_tokens(model, asked.question.reply_tokens),
        }
        return {name: value for name, value in options.items() if name not in server.refused}

    async def _ask(self, server: Server, asked: _Asked, mode: int) -> Result:
        payload, question = asked.payload, asked.question
        model, reply_type = payload["model"], question.reply_type(payload)
        messages, shape = self._prompt(asked, _MODES[mode])
        options = {**self._options(server, asked), **shape}
        sent = await self._counter.count([message["content"] for message in messages], model["model"])
        with recorded_call(asked.calls, asked.kind, payload) as call:
            call["context_tokens"] = server.window
            try:
                body = await self._send(model, messages, options)
            except TimedOutError:
                call["tokens_in"] = sent  # the server has read them, as far as anybody knows
                server.fits = max(sent // 2, _SHORTEST_FIT)
                raise
            server.mode, server.has_answered = mode, True
            content = await self._content(server, asked, body, call, sent)
            reply = parse_reply(content, reply_type, question.from_text and partial(question.from_text, payload))
            return question.result(payload, reply)

    def _prompt(self, asked: _Asked, mode: str) -> tuple[list[dict[str, str]], dict[str, Any]]:
        """The messages of a request, and the member of it that says which shape the reply must have."""
        payload = asked.payload
        messages = chat_messages(payload, asked.question.variables)
        seqs = [row["seq"] for row in payload.get("messages") or ()]
        if seqs and payload.get("previous_summary"):
            seqs.append(0)  # points of the summary are of earlier messages
        schema = strict_schema(
            asked.question.reply_type(payload),
            with_bounds=mode == "bounds",
            seqs=(min(seqs), max(seqs)) if seqs else None,
        )
        if mode in ("bounds", "schema"):
            named = {"name": payload["prompt"]["name"], "strict": True, "schema": schema}
            return messages, {"response_format": {"type": "json_schema", "json_schema": named}}
        first, *others = messages
        shape = f"Reply with one JSON object and nothing else. Its JSON schema: {json.dumps(schema)}"
        messages = [{**first, "content": f"{first['content']}\n\n{shape}"}, *others]
        return messages, {"response_format": {"type": "json_object"}} if mode == "object" else {}

    async def _send(self, model: dict[str, Any], messages: list[dict[str, str]], options: dict[str, Any]) -> bytes:
        async def send(client: openai.AsyncOpenAI, timeout: float) -> Any:
            return await client.chat.completions.with_raw_response.create(
                model=model["model"],
                messages=messages,  # type: ignore[arg-type]
                timeout=timeout,
                extra_body=settings_of(model).get("request") or {},
                **options,
            )

        return await self._client.request(model, send)

    async def _content(self, server: Server, asked: _Asked, body: bytes, call: dict[str, Any], sent: int) -> str:
        """The text of one completion; what is known of it is entered into `call`."""
        model = asked.payload["model"]
        try:
            completion = _Completion.model_validate_json(body)
        except ValidationError:
            raise ModelError("the reply is not a chat completion") from None
        choice = completion.choices[0]
        content = choice.message.content
        if isinstance(completion.model, str) and _NAME.fullmatch(completion.model):
            call["reply_model"] = completion.model
        call["tokens_in"] = used_tokens(completion.usage, "prompt_tokens")
        call["tokens_out"] = used_tokens(completion.usage, "completion_tokens")
        if call["tokens_in"] is None:
            call["tokens_in"] = sent
        elif call["tokens_in"] < _LEAST_READ * sent and sent > _LEAST_COUNTED and not server.is_suspect:
            server.is_suspect = True
            logger.warning(
                "model %s: its server counts %d tokens of a prompt that has about %d. If it cuts prompts to its window "
                "without a word, make the window larger, or name its size in the setting context_tokens",
                model["name"],
                call["tokens_in"],
                sent,
            )
        if call["tokens_out"] is None:
            call["tokens_out"] = await self._counter.count([content or ""], model["model"])
        if choice.finish_reason == "length":
            limit = server.reply_tokens(model, asked.question.reply_tokens)
            raise _CutReplyError(
                f"the reply was cut off at its limit of {limit} tokens, or at the end of the window of "
                f"{server.window_of(model)}: see the settings max_output_tokens and context_tokens of the model",
                _has_reasoned(choice.message, completion.usage),
                content or "",
            )
        if choice.finish_reason == "content_filter":
            raise ModelError("the provider's content filter withheld the reply")
        if choice.message.refusal:
            raise ModelError("the model refused to answer")
        if content is None:
            raise ModelError("the reply holds no text")
        return content


def _has_reasoned(message: _Message, usage: Any) -> bool:
    """Whether thoughts are a part of a reply, in one of the ways in which servers show them."""
    details = usage.get("completion_tokens_details") if isinstance(usage, dict) else None
    counted = used_tokens(details, "reasoning_tokens")
    return bool(message.reasoning or message.reasoning_content or counted or "<think>" in (message.content or ""))
