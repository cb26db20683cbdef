"""The chat model that answers in the shell: a registered one, or one of the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from psycopg.rows import dict_row

from ..client import Memory
from ..errors import AgentMemoryError, NotFoundError
from ..types import Context

_DEFAULT = "gpt-4.1-mini"
_NO_KEY = "none"
"""The client wants a key, also for a server of one's own that needs none."""
_INSTRUCTIONS = "You are a helpful assistant. What you know of the user from before is below; use it where it helps."
_MODELS = "select name, provider, model, settings, is_active from memory.models where kind = 'chat' order by name"


@dataclass(frozen=True)
class ChatModel:
    """A chat model and the openai client that reaches it."""

    name: str
    model: str
    client: Any

    def reply(self, context: Context) -> str:
        """Return the model's answer to a context.

        Raises:
            AgentMemoryError: the model cannot be reached, or says nothing.
        """
        import openai

        messages = context.to_openai()
        if not any(part.source == "instructions" for part in context):
            messages.insert(0, {"role": "system", "content": _INSTRUCTIONS})
        try:
            completion = self.client.chat.completions.create(model=self.model, messages=messages)
        except openai.OpenAIError as error:
            raise AgentMemoryError(
                f"{self.name} does not answer: {error.__cause__ or error}",
                hint="What you said is stored. See /context, or --model.",
            ) from error
        reply = completion.choices[0].message.content if completion.choices else None
        if not reply:
            raise AgentMemoryError(f"{self.name} has answered nothing")
        return str(reply)


def chat_model(memory: Memory, wanted: str | None) -> ChatModel | None:
    """Return the chat model of this name, else the active one, else that of the environment; None where there is none.

    Raises:
        AgentMemoryError: the key of the registered model is missing.
        NotFoundError: a model is wanted that is not registered, and the environment names no server.
    """
    if wanted == "":
        return None
    has_environment = bool(os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL"))
    for row in _registered(memory):
        is_wanted = row["is_active"] if wanted is None else row["name"] == wanted
        if is_wanted and row["provider"] != "local":
            return ChatModel(row["name"], row["model"], _registered_client(row["provider"], row["settings"]))
    if has_environment:
        name = wanted or os.environ.get("OPENAI_MODEL") or _DEFAULT
        return ChatModel(name, name, _client_of_environment())
    if wanted is not None:
        raise NotFoundError(
            f'no chat model "{wanted}" is registered',
            hint="Run: agent-memory models list; or set OPENAI_API_KEY for a model of OpenAI.",
        )
    return None


def _registered(memory: Memory) -> list[dict[str, Any]]:
    """Return the registered chat models; none for a role that may not read them."""
    from psycopg.errors import InsufficientPrivilege

    from ..calls import Notices

    with memory.caller.borrowed(Notices(set())) as connection, connection.cursor(row_factory=dict_row) as cursor:
        try:
            return cursor.execute(_MODELS).fetchall()
        except InsufficientPrivilege:
            return []


def _registered_client(provider: str, settings: dict[str, Any]) -> Any:
    """Return the openai client for the settings of a registered model, with the key that jobs would send there.

    Raises:
        AgentMemoryError: the key is missing, or may not be read.
    """
    import openai
    from agent_memory_models import ModelError
    from agent_memory_models.providers.keys import api_key, gets_key

    base_url = settings.get("base_url")
    url = urlsplit(base_url or "https://api.openai.com")
    try:
        has_key = gets_key(provider, settings, url.scheme, url.hostname or "", url.port)
        key = api_key(provider, settings) if has_key else _NO_KEY
    except ModelError as error:
        raise AgentMemoryError(str(error), hint="Name another model with --model, or none: --model ''.") from None
    if provider == "azure":
        version = settings.get("api_version")
        return openai.AzureOpenAI(azure_endpoint=str(base_url), api_version=version, api_key=key, **_connections())
    return openai.OpenAI(
        base_url=base_url, api_key=key, timeout=settings.get("timeout_seconds") or 60, **_connections()
    )


def _client_of_environment() -> Any:
    import openai

    return openai.OpenAI(api_key=os.environ.get("OPENAI_API_KEY") or _NO_KEY, timeout=60, **_connections())


def _connections() -> dict[str, Any]:
    """Return the options of a client that unpacks no reply in another way than it has asked for."""
    import openai
    from agent_memory_models.providers.openai.connections import checked_encoding

    client = openai.DefaultHttpxClient(event_hooks={"response": [checked_encoding]})
    return {"http_client": client, "default_headers": {"accept-encoding": "gzip"}}
