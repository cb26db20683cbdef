"""Storing, listing and deleting documents."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from psycopg.types.json import Jsonb

from tests.documents.steps import chunks, cut, embed, embedded, find, store
from tests.support.protocol import activate, claim
from tests.support.sqlapi import Api, refused


@pytest.mark.feature("A12")
def test_a_document_keeps_every_argument(api: Api) -> None:
    document_id = store(
        api, "Tea grows.", title="Plants", namespace="garden", doc_type="manual", metadata={"pages": [1, 2]}
    )
    [document] = api.list_documents(user_id="ana")
    assert document.document_id == document_id
    assert (document.title, document.namespace, document.doc_type) == ("Plants", "garden", "manual")
    assert (document.content, document.metadata, document.thread_id) == ("Tea grows.", {"pages": [1, 2]}, None)
    store(api, "Tea grows.", metadata=None)
    plain = api.list_documents(user_id="ana")[0]
    assert (plain.title, plain.namespace, plain.doc_type, plain.metadata) == (None, "default", "document", {})


@pytest.mark.feature("A12")
@pytest.mark.parametrize("column", ["title", "metadata"])
def test_direct_writes_obey_the_same_rules(api: Api, column: str) -> None:
    """A direct write is an import with COPY, or an edit in psql."""
    bad = {"title": "x" * 2001, "metadata": Jsonb([1])}[column]
    row = {"user_id": "ana", "content": "Tea grows.", "title": "Tea", "namespace": "n", "metadata": Jsonb({})}
    insert = (
        "insert into memory.documents (user_id, content, title, namespace, metadata) "
        "values (%(user_id)s, %(content)s, %(title)s, %(namespace)s, %(metadata)s) returning document_id"
    )
    with refused(column, "54000" if column == "title" else "22023"):
        api.query(insert, **{**row, column: bad})
    document_id = api.value(insert, **row)
    assert [result.id for result in find(api, "tea")] == [str(document_id)]
    with refused(column, "54000" if column == "title" else "22023"):
        api.query(f"update memory.documents set {column} = %(bad)s returning 1", bad=bad)


@pytest.mark.feature("A12")
def test_the_largest_document_is_stored_in_reasonable_time(api: Api) -> None:
    with api.at_most(cpu_seconds=10):
        store(api, f"Tea.\n{'word ' * 2_000_000}"[:10_000_000])
        assert len(find(api, "tea")) == 1
        assert len(claim(api, "chunk_documents").payload["documents"][0]["text"]) > 1_000_000


@pytest.mark.feature("A12")
def test_documents_are_listed_newest_first_by_page_namespace_and_type(api: Api) -> None:
    for number in range(4):
        store(api, f"Document {number}", namespace=f"n{number % 2}", doc_type=f"t{number // 2}")
    store(api, "Bob's", user_id="bob")

    def listed(**arguments: Any) -> list[str]:
        return [row.content[-1] for row in api.list_documents(user_id="ana", **arguments)]

    assert listed() == ["3", "2", "1", "0"]
    assert listed(namespace="n1") == ["3", "1"]
    assert listed(namespace="n1", doc_type="t0") == ["1"]
    assert listed(namespace="none") == []
    assert listed(row_limit=1, row_offset=2) == ["1"]
    assert {row.total_count for row in api.list_documents(user_id="ana", row_limit=1)} == {4}


@pytest.mark.feature("A12")
def test_a_deleted_document_leaves_no_piece_and_no_embedding(api: Api) -> None:
    activate(api, "ada", "embedding")
    document_id, kept = store(api), store(api, "Tea is hot.")
    cut(api, 0, 2000)
    embed(api)
    assert embedded(api) == sorted([f"{document_id}/0", f"{document_id}/1", f"{kept}/0"])
    assert not api.delete_document(user_id="bob", document_id=document_id)
    assert not api.delete_document(user_id="ana", document_id=uuid4())
    assert api.delete_document(user_id="ana", document_id=document_id)
    assert not api.delete_document(user_id="ana", document_id=document_id)
    assert (embedded(api), len(chunks(api))) == ([f"{kept}/0"], 1)
    assert [result.id for result in find(api, "tea")] == [str(kept)]
