"""The commands that register, show and switch models."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from psycopg.rows import dict_row

from ..choices import ModelKind, Provider
from ..errors import InvalidValueError
from .ask_models import add, check
from .console import Dsn, Group, connected_to_nodes, opened
from .printing import AsJson, console, print_json, print_line, print_table

models = typer.Typer(cls=Group, help="List models, register them, and say which ones are used.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name it is registered by.")]

_MODELS = """
select m.name, m.kind, m.provider, m.model, m.settings, m.is_active from memory.models as m
order by m.kind, m.is_active desc, m.name
"""


@models.command("list")
def list_(as_json: AsJson = False, dsn: Dsn = None) -> None:
    """List models, the active one of each kind first, and how much the embedding models have embedded."""
    with connected_to_nodes(dsn) as connections:
        cursor = connections.nodes.first.cursor(row_factory=dict_row)
        embedded = {each.model: each for each in connections.memory.admin.backfill_status()}
        found = cursor.execute(_MODELS).fetchall()
    for row in found:
        counts = embedded.get(row["name"])
        row["done"], row["total"] = (None, None) if counts is None else (counts.done, counts.total)
    if as_json:
        for row in found:
            print_json(row)
    elif not found:
        console.print("No models: searches go by keyword, and jobs wait.")
    else:
        print_table(("name", "kind", "active", "provider", "model", "embedded"), map(_cells, found))


@models.command()
def register(
    name: Name,
    kind: Annotated[ModelKind, typer.Option(help="What it is used for.")],
    model: Annotated[str, typer.Option(help="The server's name of the model.")],
    provider: Annotated[Provider, typer.Option(help="The provider; openai: any server with its protocol.")] = "openai",
    base_url: Annotated[str | None, typer.Option(help="Where its server is.", show_default="the provider's")] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="The environment variable that holds its key.", show_default="OPENAI_API_KEY")
    ] = None,
    dimensions: Annotated[int | None, typer.Option(min=1, help="Of its vectors.", show_default="the model's")] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Another setting; VALUE is JSON or text; repeatable."),
    ] = None,
    activate: Annotated[bool, typer.Option("--activate", help="Use it from now on.")] = False,
    dsn: Dsn = None,
) -> None:
    """Register a model, or change one."""
    given: dict[str, Any] = {"base_url": base_url, "api_key_env": api_key_env, "dimensions": dimensions}
    settings = {key: value for key, value in given.items() if value is not None} | settings_of(setting)
    with opened(dsn) as memory:
        memory.admin.register_model(name, kind, provider, model, settings)
        if activate:
            memory.admin.activate_model(name)
    print_line(f"Registered {name}{', which is active now' if activate else ''}.")


@models.command()
def local(
    multilingual: Annotated[
        bool, typer.Option("--multilingual", help="One of many languages, of the extra [multilingual].")
    ] = False,
    dsn: Dsn = None,
) -> None:
    """Have searches compare by meaning with a small model that runs on your machine (90 MB, English unless told)."""
    from ..local import DEFAULT_NAME, MULTILINGUAL_NAME, use_default, use_multilingual

    with opened(dsn) as memory, console.status("loading the model ..."):
        (use_multilingual if multilingual else use_default)(memory)
    name = MULTILINGUAL_NAME if multilingual else DEFAULT_NAME
    print_line(f"{name} is active. A worker embeds the stored texts: agent-memory status says how far it is.")


models.command()(add)
models.command("test")(check)


@models.command("activate")
def activate_(name: Name, dsn: Dsn = None) -> None:
    """Use a model from now on, in place of the active one of its kind."""
    with opened(dsn) as memory:
        memory.admin.activate_model(name)
    print_line(f"{name} is active.")


@models.command()
def deactivate(name: Name, dsn: Dsn = None) -> None:
    """Switch a model off; its embeddings stay."""
    with opened(dsn) as memory:
        memory.admin.deactivate_model(name)
    print_line(f"{name} is off.")


@models.command()
def drop(name: Name, dsn: Dsn = None) -> None:
    """Remove a model that is not active, with its embeddings."""
    with opened(dsn) as memory:
        memory.admin.drop_model(name)
    print_line(f"{name} is gone.")


def settings_of(given: list[str] | None) -> dict[str, Any]:
    """Return the settings that KEY=VALUE stands for."""
    settings = {}
    for each in given or []:
        key, equals, value = each.partition("=")
        if not equals:
            raise InvalidValueError(f"setting: {each} has no =", hint="Write, for example: --setting temperature=0")
        settings[key] = as_value(value)
    return settings


def as_value(text: str) -> Any:
    """Return the JSON value that a text is, else the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _cells(row: dict[str, Any]) -> tuple[object, ...]:
    embedded = "" if row["total"] is None else f"{row['done']:,} of {row['total']:,}"
    return row["name"], row["kind"], "yes" if row["is_active"] else "", row["provider"], row["model"], embedded
