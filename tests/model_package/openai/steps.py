"""What the tests of the openai client do again and again: a model, and a payload of every kind of job."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.fake_model_server import Behaviour, FakeModelServer
from tests.support.model_payloads import (
    LOCAL,
    Json,
    compression,
    consolidation,
    embedding_job,
    extraction,
    reconciliation,
    rolling,
    talk,
    user_summary,
    users,
)
from tests.support.runners import PATIENCE

needs_encodings = pytest.mark.usefixtures("encodings")


def chat(fake: FakeModelServer, **settings: Any) -> Json:
    settings = {"base_url": fake.url, "timeout_seconds": PATIENCE, "max_concurrency": 100, **settings}
    return {"name": "chat", "provider": "openai", "model": "gpt-fake", "settings": settings}


def every_kind(model: Json) -> dict[str, Json]:
    """A payload of each kind of job."""
    return {
        "extract_memories": extraction(users("I enjoy jazz."), model),
        "summarize_thread": rolling(talk(), 0, model=model),
        "compress_thread": compression(talk(), model=model),
        "summarize_user": user_summary(users("I enjoy jazz."), model=model),
        "reconcile_memories": reconciliation("Tea is hot.", "tea IS hot.", "Tea is cold.", model=model),
        "consolidate": consolidation("Tea is hot.", "Milk is white.", "Tea is green.", model=model),
        "embed": embedding_job("I enjoy jazz.", model=model),
    }


KINDS = list(every_kind(LOCAL))
CHAT_KINDS = KINDS[:-1]


# Replies of no use
def found(*changes: Json) -> Behaviour:
    """One memory, changed in these ways."""
    memory = {"content": "Ana likes jazz", "memory_type": "preference", "confidence": 1, "importance": 0.5, "seqs": [0]}
    return Behaviour(answer=json.dumps({"memories": [{**memory, **change} for change in changes]}))


def completion(**message: object) -> Behaviour:
    return Behaviour(body=json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}))
