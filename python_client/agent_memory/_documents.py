"""The commands for the knowledge base."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from ._console import Dsn, User, connected, console, read_text
from ._sync import Memory
from .errors import NotFoundError

documents = typer.Typer(no_args_is_help=True, help="Add, list and delete the documents of a user's knowledge base.")


@documents.command()
def add(
    user_id: User,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", show_default=False, help="A text or Markdown file; - is stdin.")
    ],
    title: Annotated[str | None, typer.Option(help="What it is called.", show_default="the file's name")] = None,
    namespace: Annotated[
        str | None, typer.Option(help="The part of the knowledge base.", show_default="default")
    ] = None,
    doc_type: Annotated[str | None, typer.Option(help="What kind it is.", show_default="document")] = None,
    dsn: Dsn = "",
) -> None:
    """Add a document, and print its id."""
    content = read_text(file)
    if title is None and str(file) != "-":
        title = file.name
    with connected(dsn) as connection:
        typer.echo(Memory(connection).add_document(user_id, content, title, namespace, doc_type))


@documents.command("list")
def list_(
    user_id: User,
    namespace: Annotated[str | None, typer.Option(help="Only this one.", show_default="all")] = None,
    doc_type: Annotated[str | None, typer.Option(help="Only this kind.", show_default="all")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="How many at most.", show_default="50")] = None,
    offset: Annotated[int | None, typer.Option(min=0, help="How many to pass over.", show_default="0")] = None,
    dsn: Dsn = "",
) -> None:
    """List documents, newest first."""
    with connected(dsn) as connection:
        found = Memory(connection).list_documents(user_id, namespace, doc_type, limit, offset)
    if not found:
        console.print("No documents.")
        return
    table = Table(*("id", "created", "namespace", "type", "title"), box=None, padding=(0, 2, 0, 0))
    table.columns[0].no_wrap = True
    for document in found:
        cells = (document.namespace, document.doc_type, document.title or "")
        table.add_row(str(document.document_id), f"{document.created_at:%Y-%m-%d}", *map(Text, cells))
    console.print(table)
    left = found[0].total_count - (offset or 0) - len(found)
    if left:
        console.print(f"... and {left} more")


@documents.command()
def delete(
    user_id: User,
    document_id: Annotated[str, typer.Argument(metavar="ID", show_default=False, help="The id of the document.")],
    dsn: Dsn = "",
) -> None:
    """Delete a document."""
    with connected(dsn) as connection:
        if not Memory(connection).delete_document(user_id, document_id):
            raise NotFoundError(
                f'user "{user_id}" has no document {document_id}', hint=f"Run: agent-memory documents list {user_id}"
            )
    console.print(f"Deleted {document_id}.")
