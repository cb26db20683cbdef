"""What is learned of a server while it is asked: its window, and the forms of request that it refuses."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ...errors import ModelError, RateLimitedError
from ..known import known_model, provider_of, settings_of, window_of
from .client import OpenAIClient

LOOK_SECONDS = 5.0
"""How long a server may take to say how large its window is."""
OLLAMA_WINDOW = 4096
"""Tokens of the window of a model in Ollama that nobody has set."""
SMALLEST_WINDOW, LARGEST_WINDOW = 256, 100_000_000
REASONING_TOKENS = 8000
"""What a model that thinks may write beside its reply."""

_OVERFLOW = re.compile(
    r"context.?(?:length|size|window)|maximum context|exceed_context|too many tokens|longer than the|reduce the length"
    r"|(?:prompt|input) is too (?:long|large)",
    re.IGNORECASE,
)
_WINDOW_SAID = re.compile(
    r"(?:context length (?:is|of)|context window (?:is|of)|context size \(|[\"']n_ctx[\"']:) *\D{0,2}(\d{3,8})",
    re.IGNORECASE,
)


@dataclass
class Server:
    """What is known of the server of one model.

    Attributes:
        window: how many tokens a prompt and its reply may have, as the server says; None before it has said so.
        mode: the first way to ask for the shape of a reply that the server takes.
        has_answered: whether a request in this way had a reply, so that an error has another reason.
        refused: members of a request that the server does not take.
        fits: the tokens of a prompt that may be answered in time, after a larger one was not.
        reasons: whether the model thinks before it answers.
        is_suspect: whether somebody was told that the server seems to read less than it is sent.
    """

    window: int | None = None
    mode: int = 0
    has_answered: bool = False
    refused: set[str] = field(default_factory=set)
    fits: int | None = None
    reasons: bool = False
    is_suspect: bool = False
    was_asked: bool = False

    def window_of(self, model: dict[str, Any]) -> int:
        """The tokens that a prompt and its reply may have together."""
        given = settings_of(model).get("context_tokens")
        return min(int(given or self.window or window_of(model)), self.window or LARGEST_WINDOW)

    def reply_tokens(self, model: dict[str, Any], default: int) -> int:
        """How many tokens a reply may have: the setting, or what its kind takes; never more than half of the window."""
        window = self.window_of(model)
        if given := settings_of(model).get("max_output_tokens"):
            return min(int(given), window // 2)
        if self.reasons or known_model(model["model"]).get("reasons"):
            return min(default + REASONING_TOKENS, window // 2)
        return min(default, window // 4)

    async def look(self, client: OpenAIClient, model: dict[str, Any]) -> None:
        """Ask the server once for its window, unless the settings name one or its provider is known.

        Raises RateLimitedError where the server is out of reach.
        """
        if self.was_asked or settings_of(model).get("context_tokens") or provider_of(model) is not None:
            return
        quick = {**model, "settings": {**settings_of(model), "timeout_seconds": LOOK_SECONDS}}
        for ask in (_of_models, _of_llama_cpp, _of_ollama):
            try:
                found = await ask(client, quick)
            except RateLimitedError:
                raise
            except (ModelError, ValueError, LookupError, TypeError, AttributeError):
                continue  # a server of another kind
            if type(found) is int and SMALLEST_WINDOW <= found <= LARGEST_WINDOW:
                self.window = found
                break
        self.was_asked = True

    def heed_overflow(self, said: str) -> bool:
        """Whether a refusal is about the length of the request; the window that it names is kept."""
        if not is_about_length(said):
            return False
        if (named := _WINDOW_SAID.search(said)) and int(named[1]) >= SMALLEST_WINDOW:
            self.window = int(named[1])
        return True


def is_about_length(said: str) -> bool:
    """Whether a refusal says that a request is too long."""
    return _OVERFLOW.search(said) is not None


def _root(model: dict[str, Any], path: str) -> str:
    """An address beside the API of OpenAI, which most servers have under /v1."""
    parts = urlsplit(settings_of(model)["base_url"])
    path = re.sub(r"/v1/?$", "", parts.path).rstrip("/") + path
    return str(urlunsplit((parts.scheme, parts.netloc, path, "", "")))


async def _of_models(client: OpenAIClient, model: dict[str, Any]) -> Any:
    """What vLLM says of a model."""
    rows = json.loads(await client.get(model, "/models"))["data"]
    return next((row.get("max_model_len") for row in rows if row["id"] == model["model"]), None)


async def _of_llama_cpp(client: OpenAIClient, model: dict[str, Any]) -> Any:
    """What llama.cpp says of each of its slots."""
    return json.loads(await client.get(model, _root(model, "/props")))["default_generation_settings"]["n_ctx"]


async def _of_ollama(client: OpenAIClient, model: dict[str, Any]) -> Any:
    """What Ollama says of a model: the window that was set for it or is loaded, or Ollama's least."""
    shown = json.loads(await client.post(model, _root(model, "/api/show"), {"model": model["model"]}))
    if found := re.search(r"^num_ctx\s+(\d+)", shown.get("parameters") or "", re.MULTILINE):
        return int(found[1])
    loaded = json.loads(await client.get(model, _root(model, "/api/ps")))["models"]
    if found_loaded := [row["context_length"] for row in loaded if row["model"] == model["model"]]:
        return found_loaded[0]
    sizes = [size for name, size in shown["model_info"].items() if name.endswith(".context_length")]
    return min(sizes[0], OLLAMA_WINDOW)
