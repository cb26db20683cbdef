"""Reads mem0's configuration: a database and models; a warning names all other keys."""

from __future__ import annotations

import hashlib
import json
import warnings
from typing import TYPE_CHECKING, Any, ClassVar

from psycopg.conninfo import make_conninfo

from ... import client

if TYPE_CHECKING:
    from typing_extensions import Self

_SERVERS = {"openai": None, "ollama": "http://localhost:11434/v1"}
"""Providers, and where their servers listen unless the configuration says so."""
_MODELS = {"chat": "gpt-5-mini", "embedding": "text-embedding-3-small"}
"""The models of OpenAI that mem0 takes where the configuration names none."""
_CONNECTION = ("dbname", "user", "password", "host", "port", "sslmode")


class Configured:
    """What is made from mem0's configuration: it uses a client of ``_client_type``."""

    _client_type: ClassVar[type[Any]]

    @classmethod
    def from_config(cls, config_dict: dict[str, Any] | None = None) -> Self:
        """Return a new one on the database and with the models that mem0's configuration names.

        ``vector_store`` of provider pgvector names the database, and ``llm`` and ``embedder`` models that are
        registered and activated there, for all who use the database; so the role must be allowed to. Settings that are
        left out stay as they are there. A warning names the keys that mean nothing here.

        Raises:
            ValueError: a provider is not served.
            AgentMemoryError: the role may not register models.
        """
        return cls(cls._client_type(_apply(config_dict or {})))  # type: ignore[call-arg]  # both subclasses take a client


def _apply(config: dict[str, Any]) -> str | None:
    """Have the database use the models of a configuration, and return its connection string; None is no database."""
    rest = {key: value for key, value in config.items() if key != "version" and value is not None}
    unused: list[str] = []
    dsn = _database(rest.pop("vector_store", None), unused)
    places = (("llm", "chat"), ("embedder", "embedding"))
    models = [_model(rest.pop(place), place, kind, unused) for place, kind in places if place in rest]
    if unused := [*unused, *rest]:
        warnings.warn(
            f"of mem0's configuration this is not used: {', '.join(unused)}. Keys of models are never stored: set "
            "OPENAI_API_KEY where models are called",
            stacklevel=3,
        )
    if models:
        with client.Memory(dsn) as memory:
            active = [(each["kind"], each["name"]) for each in memory.admin.status()["models"]]
            for name, kind, model, settings in models:
                if (kind, name) not in active:
                    memory.admin.register_model(name, kind, "openai", model, settings)
                    memory.admin.activate_model(name)
    return dsn


def _database(store: dict[str, Any] | None, unused: list[str]) -> str | None:
    if store is None:
        return None
    if store.get("provider") != "pgvector":
        raise ValueError(
            f"vector_store.provider: memories are stored in PostgreSQL, not in {store.get('provider')}. Name pgvector, "
            "or leave vector_store out for the database of AGENT_MEMORY_DSN or the embedded one"
        )
    config = dict(store.get("config") or {})
    string = config.pop("connection_string", None)
    parts = {key: value for key in _CONNECTION if (value := config.pop(key, None)) is not None}
    unused += [f"vector_store.config.{key}" for key, value in config.items() if value is not None]
    if string is not None:
        return make_conninfo(string, **{key: parts[key] for key in ("sslmode",) if key in parts})
    return make_conninfo(**{"dbname": "postgres", **parts})


def _model(section: dict[str, Any], place: str, kind: Any, unused: list[str]) -> tuple[str, Any, str, Any]:
    """Return name, kind, model and settings as ``register_model`` takes them."""
    provider, config = section.get("provider") or "openai", dict(section.get("config") or {})
    model = config.pop("model", None) or (_MODELS[kind] if provider == "openai" else None)
    settings: dict[str, Any] = {}
    if provider in _SERVERS:
        url: Any = config.pop(f"{provider}_base_url", None) or _SERVERS[provider]
        if provider == "ollama" and not url.rstrip("/").endswith("/v1"):
            url = url.rstrip("/") + "/v1"
        settings["base_url"] = url
    else:
        raise ValueError(
            f"{place}.provider: {provider} is not read here. Leave {place} out, and register the model: agent-memory "
            "models register, which takes all providers"
        )
    if model is None:
        raise ValueError(f"{place}.config.model: name the model")
    setting, key = ("temperature", "temperature") if kind == "chat" else ("dimensions", "embedding_dims")
    settings[setting] = config.pop(key, None)
    unused += [f"{place}.config.{key}" for key, value in config.items() if value is not None]
    settings = {key: value for key, value in settings.items() if value is not None}
    name = model
    if settings:  # other settings are another name, by which a later call knows that nothing has changed
        name += "#" + hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]
    return name, kind, model, settings
