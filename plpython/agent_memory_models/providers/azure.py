"""The differences for models of Azure: a client with an endpoint and an API version, and the header of the key."""

from __future__ import annotations

from typing import Any

import openai

from ..errors import ModelError


def azure_client(settings: dict[str, Any], options: dict[str, Any]) -> openai.AsyncAzureOpenAI:
    """The client for a model's endpoint. Raises ModelError when the settings do not name endpoint and version."""
    base_url, api_version = settings.get("base_url"), settings.get("api_version")
    if not (base_url and api_version):
        raise ModelError("provider azure needs the settings base_url (the endpoint) and api_version")
    return openai.AsyncAzureOpenAI(azure_endpoint=base_url, api_version=api_version, **options)


def azure_key_header(key: str) -> tuple[str, str]:
    """Name and value of the header that carries the key."""
    return "api-key", key
