# Generated from _async/documents.py by generate_sync.py; do not edit.
"""The methods for the documents of the knowledge base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from ...calls import SyncMethods, sql_function
from ...types import Document


class SyncDocuments(SyncMethods):
    """The methods for the documents of the knowledge base."""

    @sql_function
    def add_document(
        self,
        user_id: str,
        content: str,
        title: str | None = None,
        namespace: str | None = "default",
        doc_type: str | None = "document",
        metadata: Mapping[str, Any] | None = None,
    ) -> UUID:
        """Store a document and return its id; a long one is cut into pieces in the background.

        ``content`` holds 10 MiB at most, ``title`` 2,000 bytes; ``namespace`` and ``doc_type`` are "default" and
        "document" unless given.
        """

    @sql_function
    def list_documents(
        self,
        user_id: str,
        namespace: str | None = None,
        doc_type: str | None = None,
        row_limit: int | None = 50,
        row_offset: int | None = 0,
        include_quarantined: bool | None = False,
        filter: Mapping[str, Any] | None = None,
    ) -> list[Document]:
        """Return documents, newest first; each row's ``total_count`` is the size of the whole match.

        ``filter`` is a part of their metadata. Those in quarantine are left out unless ``include_quarantined``.
        """

    @sql_function
    def delete_document(self, user_id: str, document_id: UUID | str) -> bool:
        """Delete a document and return whether it existed."""

    @sql_function
    def delete_documents(
        self,
        user_id: str,
        document_ids: Sequence[UUID | str] | None = None,
        namespace: str | None = None,
        doc_type: str | None = None,
        filter: Mapping[str, Any] | None = None,
        dry_run: bool | None = False,
    ) -> dict[str, Any]:
        """Delete the documents with these ids or under the filters of ``list_documents``, all or none.

        Return ``count``, ``sample`` (the ids of the ten newest) and ``dry_run``, with which nothing is deleted. Raise
        InvalidValueError without any condition.
        """
