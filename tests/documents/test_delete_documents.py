"""Documents that are deleted by ids or filters."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from tests.documents.steps import store
from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.feature("F25")


def delete(api: Api, **arguments: Any) -> dict[str, Any]:
    deleted: dict[str, Any] = api.delete_documents(**{"user_id": "ana", **arguments})
    return deleted


def test_ids_name_what_goes_with_its_pieces(api: Api) -> None:
    ids = [store(api, f"Tea {number}") for number in range(3)]
    other = store(api, "Tea", user_id="bob")
    assert delete(api, document_ids=[ids[0], ids[2], uuid4(), other]) == {
        "count": 2,
        "sample": [str(ids[2]), str(ids[0])],
        "dry_run": False,
    }
    assert [row.document_id for row in api.list_documents(user_id="ana")] == [ids[1]]
    assert len(api.list_documents(user_id="bob")) == 1
    assert {row.document_id for row in api.query("select document_id from memory.document_chunks")} == {ids[1], other}


@pytest.mark.parametrize(
    "condition",
    [
        {"namespace": "n"},
        {"doc_type": "documents"},
        {"namespace": "n", "filter": {"k": 1}},
    ],
)
def test_filters_are_those_of_the_list(api: Api, condition: dict[str, Any]) -> None:
    store(api, "Plain")
    store(api, "Of a namespace", namespace="n")
    store(api, "Of a type", doc_type="note")
    store(api, "With metadata", metadata={"k": 1, "l": 2})
    listed = [str(row.document_id) for row in api.list_documents(user_id="ana", **condition)]
    would = delete(api, **condition, dry_run=True)
    assert would == {"count": len(listed), "sample": listed, "dry_run": True}
    assert delete(api, **condition) == {**would, "dry_run": False}
    assert len(api.list_documents(user_id="ana")) == 4 - len(listed)
    assert api.list_documents(user_id="ana", **condition) == []


def test_without_a_condition_it_is_refused(api: Api) -> None:
    store(api, "Tea")
    conditions: list[dict[str, Any]] = [{}, {"filter": {}}]
    for condition in conditions:
        with refused("document_ids"):
            delete(api, **condition)
    assert delete(api, document_ids=[])["count"] == 0
    assert len(api.list_documents(user_id="ana")) == 1


def test_memories_of_an_article_are_current_again(api: Api) -> None:
    memory_id = api.add_memory(user_id="ana", content="Likes tea").memory_id
    article = store(api, "Tea in general")
    api.query("update memory.documents set source = 'consolidation' returning 1")
    api.query(
        "update memory.memories set superseded_by = %(by)s, superseded_at = now(), supersede_reason = 'consolidated'"
        " returning 1",
        by=article,
    )
    assert api.list_memories(user_id="ana") == []
    delete(api, document_ids=[article])
    assert [row.memory_id for row in api.list_memories(user_id="ana")] == [memory_id]
