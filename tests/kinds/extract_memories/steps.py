"""What the tests of extraction do again and again: claim, extract, and look at memories."""

from __future__ import annotations

from typing import Any

from tests.support.protocol import ANA, claim, complete
from tests.support.sqlapi import Api


def found(content: Any = "Likes tea", **fields: Any) -> dict[str, Any]:
    """A memory in the form in which models return it."""
    return {"content": content, "memory_type": "fact", "seqs": [0], **fields}


def claimed(api: Api) -> Any:
    """Claim an extraction of the messages that were not read yet."""
    api.extract_memories(**ANA)
    return claim(api, "extract_memories")


def extract(api: Api, *memories: Any) -> dict[str, Any]:
    """Extract these memories from the messages that were not read yet."""
    return complete(api, claimed(api), memories=list(memories))


def known(api: Api, **arguments: Any) -> list[Any]:
    """Memories, oldest first."""
    return list(reversed(api.list_memories(**{"user_id": "ana", **arguments})))
