"""The commands that add a provider's models and that ask models one real question each."""

from __future__ import annotations

import time
from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer
from agent_memory_models import ModelError, reason_to_keep
from psycopg.rows import dict_row

from ..errors import AgentMemoryError, InvalidValueError
from ..jobs.background import models, submit
from .console import Dsn, connected_to_nodes, opened
from .lists import SERVERS
from .printing import console, print_line

if TYPE_CHECKING:
    import psycopg

_SAID = "I live in Porto, and I prefer trains over planes."
_QUESTIONS: dict[str, dict[str, Any]] = {
    "chat": {
        "kind": "extract_memories",
        "thread_id": "question",
        "messages": [{"seq": 0, "role": "user", "content": _SAID, "created_at": "2026-01-01T12:00:00+00:00"}],
        "memory_types": [
            {"memory_type": "fact", "description": "Something that is so"},
            {"memory_type": "preference", "description": "Something the user likes"},
        ],
    },
    "embedding": {"kind": "embed", "texts": [{"number": 1, "text": _SAID}]},
    "rerank": {
        "kind": "rerank",
        "query": "Where does Ana live?",
        "texts": [{"number": 1, "text": "Tea is green."}, {"number": 2, "text": "Ana lives in Porto."}],
    },
}
"""What is asked of a model of each kind: a job with its payload, to which the model and the prompt are added."""
_PROMPTS = {"chat": "extract_memories", "rerank": "rerank"}
_PROMPT = "select p.name, p.version, p.template from memory.prompts as p where p.name = %s"
_MODELS = """
select m.name, m.kind, m.provider, m.model, m.settings from memory.models as m
where case when %(name)s::text is null then m.is_active else m.name = %(name)s end
order by m.kind, m.name
"""


def add(
    server: Annotated[str, typer.Argument(metavar="PROVIDER", help=f"One of: {', '.join(SERVERS)}.")],
    model: Annotated[
        str | None, typer.Option(help="The chat model; of azure the deployment.", show_default="the provider's")
    ] = None,
    embedding: Annotated[
        str | None, typer.Option(help="The embedding model.", show_default="the provider's, if it has one")
    ] = None,
    url: Annotated[str | None, typer.Option(help="Where the server is.", show_default="the provider's")] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="The environment variable that holds the key.", show_default="the provider's")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="A setting of both; VALUE is JSON or text; repeatable."),
    ] = None,
    dsn: Dsn = None,
) -> None:
    """Ask a provider's models one question each, then register and use them; nothing changes if one gives no answer.

    --model or --embedding alone adds that model alone.
    """
    from .models import settings_of  # which has the commands of this module

    chosen = _chosen(server, {"chat": model, "embedding": embedding}, url, api_key_env, settings_of(setting))
    with opened(dsn) as memory:
        with connected_to_nodes(dsn) as connections:
            for kind, each in chosen.items():
                _ask(connections.nodes.first, kind, each)
        for kind, each in chosen.items():
            memory.admin.register_model(each["name"], kind, each["provider"], each["model"], each["settings"])
            memory.admin.activate_model(each["name"])
    names = " and ".join(each["name"] for each in chosen.values())
    print_line(f"{names} {'is' if len(chosen) == 1 else 'are'} active. A worker calls them: agent-memory worker")
    settings = next(iter(chosen.values()))["settings"]
    if key := settings.get("api_key_env", SERVERS[server].get("key")):
        print_line(f"The worker needs the key too, in its environment: {key}")


def check(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One model; all active ones unless given.")] = None,
    dsn: Dsn = None,
) -> None:
    """Ask models one question each: what of a sentence is to be remembered, its embedding, an order of two texts."""
    failed = False
    with connected_to_nodes(dsn) as connections:
        connection = connections.nodes.first
        found = connection.cursor(row_factory=dict_row).execute(_MODELS, {"name": name}).fetchall()
        if not found:
            raise InvalidValueError(
                "no model is active" if name is None else f'there is no model "{name}"',
                hint="Run: agent-memory models" if name else "Run: agent-memory models add PROVIDER",
            )
        for row in found:
            if row["kind"] not in _QUESTIONS:
                print_line(f"{row['name']}: a model of kind {row['kind']} is not asked")
                continue
            try:
                _ask(connection, row.pop("kind"), row)
            except AgentMemoryError as error:
                failed = True
                print_line(error.message)
    if failed:
        raise typer.Exit(1)


