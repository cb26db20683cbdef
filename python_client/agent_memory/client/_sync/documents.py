# Generated from _async/documents.py by generate_sync.py; do not edit.
"""The methods for the documents of the knowledge base."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from ...types import Document
from .caller import SyncCaller


class SyncDocuments(SyncCaller):
    """The methods for the documents of the knowledge base."""

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
        return self._value(
            UUID,
            "add_document",
            {"user_id": user_id, "content": content},
            title=title,
            namespace=namespace,
            doc_type=doc_type,
            metadata=metadata,
        )

    def list_documents(
        self,
        user_id: str,
        namespace: str | None = None,
        doc_type: str | None = None,
        row_limit: int | None = 50,
        row_offset: int | None = 0,
        include_quarantined: bool = False,
    ) -> list[Document]:
        """Return documents, newest first; each row's ``total_count`` is the size of the whole match.

        Those in quarantine are left out unless ``include_quarantined``.
        """
        return self._rows(
            Document,
            "list_documents",
            {"user_id": user_id},
            namespace=namespace,
            doc_type=doc_type,
            row_limit=row_limit,
            row_offset=row_offset,
            include_quarantined=include_quarantined,
        )

    def delete_document(self, user_id: str, document_id: UUID | str) -> bool:
        """Delete a document and return whether it existed."""
        return self._value(bool, "delete_document", {"user_id": user_id, "document_id": document_id})
