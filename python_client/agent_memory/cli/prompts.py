"""The commands that show and change the prompts of chat models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from psycopg.rows import dict_row

from .._text import harmless
from ..errors import NotFoundError
from .console import Dsn, Group, connected, opened, read_text
from .printing import console, plain, stderr

prompts = typer.Typer(cls=Group, no_args_is_help=True, help="Show and change the prompts of models.")
Prompt = Annotated[str, typer.Argument(metavar="NAME", help="The name of the prompt.")]


@prompts.command()
def show(name: Prompt, dsn: Dsn = None) -> None:
    """Print the prompt in use, and its name and version on stderr."""
    with connected(dsn) as connection, connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute("select * from memory.prompts order by name").fetchall()
    by_name = {row["name"]: row for row in rows}
    if name not in by_name:
        raise NotFoundError(f'there is no prompt "{name}"', hint=f"There are {', '.join(by_name)}.")
    prompt = by_name[name]
    origin = "built in" if prompt["is_default"] else f"version {prompt['version']} of {prompt['changed_at']:%Y-%m-%d}"
    stderr.print(plain(f"{name}: {origin}; it needs {', '.join(prompt['variables'])}", style="dim"), soft_wrap=True)
    template = prompt["template"]
    typer.echo(harmless(template) if console.is_terminal else template, nl=not prompt["template"].endswith("\n"))


@prompts.command()
def edit(
    name: Prompt,
    file: Annotated[Path, typer.Option(metavar="FILE", help="The new text; - is stdin.")],
    dsn: Dsn = None,
) -> None:
    """Replace a prompt by the text of a file."""
    template = read_text(file)
    with opened(dsn) as memory:
        console.print(plain(f"{name} is version {memory.admin.set_prompt(name, template)} now."))


@prompts.command()
def reset(name: Prompt, dsn: Dsn = None) -> None:
    """Return to the built-in prompt."""
    with opened(dsn) as memory:
        console.print(plain(f"{name} is the built-in one again, as version {memory.admin.reset_prompt(name)}."))
