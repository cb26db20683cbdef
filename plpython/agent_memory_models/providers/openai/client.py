"""One request to a server that speaks OpenAI's protocol: its client, its timeout, and errors in plain words."""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import openai

from ...errors import ModelError, OutOfReachError, RateLimitedError, TimedOutError
from ..keys import gets_key, key_source
from ..known import settings_of, timeout_of
from .connections import Connections, asking, http

DEFAULT_RETRY_AFTER_SECONDS = 15.0
MIN_RETRY_AFTER_SECONDS = 1.0
"""A server whose clock is behind names a time in the past; asking again at once would never end."""
MAX_RETRY_AFTER_SECONDS = 86400.0
FIRST_PAUSE_SECONDS = 15.0
LONGEST_PAUSE_SECONDS = 300.0
"""How long nothing is asked of a server that was out of reach: twice as long each time, and at most five minutes."""
MAX_CLIENTS = 32
PLACEHOLDER_KEY = "none"
"""The client must be made with a key. connections.py decides for each request which key is sent, if any."""

# Makes the client hand out the reply as it came, as its with_raw_response does for the paths that it knows.
_RAW_RESPONSE = {"X-Stainless-Raw-Response": "true"}
# The form of an error's type and code. Any other text that a server sends as type or code may repeat the user.
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


# Statuses that say nothing about the form of a request: keys, rights, addresses, limits, time.
_NOT_ABOUT_THE_FORM = (401, 402, 403, 404, 405, 407, 408, 504)
_OUT_OF_REACH = (502, 503)


class RefusedRequestError(ModelError):
    """The server refuses the request, as a rule for its form: by 400 or 422, and some by 500.

    `said` is the server's explanation. The caller may use it for a decision but must not store it, because it may
    repeat the request.
    """

    def __init__(self, message: str, said: str) -> None:
        super().__init__(message)
        self.said = said


