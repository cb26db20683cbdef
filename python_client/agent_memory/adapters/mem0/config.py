"""Reads mem0's configuration: a database and models; a warning names all other keys."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from psycopg.conninfo import make_conninfo

from ... import client

if TYPE_CHECKING:
    from typing_extensions import Self

_SERVERS = {
    "openai": None,
    "openai_structured": None,
    "ollama": "http://localhost:11434/v1",
    "lmstudio": "http://localhost:1234/v1",
    "vllm": "http://localhost:8000/v1",
}
"""Providers whose servers speak OpenAI's protocol, and where they listen unless the configuration says so."""
_AZURE = ("azure_openai", "azure_openai_structured")
_LOCAL = ("fastembed", "huggingface")
_MODELS = {
    "chat": {
        "openai": "gpt-5-mini",
        "openai_structured": "gpt-5-mini",
        "ollama": "llama3.1:70b",
        "lmstudio": "lmstudio-community/Meta-Llama-3.1-70B-Instruct-GGUF/Meta-Llama-3.1-70B-Instruct-IQ2_M.gguf",
        "vllm": "Qwen/Qwen2.5-32B-Instruct",
        "azure_openai": "gpt-5-mini",
        "azure_openai_structured": "gpt-5-mini",
    },
    "embedding": {
        "openai": "text-embedding-3-small",
        "ollama": "nomic-embed-text",
        "lmstudio": "nomic-ai/nomic-embed-text-v1.5-GGUF/nomic-embed-text-v1.5.f16.gguf",
        "fastembed": "thenlper/gte-large",
        "huggingface": "multi-qa-MiniLM-L6-cos-v1",
    },
}
"""The models that mem0 takes where the configuration names none."""
_CONNECTION = ("dbname", "user", "password", "host", "port", "sslmode")
_TYPES = {str: "a text", int: "a whole number", float: "a number"}
_INSTEAD = {
    "api_key": "keys are never stored: set OPENAI_API_KEY or AZURE_OPENAI_API_KEY where models are called",
    "history_db_path": "the history is in the database",
    "custom_instructions": "agent-memory prompt edit extract_memories",
    "reranker": "agent-memory models register --kind rerank",
}


