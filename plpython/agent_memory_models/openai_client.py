"""One request to a server that speaks OpenAI's protocol: key, timeout, size limit, and errors in plain words."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import openai

from .calls import MAX_ERROR_CHARACTERS
from .errors import ModelError, RateLimitedError
from .keys import api_key, key_source

DEFAULT_TIMEOUT_SECONDS = 60.0
DEFAULT_RETRY_AFTER_SECONDS = 15.0
MIN_RETRY_AFTER_SECONDS = 1.0
"""A server whose clock is behind names a time that is over; asking again at once would go on without end."""
MAX_RETRY_AFTER_SECONDS = 86400.0
MAX_REPLY_MIB = 8
MIN_KEY_CHARACTERS = 8
MAX_EMBEDDING_KIB = 128
"""For each text: 4,000 numbers of 30 characters."""


class RefusedRequestError(ModelError):
    """The server understood the request and does not take it as it is (400 or 422)."""


class OpenAIClient:
    """The connections to the servers in use, one client for each base URL and key."""

    def __init__(self) -> None:
        self._clients: dict[tuple[str | None, ...], openai.AsyncOpenAI] = {}

    async def close(self) -> None:
        """Close every connection."""
        for client in self._clients.values():
            await client.close()

    async def request(
        self, model: dict[str, Any], send: Callable[[openai.AsyncOpenAI, float], Awaitable[Any]]
    ) -> bytes:
        """The body of the reply to one request, not parsed; `send` makes it with a client and a timeout in seconds.

        Raises RateLimitedError when the server asks to wait, RefusedRequestError for 400 and 422, and ModelError for
        everything else that goes wrong.
        """
        settings = model.get("settings") or {}
        key = api_key(settings)
        client = self._client(model["provider"], settings, key)
        timeout = float(settings.get("timeout_seconds") or DEFAULT_TIMEOUT_SECONDS)

        def reason(error: object) -> str:
            # A shorter "key" is no secret, but what people write where a server asks for none.
            hidden = str(error).replace(key, "***") if len(key) >= MIN_KEY_CHARACTERS else str(error)
            return hidden[:MAX_ERROR_CHARACTERS]

        try:
            # The client's own timeout restarts with every byte received; this one is for the whole call.
            response = await asyncio.wait_for(send(client, timeout), timeout)
        # `from None` below: the errors behind these could show the request's headers.
        except (openai.APITimeoutError, asyncio.TimeoutError):
            raise ModelError(f"no answer from the model within {timeout:g} s") from None
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, ModelError):
                raise error.__cause__ from None
            server = urlsplit(settings.get("base_url") or "").hostname or "the model's server"
            raise ModelError(f"no reply from {server}: {reason(error.__cause__ or error)}") from None
        except openai.RateLimitError as error:
            if error.code == "insufficient_quota":  # waiting does not help
                raise ModelError(reason(error)) from None
            raise RateLimitedError(reason(error), _retry_after(error.response.headers)) from None
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            # The text leaves out a body that has not the shape of OpenAI's.
            text = str(error)
            has_body = " - " in text or not error.body
            raise RefusedRequestError(reason(text if has_body else f"{text} - {error.body}")) from None
        except openai.OpenAIError as error:
            raise ModelError(reason(error)) from None
        body: bytes = response.http_response.content
        return body

    def _client(self, provider: str, settings: dict[str, Any], key: str) -> openai.AsyncOpenAI:
        base_url, api_version = settings.get("base_url"), settings.get("api_version")
        source = (provider, base_url, api_version, key_source(settings), key)
        if source not in self._clients:
            # The job queue is the only one that retries.
            if provider == "azure":
                if not (base_url and api_version):
                    raise ModelError("provider azure needs the settings base_url (the endpoint) and api_version")
                self._clients[source] = openai.AsyncAzureOpenAI(
                    azure_endpoint=base_url,
                    api_version=api_version,
                    api_key=key,
                    max_retries=0,
                    http_client=_BoundedClient(),
                )
            else:
                self._clients[source] = openai.AsyncOpenAI(
                    base_url=base_url, api_key=key, max_retries=0, http_client=_BoundedClient()
                )
        return self._clients[source]


class _BoundedClient(openai.DefaultAsyncHttpxClient):
    """Reads no more of a body than the limit, whatever its status, length header or compression say."""

    def __init__(self) -> None:
        # A redirect would carry the users' words to a server that the administrator did not name.
        super().__init__(follow_redirects=False)

    async def send(self, request: Any, **options: Any) -> Any:
        """The response with its body read. Raises ModelError when that is too large."""
        limit = MAX_REPLY_MIB
        if request.url.path.endswith("/embeddings"):
            limit = 1 + len(json.loads(request.content)["input"]) * MAX_EMBEDDING_KIB // 1024
        response = await super().send(request, **{**options, "stream": True})
        body = bytearray()
        try:
            async for part in response.aiter_bytes():
                body += part
                if len(body) > limit * 2**20:
                    raise ModelError(f"the reply is larger than {limit} MiB")
        finally:
            await response.aclose()
        headers = [(name, value) for name, value in response.headers.multi_items() if name != "content-encoding"]
        return type(response)(response.status_code, headers=headers, content=bytes(body), request=request)


def _retry_after(headers: Mapping[str, str]) -> float:
    """The seconds that the server asks to wait; a default where it says nothing of use.

    `retry-after-ms` is Azure's, in milliseconds; Retry-After of RFC 9110 is a number of seconds or a date.
    """
    value = headers.get("retry-after", "")
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        elif value.isascii() and value.replace(".", "", 1).isdigit():
            seconds = float(value)
        else:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, OverflowError):
        return DEFAULT_RETRY_AFTER_SECONDS
    if not math.isfinite(seconds):
        return DEFAULT_RETRY_AFTER_SECONDS
    return min(max(seconds, MIN_RETRY_AFTER_SECONDS), MAX_RETRY_AFTER_SECONDS)