class OpenAIClient:
    """The connections to the servers in use, kept open for the next request. No key is kept."""

    def __init__(self) -> None:
        self._connections = Connections()
        self._clients: dict[tuple[str | None, ...], openai.AsyncOpenAI] = {}
        self._pauses: dict[tuple[str, ...], tuple[float, float]] = {}  # until when, and how long

    async def close(self) -> None:
        """Close every connection."""
        await self._connections.aclose()

    async def post(self, model: dict[str, Any], path: str, request: dict[str, Any]) -> bytes:
        """The body of the reply to a JSON request, as `request`."""
        return await self._raw("post", model, path, {"body": request})

    async def get(self, model: dict[str, Any], url: str) -> bytes:
        """The body of the reply to a GET of an address."""
        return await self._raw("get", model, url, {})

    async def _raw(self, method: str, model: dict[str, Any], path: str, body: dict[str, Any]) -> bytes:
        async def send(client: openai.AsyncOpenAI, timeout: float) -> Any:
            options = {"headers": _RAW_RESPONSE, "timeout": timeout}
            return await getattr(client, method)(path, cast_to=object, options=options, **body)

        return await self.request(model, send)

    def check_reach(self, model: dict[str, Any]) -> None:
        """Raise OutOfReachError while nothing is asked of the model's server, because it was out of reach."""
        until, _ = self._pauses.get(server_of(model), (0.0, 0.0))
        if (left := until - time.monotonic()) > 0:
            raise OutOfReachError(f"the server of model {model['name']} was out of reach a moment ago", left)

    def _out_of_reach(self, model: dict[str, Any], problem: str, seconds: float | None = None) -> OutOfReachError:
        """The error of a server that is out of reach, of which nothing is asked for some time from now."""
        until, before = self._pauses.get(server_of(model), (0.0, FIRST_PAUSE_SECONDS / 2))
        now = time.monotonic()
        if until <= now:  # calls that failed together make one pause
            pause = seconds or min(2 * before, LONGEST_PAUSE_SECONDS)
            until = now + pause
            self._pauses[server_of(model)] = (until, pause)
        return OutOfReachError(problem, until - now)

    async def request(
        self, model: dict[str, Any], send: Callable[[openai.AsyncOpenAI, float], Awaitable[Any]]
    ) -> bytes:
        """The body of the reply to one request, not parsed; `send` makes it with a client and a timeout in seconds.

        Raises RateLimitedError when the server asks to wait or is out of reach, TimedOutError, RefusedRequestError for
        a status that may concern the form of the request, and ModelError for everything else that goes wrong.
        """
        settings = settings_of(model)
        client = self._client(model["provider"], settings)
        timeout = timeout_of(model)
        token = asking.set(model)
        try:
            # The client's own timeout restarts with every byte received; this one is for the whole call.
            response = await asyncio.wait_for(send(client, timeout), timeout)
        # `from None` below: the errors behind these could show the request's headers.
        except (openai.APITimeoutError, asyncio.TimeoutError):
            raise TimedOutError(f"no answer from the model within {timeout:g} s; see timeout_seconds") from None
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, ModelError):
                raise error.__cause__ from None
            server = urlsplit(settings.get("base_url") or "").hostname or "the model's server"
            problem = f"no reply from {server}: {_why_no_reply(error.__cause__)}"
            if isinstance(error.__cause__, http.ConnectError):
                raise self._out_of_reach(model, problem) from None
            raise ModelError(problem) from None
        except openai.RateLimitError as error:
            if error.code == "insufficient_quota":  # waiting does not help
                raise ModelError(_refusal(error, model)) from None
            raise RateLimitedError(_refusal(error, model), _retry_after(error.response.headers)) from None
        except openai.APIStatusError as error:
            if error.status_code in _OUT_OF_REACH:
                wait = _retry_after(error.response.headers) if "retry-after" in error.response.headers else None
                raise self._out_of_reach(model, _refusal(error, model), wait) from None
            if error.status_code < 400 or error.status_code in _NOT_ABOUT_THE_FORM:
                raise ModelError(_refusal(error, model)) from None
            # The text of the error leaves out a body that does not have the form of OpenAI's errors.
            raise RefusedRequestError(_refusal(error, model), f"{error} {error.body}") from None
        except openai.OpenAIError as error:
            raise ModelError(f"the client failed: {type(error).__name__}") from None
        finally:
            asking.reset(token)
        self._pauses.pop(server_of(model), None)
        body: bytes = response.http_response.content
        return body

    def _client(self, provider: str, settings: dict[str, Any]) -> openai.AsyncOpenAI:
        base_url, api_version = settings.get("base_url"), settings.get("api_version")
        server = (provider, base_url, api_version)
        if server not in self._clients:
            # The job queue is the only one that retries.
            options: dict[str, Any] = {
                "api_key": PLACEHOLDER_KEY,
                "max_retries": 0,
                "http_client": self._connections,
            }
            if len(self._clients) == MAX_CLIENTS:
                self._clients.clear()
            if provider != "azure":
                self._clients[server] = openai.AsyncOpenAI(base_url=base_url, **options)
            elif base_url and api_version:
                self._clients[server] = openai.AsyncAzureOpenAI(
                    azure_endpoint=base_url, api_version=api_version, **options
                )
            else:
                raise ModelError("provider azure needs the settings base_url (the endpoint) and api_version")
        return self._clients[server]


def server_of(model: dict[str, Any]) -> tuple[str, str]:
    """Tells the servers of models apart."""
    return model["provider"], str(settings_of(model).get("base_url"))


def _refusal(error: openai.APIStatusError, model: dict[str, Any]) -> str:
    """Status, type and code of a refusal, as they may be stored: the server's words may repeat those of the user."""
    names = [str(each) for each in (error.type, error.code) if _NAME.fullmatch(str(each or ""))]
    status = error.status_code
    said = f" ({', '.join(dict.fromkeys(names))})" if names else ""
    hint = ""
    if status in (401, 403):
        provider, settings = model["provider"], model.get("settings") or {}
        url = error.request.url
        if gets_key(provider, settings, url.scheme, url.host, url.port):
            hint = f"; the key is that of the {key_source(provider, settings)}"
        else:
            hint = "; no key was sent: name its source in the model's settings, as api_key_env or api_key_file"
    elif status < 400:
        hint = "; redirects are not followed: name the final address as base_url"
    return f"the server answered {status}{said}{hint}"


def _why_no_reply(cause: BaseException | None) -> str:
    """The system's message if there was no connection; else only the error's type, as its text may be the server's."""
    if isinstance(cause, http.ConnectError):
        return str(cause)[:200]
    return type(cause).__name__


def _retry_after(headers: Mapping[str, str]) -> float:
    """The seconds that the server asks to wait, or a default.

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
