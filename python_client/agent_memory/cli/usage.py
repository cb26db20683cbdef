"""The command that shows the calls of models."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from .._text import counted, harmless
from .console import Dsn, connected_to_nodes
from .printing import AsJson, console, print_json

_USAGE = """
select day, model, user_id, agent_id, kind, calls, failed_calls, tokens_in, tokens_out, price, avg_ms
from memory.model_usage
where day > (now() at time zone 'utc')::date - %(days)s and (user_id = %(user_id)s) is not false
order by day desc, model, user_id, agent_id, kind
"""


def usage(
    days: Annotated[int, typer.Option(min=1, help="Days to show, today (UTC) included.")] = 7,
    user: Annotated[str | None, typer.Option(help="Only this user.", show_default="all")] = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Show the calls of models and their costs."""
    with connected_to_nodes(dsn) as connections:
        rows = connections.rows(_USAGE, {"days": days, "user_id": user}, user)
        if connections.nodes.map is not None:  # each node has sent its rows in this order
            rows.sort(key=lambda row: [str(row[name]) for name in ("model", "user_id", "agent_id", "kind")])
            rows.sort(key=lambda row: row["day"], reverse=True)
    if as_json:
        for row in rows:
            print_json(row)
        return
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


def _formatted(column: str, value: Any) -> Text:
    """Format a price to the hundredth of a cent and other numbers whole; unknown numbers are empty."""
    if value is None:
        return Text()
    is_number = isinstance(value, (int, float, Decimal))
    return Text(f"{value:,.4f}" if column == "price" else f"{round(value):,}" if is_number else harmless(str(value)))