class _Section:
    """A part of the configuration, which knows its used keys."""

    def __init__(self, given: object, path: str = "") -> None:
        if not isinstance(given, Mapping):
            raise TypeError(f"{path or 'config_dict'} must be a dict, not {type(given).__name__}")
        self._given = {key: value for key, value in given.items() if value is not None}
        self._path = path
        self._used: set[str] = set()
        self._parts: list[_Section] = []

    def take(self, key: str, *types: type) -> Any:
        self._used.add(key)
        value = self._given.get(key)
        if types and value is not None and (not isinstance(value, types) or isinstance(value, bool)):
            named = " or ".join(_TYPES[each] for each in types)
            raise TypeError(f"{self.name(key)} must be {named}, not {type(value).__name__}")
        return value

    def part(self, key: str) -> _Section:
        self._used.add(key)
        self._parts.append(_Section(self._given.get(key, {}), self.name(key)))
        return self._parts[-1]

    def name(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key

    def __bool__(self) -> bool:
        return bool(self._given)

    def unused(self) -> list[str]:
        """Return the unused keys, with their replacements."""
        rest = [key for key in self._given if key not in self._used]
        named = [f"{self.name(key)} ({_INSTEAD[key]})" if key in _INSTEAD else self.name(key) for key in rest]
        return named + [name for part in self._parts for name in part.unused()]


def apply(config_dict: object) -> str | None:
    """Have the database use the models of a configuration, and return its connection string; None is no database.

    A model that is active already, with the same settings, is left as it is.

    Raises:
        TypeError: a value has another type than it has for mem0.
        ValueError: a provider or a value has nothing here that it could mean.
        AgentMemoryError: the role may not register models.
    """
    config = _Section({} if config_dict is None else config_dict)
    dsn = _database(config.part("vector_store"))
    models = [_model(config.part("llm"), "llm", "chat"), _model(config.part("embedder"), "embedder", "embedding")]
    if config.take("version") not in (None, "v1.1"):
        warnings.warn("version: results have the form of v1.1", stacklevel=3)
    if unused := config.unused():
        warnings.warn(f"of mem0's configuration this is not used: {'; '.join(unused)}", stacklevel=3)
    wanted = [model for model in models if model is not None]
    if wanted:
        with client.Memory(dsn) as memory:
            active = [(each["kind"], each["name"]) for each in memory.admin.status()["models"]]
            for name, kind, provider, model, settings in wanted:
                if (kind, name) not in active:
                    memory.admin.register_model(name, kind, provider, model, settings)
                    memory.admin.activate_model(name)
    return dsn


class Configured:
    """What is made from mem0's configuration: it uses a client of ``_client_type``."""

    _client_type: ClassVar[type[Any]]

    @classmethod
    def from_config(cls, config_dict: object = None) -> Self:
        """Return a new one on the database and with the models that mem0's configuration names.

        ``vector_store`` of provider pgvector names the database, and ``llm`` and ``embedder`` models that are
        registered and activated there, for all who use the database; so the role must be allowed to. Settings that are
        left out stay as they are there. A warning names the keys that mean nothing here.

        Raises:
            TypeError: a value has another type than it has for mem0.
            ValueError: a provider is not served.
            AgentMemoryError: the role may not register models.
        """
        return cls(cls._client_type(apply(config_dict)))  # type: ignore[call-arg]  # both subclasses take a client


def _database(store: _Section) -> str | None:
    if not store:
        return None
    provider = store.take("provider", str)
    if provider != "pgvector":
        raise ValueError(
            f"vector_store.provider: memories are stored in PostgreSQL, not in {provider}. Name pgvector, or leave "
            "vector_store out for the database of AGENT_MEMORY_DSN or the embedded one"
        )
    config = store.part("config")
    if config.take("connection_pool") is not None:
        raise ValueError(
            "vector_store.config.connection_pool: pass a psycopg pool as Memory(agent_memory.Memory(pool)) instead"
        )
    parts = {key: config.take(key, str, *([int] if key == "port" else [])) for key in _CONNECTION}
    string = config.take("connection_string", str)
    if string is not None:
        return make_conninfo(string, **({"sslmode": parts["sslmode"]} if parts["sslmode"] else {}))
    return make_conninfo(**{"dbname": "postgres", **{key: value for key, value in parts.items() if value is not None}})


def _model(section: _Section, place: str, kind: Any) -> tuple[str, Any, Any, str, dict[str, Any]] | None:
    """Return name, kind, provider, model and settings as ``register_model`` takes them."""
    if not section:
        return None
    provider, config = section.take("provider", str) or "openai", section.part("config")
    settings: dict[str, Any] = {}
    model = config.take("model", str) or _MODELS[kind].get(provider)
    if provider in _SERVERS:
        ours = "openai"
        named = config.take(f"{provider.removesuffix('_structured')}_base_url", str)
        settings["base_url"] = named or _SERVERS[provider]
        if provider == "ollama" and not settings["base_url"].rstrip("/").endswith("/v1"):
            settings["base_url"] = settings["base_url"].rstrip("/") + "/v1"
    elif provider in _AZURE:
        ours, azure = "azure", config.part("azure_kwargs")
        settings |= {"base_url": azure.take("azure_endpoint", str), "api_version": azure.take("api_version", str)}
        model = azure.take("azure_deployment", str) or model
    elif provider in _LOCAL and kind == "embedding":
        ours = "local"
    else:
        raise ValueError(
            f"{place}.provider: {provider} is not served here. A model behind a server with OpenAI's protocol is "
            "registered with provider openai and its base URL; or leave it out: agent-memory models register"
        )
    if model is None:
        raise ValueError(f"{place}.config.model: name the model")
    if kind == "chat":
        settings["temperature"] = config.take("temperature", float, int)
    elif ours != "local":
        settings["dimensions"] = config.take("embedding_dims", int)
    settings = {key: value for key, value in settings.items() if value is not None}
    name = model
    if settings:  # other settings are another name, by which a later call knows that nothing has changed
        name += "#" + hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]
    return name, kind, ours, model, settings
