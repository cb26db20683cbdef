"""The commands for the knowledge base."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import NotFoundError
from .console import Dsn, Group, User, opened, read_text
from .printing import AsJson, Limit, Offset, console, moment, print_page

documents = typer.Typer(
    cls=Group, no_args_is_help=True, help="Add, list and delete the documents of a user's knowledge base."
)


@documents.command()
def add(
    user_id: User,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A text or Markdown file; - is stdin.")],
    title: Annotated[str | None, typer.Option(help="What it is called.", show_default="the file's name")] = None,
    namespace: Annotated[str | None, typer.Option(help="The part of the knowledge base.")] = None,
    doc_type: Annotated[str | None, typer.Option(help="What kind it is.", show_default="document")] = None,
    dsn: Dsn = None,
) -> None:
    """Add a document, and print its id."""
    content = read_text(file)
    if title is None and str(file) != "-":
        title = file.name
    with opened(dsn) as memory:
        typer.echo(memory.add_document(user_id, content, title, namespace, doc_type))


@documents.command("list")
def list_(
    user_id: User,
    namespace: Annotated[str | None, typer.Option(help="Only this one.")] = None,
    doc_type: Annotated[str | None, typer.Option(help="Only this kind.")] = None,
    quarantined: Annotated[bool, typer.Option("--quarantined", help="Also list documents in quarantine.")] = False,
    limit: Limit = None,
    offset: Offset = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """List documents, newest first."""
    with opened(dsn) as memory:
        found = memory.list_documents(user_id, namespace, doc_type, limit, offset, quarantined)
    print_page(
        "documents",
        ("id", "created", "namespace", "type", *(["quarantined"] if quarantined else []), "title"),
        found,
        lambda row: (
            str(row.document_id),
            f"{row.created_at:%Y-%m-%d}",
            row.namespace,
            row.doc_type,
            *([moment(row.quarantined_at)] if quarantined else []),
            row.title or "",
        ),
        offset,
        as_json,
    )


@documents.command()
def delete(
    user_id: User,
    document_id: Annotated[str, typer.Argument(metavar="ID", help="The id of the document.")],
    dsn: Dsn = None,
) -> None:
    """Delete a document."""
    with opened(dsn) as memory:
        if not memory.delete_document(user_id, document_id):
            raise NotFoundError(
                f'user "{user_id}" has no document {document_id}', hint=f"Run: agent-memory documents list {user_id}"
            )
    console.print(f"Deleted {document_id}.")