def _chosen(
    name: str, named: Mapping[str, str | None], url: str | None, api_key_env: str | None, given: Mapping[str, Any]
) -> dict[Any, dict[str, Any]]:
    """The models to ask by kind, as payloads of jobs have them."""
    if name not in SERVERS:
        raise InvalidValueError(
            f'PROVIDER: unknown provider "{name}"',
            hint=f"Use one of: {', '.join(SERVERS)}. For another server with OpenAI's protocol: openai --url ADDRESS",
        )
    server = SERVERS[name]
    if name == "azure" and not (url and "api_version" in given):
        raise InvalidValueError(
            "azure: needs the endpoint and the version of the API",
            hint="Add --url https://NAME.openai.azure.com --setting api_version=2024-10-21",
        )
    if api_key_env is None and server.get("key", "").startswith("AGENT_MEMORY_KEY_"):
        api_key_env = server["key"]  # the others are sent to their own provider without being named
    settings = {"base_url": _address(url, server["provider"]) or server.get("url"), "api_key_env": api_key_env}
    chosen = {}
    for kind, model in named.items():
        default = server.get(kind, {}) if url is None and not any(named.values()) else {}
        if model := model or default.get("model"):
            merged = {key: value for key, value in {**settings, **default, **given}.items() if value is not None}
            merged.pop("model", None)
            chosen[kind] = {"name": model, "provider": server["provider"], "model": model, "settings": merged}
    if not chosen:
        raise InvalidValueError(
            f"{name}: name a model, or two", hint=f"Run: agent-memory models add {name} --model NAME --embedding NAME"
        )
    return chosen


def _address(url: str | None, provider: str) -> str | None:
    """The address of a server; that of its protocol where only the server is named."""
    if url is None or provider == "azure" or urlsplit(url).path.strip("/"):
        return url
    return url.rstrip("/") + "/v1"


def _ask(connection: psycopg.Connection[Any], kind: str, model: dict[str, Any]) -> None:
    """Ask a model its question, and print what it answered and how long it took."""
    prompt = connection.cursor(row_factory=dict_row).execute(_PROMPT, [_PROMPTS.get(kind)]).fetchone()
    payload: dict[str, Any] = {"model": model, "prompt": prompt, **deepcopy(_QUESTIONS[kind])}
    calls: list[dict[str, Any]] = []
    started = time.monotonic()
    try:
        with console.status(f"asking {model['name']} ..."):
            result = submit(models().run(payload.pop("kind"), payload, calls)).result()
        answer = _ANSWERS[kind](result)
    except ModelError as error:
        raise AgentMemoryError(
            f"{model['name']}: {reason_to_keep(error)}",
            hint="See docs/models.md for what the provider needs; nothing was changed.",
        ) from error
    line = f"{model['name']}: {answer}, in {time.monotonic() - started:.1f} s"
    if window := next((call["context_tokens"] for call in calls if call.get("context_tokens")), None):
        line += f"; its window has {window:,} tokens"
    print_line(line)


def _remembered(result: Mapping[str, Any]) -> str:
    contents = [f'"{memory["content"]}"' for memory in result["memories"]]
    if not contents:
        raise ModelError(f'it answered, and found nothing to remember in "{_SAID}"')
    return f"remembers {' and '.join(contents)}"


def _embedded(result: Mapping[str, Any]) -> str:
    [vector] = result["embeddings"]
    return f"embeds with {len(vector):,} dimensions"


def _ordered(result: Mapping[str, Any]) -> str:
    unlike, like = sorted(result["scores"], key=lambda score: int(score["number"]))
    if like["score"] <= unlike["score"]:
        raise ModelError("it answered, and put the text that is about something else first")
    return "puts the text that answers the question first"


_ANSWERS = {"chat": _remembered, "embedding": _embedded, "rerank": _ordered}
