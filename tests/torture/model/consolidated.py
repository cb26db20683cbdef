"""The contract of articles: which memories they are made of, and when they hide them."""

from __future__ import annotations

from uuid import UUID

from tests.torture.model.memory_rows import MemoryRows
from tests.torture.model.remembered import Remembered
from tests.torture.model.stores import Document
from tests.torture.model.values import AGED


class ConsolidatedRows(MemoryRows):
    """The memories of one user, and the articles that are made of them."""

    def age(self) -> list[UUID]:
        """Memories of the short term are a week older from now on; those for which that is new."""
        aged = [m for m in self.rows.values() if m.memory_type == "context" and m.created_at > 0]
        for row in aged:
            row.created_at -= AGED
            row.place -= AGED
        return [row.memory_id for row in aged]

    def short_term(self) -> list[Remembered]:
        """What a consolidation is given, in its order."""
        articles = [document for document in self.documents.values() if document.quarantined_at is None]
        known = {memory_id for article in articles for memory_id in article.memory_ids}
        found = [
            m
            for m in self.current()
            if m.memory_type == "context" and m.created_at < 0 and not m.is_expired and m.memory_id not in known
        ]
        return sorted(found, key=lambda m: (m.created_at, m.memory_id.int))

    def consolidate(self, article_id: UUID, content: str, sources: list[Remembered]) -> int:
        """Store an article, which hides what was extracted; how many memories that are."""
        self.documents[article_id] = Document(
            content, "memories", memory_ids=frozenset(row.memory_id for row in sources)
        )
        extracted = [row for row in sources if not row.counts_as_stated]
        for row in extracted:
            row.change(
                self.clock.now, "supersede", superseded_by=article_id, superseded_at=self.clock.now,
                supersede_reason="consolidated",
            )  # fmt: skip
        return len(extracted)

    def delete_document(self, document_id: UUID) -> bool:
        del self.documents[document_id]
        self._release_hidden_by(document_id, None)
        return True

    def delete_articles(self, memory_ids: set[UUID]) -> None:
        """Those that were made of any of these memories."""
        for document_id in [i for i, document in self.documents.items() if document.memory_ids & memory_ids]:
            self.delete_document(document_id)

    def quarantine_document(self, document_id: UUID, origin: str | None) -> int:
        """What an article hides is current again; whether anything changed."""
        document = self.documents[document_id]
        if document.quarantined_at is not None:
            return 0
        document.quarantined_at, document.quarantined_with = self.clock.now, origin
        self._release_hidden_by(document_id, None)
        return 1

    def release_document(self, document_id: UUID) -> int:
        """An article hides again what it hid; whether anything changed."""
        document = self.documents[document_id]
        if document.quarantined_at is None:
            return 0
        since, document.quarantined_at, document.quarantined_with = document.quarantined_at, None, None
        self._hide_released(document_id, since)
        return 1

    def quarantine_articles(self, memory_ids: set[UUID], origin: str) -> int:
        made = [i for i, document in self.documents.items() if document.memory_ids & memory_ids]
        return sum(self.quarantine_document(document_id, origin) for document_id in made)

    def release_articles(self, origin: str) -> int:
        made = [i for i, document in self.documents.items() if document.quarantined_with == origin]
        return sum(self.release_document(document_id) for document_id in made)
