"""The commands for administrators: prompts, usage and the health of a worker."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer
from psycopg.rows import dict_row
from rich.table import Table
from rich.text import Text

from ._console import Dsn, connected, console, read_text, stderr
from ._health import check_health
from ._sync import Memory
from ._text import counted
from .errors import NotFoundError

_USAGE = """
select day, model, user_id, agent_id, kind, calls, failed_calls, tokens_in, tokens_out, price, avg_ms
from memory.model_usage
where day > (now() at time zone 'utc')::date - %(days)s and (user_id = %(user_id)s) is not false
order by day desc, model, user_id, agent_id, kind
"""

prompts = typer.Typer(no_args_is_help=True, help="Show and change what models are told.")
Prompt = Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="The name of the prompt.")]


@prompts.command()
def show(name: Prompt, dsn: Dsn = "") -> None:
    """Print a prompt as it is used, and on stderr what it is."""
    with connected(dsn) as connection, connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute("select * from memory.prompts order by name").fetchall()
    by_name = {row["name"]: row for row in rows}
    if name not in by_name:
        raise NotFoundError(f'there is no prompt "{name}"', hint=f"There are {', '.join(by_name)}.")
    prompt = by_name[name]
    origin = "built in" if prompt["is_default"] else f"version {prompt['version']} of {prompt['changed_at']:%Y-%m-%d}"
    stderr.print(Text(f"{name}: {origin}; it needs {', '.join(prompt['variables'])}", style="dim"), soft_wrap=True)
    typer.echo(prompt["template"], nl=not prompt["template"].endswith("\n"))


@prompts.command()
def edit(
    name: Prompt,
    file: Annotated[Path, typer.Option(metavar="FILE", show_default=False, help="The new text; - is stdin.")],
    dsn: Dsn = "",
) -> None:
    """Replace a prompt by the text of a file."""
    template = read_text(file)
    with connected(dsn) as connection:
        console.print(Text(f"{name} is version {Memory(connection).set_prompt(name, template)} now."))


@prompts.command()
def reset(name: Prompt, dsn: Dsn = "") -> None:
    """Return to the built-in prompt."""
    with connected(dsn) as connection:
        console.print(Text(f"{name} is the built-in one again, as version {Memory(connection).reset_prompt(name)}."))


def usage(
    days: Annotated[int, typer.Option(min=1, help="How many days, today (UTC) included.")] = 7,
    user: Annotated[str | None, typer.Option(help="Only this user.", show_default="all")] = None,
    dsn: Dsn = "",
) -> None:
    """Show what the models were used for and what that cost."""
    with connected(dsn) as connection, connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(_USAGE, {"days": days, "user_id": user}).fetchall()
    table = Table(*("day", "model", "user", "agent", "kind"), box=None, padding=(0, 2, 0, 0), show_footer=True)
    table.columns[0].footer = "total"
    for name in ("calls", "failed_calls", "tokens_in", "tokens_out", "price"):
        known = [row[name] for row in rows if row[name] is not None]
        table.add_column(name.replace("_", " "), _formatted(name, sum(known) if known else None), justify="right")
    table.add_column("avg ms", justify="right")
    for row in rows:
        table.add_row(*(_formatted(name, value) for name, value in row.items()))
    if rows:
        console.print(table)
    else:
        console.print(f"No model was called in the last {counted(days, 'day')}.")


def health(
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="The worker's --health-file.")],
    max_age: Annotated[float, typer.Option(min=1, help="Seconds; more than the worker's --poll-interval.")] = 60.0,
) -> None:
    """Say whether a worker is alive; status 1 when its file is stale or missing."""
    console.print(Text(check_health(file, max_age)), soft_wrap=True)


def _formatted(column: str, value: Any) -> Text:
    """Format a price to the hundredth of a cent and other numbers whole; what is not known is empty."""
    if value is None:
        return Text()
    is_number = isinstance(value, (int, float, Decimal))
    return Text(f"{value:,.4f}" if column == "price" else f"{round(value):,}" if is_number else str(value))
