"""What the product knows of a provider by its address and of a model by its name: lists/providers.toml, models.toml."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from ..payload import Payload
from .lists import MODELS, PROVIDERS, WINDOWS

KNOWN_TIMEOUT_SECONDS = 60.0
OTHER_TIMEOUT_SECONDS = 300.0
"""A server without a large machine reads and writes a few tokens a second."""


def settings_of(model: dict[str, Any]) -> dict[str, Any]:
    """The settings of a model."""
    settings: dict[str, Any] = model.get("settings") or {}
    return settings


def provider_of(model: dict[str, Any]) -> dict[str, Any] | None:
    """The provider whose server answers for a model; None for a server that the product does not know."""
    return _provider(model["provider"], settings_of(model).get("base_url"))


@lru_cache(64)
def _provider(name: str, base_url: str | None) -> dict[str, Any] | None:
    if not base_url or name == "azure":
        return PROVIDERS.get(name)
    host = (urlsplit(base_url).hostname or "").lower()
    known = (each for each in PROVIDERS.values() if any(f".{host}".endswith(f".{end}") for end in each["hosts"]))
    return next(known, None)


@lru_cache(64)
def known_model(name: str) -> dict[str, Any]:
    """What stands in the list about a model of this name; empty for one that the product does not know."""
    return next((known for known in MODELS.values() if re.search(known["name"], name.lower())), {})


def window_of(model: dict[str, Any]) -> int:
    """The tokens of a chat model's window, where neither a setting nor its server says how many."""
    return int(WINDOWS["other" if provider_of(model) is None else "known"]["tokens"])


def timeout_of(model: dict[str, Any]) -> float:
    """The seconds that a call of a model may take."""
    default = OTHER_TIMEOUT_SECONDS if provider_of(model) is None else KNOWN_TIMEOUT_SECONDS
    return float(settings_of(model).get("timeout_seconds") or default)


def places_of(payload: Payload) -> int | None:
    """How many calls of the payload's model are made at a time; None for any number.

    A server that the product does not know writes one reply at a time as a rule: ten calls at once wait in its queue
    until they time out. Embedding and reranking, without a prompt, take no such time.
    """
    model = payload["model"]
    limit = settings_of(model).get("max_concurrency")
    is_asked_alone = model["provider"] != "local" and provider_of(model) is None and bool(payload.get("prompt"))
    return int(limit) if limit else 1 if is_asked_alone else None


def prefix_of(model: dict[str, Any], is_query: bool) -> str:
    """What the model wants before a query, or before a text that is searched."""
    name = "query_prefix" if is_query else "text_prefix"
    prefix = settings_of(model).get(name)
    return str(known_model(model["model"]).get(name, "") if prefix is None else prefix)


def input_type_of(model: dict[str, Any], is_query: bool) -> str | None:
    """What the server calls a query, or a text that is searched, where it wants to be told."""
    given = settings_of(model).get("input_type")
    if given is None:  # a provider takes the word for all its models, or for none
        given = (provider_of(model) or {}).get("input_type", known_model(model["model"]).get("input_type"))
    word = (given or {}).get("query" if is_query else "text")
    return None if word is None else str(word)
