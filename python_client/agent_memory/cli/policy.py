"""The commands that show and change policies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ..client import Memory
from ..errors import InvalidValueError
from .console import Dsn, Group, connected, opened, read_text
from .models import as_value
from .printing import AsJson, console, print_json, print_line, print_table

policy = typer.Typer(
    cls=Group, no_args_is_help=True, help="Show the settings that apply, how they differ, and change them."
)

OfUser = Annotated[str | None, typer.Option("--user", "--user-id", help="Of this user.")]
OfAgent = Annotated[str | None, typer.Option("--agent", "--agent-id", help="Of this agent.")]
Key = Annotated[str, typer.Argument(metavar="KEY", help="Such as context.max_tokens.")]


@policy.command()
def show(user: OfUser = None, agent: OfAgent = None, as_json: AsJson = False, dsn: Dsn = None) -> None:
    """Show the settings that apply to a user and an agent."""
    with opened(dsn) as memory:
        settings = memory.admin.get_policy(agent, user)
    if as_json:
        print_json(settings)
    else:
        print_table(("setting", "value"), ((key, _shown(value)) for key, value in sorted(_flat(settings))))


@policy.command()
def diff(user: OfUser = None, agent: OfAgent = None, as_json: AsJson = False, dsn: Dsn = None) -> None:
    """Show the settings that are not the built-in ones."""
    with connected(dsn, user) as connection:
        settings = dict(_flat(Memory(connection).admin.get_policy(agent, user)))
        [default] = connection.execute("select memory._default_policy()").fetchone() or [{}]
    built_in = dict(_flat(default))
    changed = [
        {"setting": key, "built_in": built_in.get(key), "value": value}
        for key, value in sorted(settings.items())
        if value != built_in.get(key)
    ]
    if as_json:
        for row in changed:
            print_json(row)
    elif changed:
        rows = ((row["setting"], _shown(row["built_in"]), _shown(row["value"])) for row in changed)
        print_table(("setting", "built in", "value"), rows)
    else:
        console.print("All settings are the built-in ones.")


@policy.command("set")
def set_(
    key: Annotated[str | None, typer.Argument(metavar="KEY", help="Such as context.max_tokens.")] = None,
    value: Annotated[str | None, typer.Argument(metavar="VALUE", help="JSON, or a text without quotes.")] = None,
    file: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings as a JSON object; - is stdin.")] = None,
    user: OfUser = None,
    agent: OfAgent = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Change a setting, or all those in a file."""
    if (file is None) == (key is None or value is None):
        raise InvalidValueError(
            "policy set takes a key and a value, or --file",
            hint="Run, for example: agent-memory policy set context.max_tokens 8000",
        )
    if file is None:
        settings = _nested(str(key), as_value(str(value)))
    else:
        settings = as_value(read_text(file))
        if not isinstance(settings, dict):
            raise InvalidValueError(f"{file} is not a JSON object", hint='Write, for example: {"context": {...}}')
    with opened(dsn) as memory:
        effective = memory.admin.set_policy(settings, agent, user)
    if as_json:
        print_json(effective)
    elif key is not None and file is None:
        print_line(f"{key} is {_shown(_at(effective, key))}.")
    else:
        console.print("Changed.")


@policy.command()
def reset(key: Key, user: OfUser = None, agent: OfAgent = None, dsn: Dsn = None) -> None:
    """Return a setting to its inherited value."""
    with opened(dsn) as memory:
        effective = memory.admin.set_policy(_nested(key, None), agent, user)
    print_line(f"{key} is {_shown(_at(effective, key))} again.")


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each setting under the key that ``set`` takes."""
    for key, value in settings.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _nested(key: str, value: Any) -> dict[str, Any]:
    for part in reversed(key.split(".")):
        value = {part: value}
    return dict(value)


def _at(settings: Any, key: str) -> Any:
    for part in key.split("."):
        settings = settings.get(part) if isinstance(settings, dict) else None
    return settings


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
