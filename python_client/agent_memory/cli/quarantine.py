"""The commands that list quarantined texts, and take back a poisoned source with all that derives from it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .._text import counted
from ..choices import QuarantineSource
from ..errors import NotFoundError
from ..types import Quarantined
from .console import Dsn, Group, User, opened
from .printing import AsJson, Limit, Offset, moment, print_entries, print_json, print_line

quarantine = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="List texts in quarantine, and take back or release a poisoned source with everything derived from it.",
)

Source = Annotated[
    QuarantineSource,
    typer.Argument(metavar="SOURCE", help="message, thread, document, artifact, summary or memory."),
]
Id = Annotated[str, typer.Argument(metavar="ID", help="As search shows it; of a message THREAD/SEQ.")]


@quarantine.command("list")
def list_(
    user_id: User,
    source: Annotated[
        str | None,
        typer.Option(help="Only these: memory, message, document, artifact or summary."),
    ] = None,
    limit: Limit = None,
    offset: Offset = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """List texts in quarantine, newest first, with the reason."""
    with opened(dsn) as memory:
        found = memory.list_quarantined(user_id, source, limit, offset)
    print_entries(found, _entry, "Nothing is in quarantine.", as_json, offset)


def _entry(row: Quarantined) -> tuple[tuple[str | None, ...], str]:
    made_of = row.quarantined_with and f"from {row.quarantined_with}"
    parts = (row.source, row.id, moment(row.quarantined_at), f"trust {row.trust:.1f}", row.reason, made_of)
    return parts, row.content


@quarantine.command()
def add(
    user_id: User,
    source: Source,
    source_id: Id,
    reason: Annotated[str, typer.Option(help="Why.")] = "by hand",
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Hide a source and everything that derives from it; "agent-memory quarantine release" brings it back."""
    with opened(dsn) as memory:
        counts = memory.quarantine_source(user_id, source, source_id, reason)
    _print_counts(counts, as_json, f"The {source} {source_id} is in quarantine")


@quarantine.command()
def release(user_id: User, source: Source, source_id: Id, as_json: AsJson = False, dsn: Dsn = None) -> None:
    """Undo "agent-memory quarantine add"; texts of another poisoned source stay in quarantine."""
    with opened(dsn) as memory:
        counts = memory.release_source(user_id, source, source_id)
    if not any(counts.values()):
        raise NotFoundError(
            f"the {source} {source_id} is not in quarantine", hint=f"Run: agent-memory quarantine list {user_id}"
        )
    _print_counts(counts, as_json, f"The {source} {source_id} is released")


def _print_counts(counts: dict[str, Any], as_json: bool, done: str) -> None:
    """Print the counts by kind: summaries are those that were deleted to be made anew."""
    if as_json:
        print_json(counts)
        return
    for kind in ("messages", "memories", "documents", "artifacts"):
        if counts[kind]:
            print_line(f"{kind}: {counts[kind]}")
    if counts["summaries"]:
        print_line(f"{counted(counts['summaries'], 'summary', 'summaries')} will be made anew.")
    print_line(f"{done}.")
