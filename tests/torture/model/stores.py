"""The contract of artifacts, documents and secrets."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from tests.torture.model.values import Expiry, RefusedError, plain


@dataclass
class Artifact:
    """A text under a key."""

    content: str
    thread_id: str | None
    expires: Expiry


@dataclass
class Document:
    """A document of the knowledge base."""

    content: str
    namespace: str
    quarantined_at: int | None = None
    quarantined_with: str | None = None
    """The poisoned source that an article derives from."""
    memory_ids: frozenset[UUID] = frozenset()
    """What an article was made of."""


@dataclass
class Stores:
    """What one user has stored besides memories; both in the order of storing."""

    artifacts: dict[str, Artifact] = field(default_factory=dict)
    documents: dict[UUID, Document] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)

    def shown(self) -> dict[UUID, Document]:
        """Without those in quarantine."""
        return {i: document for i, document in self.documents.items() if document.quarantined_at is None}

    def store(self, key: str, content: str, thread_id: str | None, expires: Expiry) -> None:
        existing = self.artifacts.get(key)
        if existing is None or existing.expires == "past":
            self.artifacts.pop(key, None)  # to the end of the order
            self.artifacts[key] = Artifact(content, thread_id, expires)
        elif existing.content != content:
            raise RefusedError("23505")
        else:
            ends = (existing.expires, expires)
            existing.expires = None if None in ends else "future" if "future" in ends else "past"

    def retrieve(self, key: str, from_token: int, max_tokens: int | None) -> str:
        artifact = self.artifacts.get(key)
        if artifact is None or artifact.expires == "past":
            raise RefusedError("P0002")
        end = None if max_tokens is None else 4 * (from_token + max_tokens)
        return artifact.content[4 * from_token : end]

    def delete_artifact(self, key: str) -> bool:
        artifact = self.artifacts.get(key)
        if artifact is None or artifact.expires == "past":
            return False
        del self.artifacts[key]
        return True

    def delete_secret(self, name: str) -> bool:
        return self.secrets.pop(name, None) is not None

    def get_secret(self, name: str) -> str:
        if name not in self.secrets:
            raise RefusedError("P0002")
        return self.secrets[name]

    def listed(self) -> list[str]:
        """Keys, newest first."""
        return [key for key, artifact in self.artifacts.items() if artifact.expires != "past"][::-1]

    def forget(self, statements: set[str]) -> None:
        for key in [
            k for k, artifact in self.artifacts.items() if any(s in plain(artifact.content) for s in statements)
        ]:
            del self.artifacts[key]

    def delete_thread(self, thread_id: str) -> None:
        for key in [key for key, artifact in self.artifacts.items() if artifact.thread_id == thread_id]:
            del self.artifacts[key]

    def drop_expired(self) -> None:
        """What has expired is in no export."""
        self.artifacts = {key: artifact for key, artifact in self.artifacts.items() if artifact.expires != "past"}

    def sweep(self) -> None:
        for key in [key for key, artifact in self.artifacts.items() if artifact.expires == "past"]:
            del self.artifacts[key]
