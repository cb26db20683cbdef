"""Searching documents: each is found at once and is one result, with its best piece."""

from __future__ import annotations

import pytest

from tests.documents.steps import FILLER, LONG, SENTENCES, chunks, cut, embed, embedded, find, store
from tests.support.protocol import ANA, activate, claim, complete
from tests.support.sqlapi import Api


@pytest.mark.feature("A12", "A14")
@pytest.mark.parametrize("content", ["Tea grows.", LONG], ids=["short", "long"])
def test_a_document_is_found_by_keyword_at_once(api: Api, content: str) -> None:
    document_id = store(api, content, title="Plants", namespace="garden", metadata={"a": 1})
    [result] = find(api, "tea")
    assert result[:3] == ("document", str(document_id), None)
    assert content.startswith(result.content)
    assert len(result.content) in (range(3200, 4000) if content == LONG else [len(content)])
    assert result.metadata == {"a": 1}
    expected = {"title": "Plants", "namespace": "garden", "doc_type": "document", "trust": 1, "chunk": 0, "chunks": 1}
    assert result.details == expected


@pytest.mark.feature("A12")
def test_a_document_is_one_result_with_its_best_piece(api: Api) -> None:
    activate(api, "ada", "embedding")
    places = [0, LONG.index(SENTENCES["boat"]), LONG.index(SENTENCES["goat"])]
    document_id = store(api)
    cut(api, *places)
    vectors = {
        SENTENCES["tea"]: [1.0, 0.0, 0.0],
        SENTENCES["boat"]: [0.0, 1.0, 0.0],
        SENTENCES["goat"]: [0.0, 0.0, 1.0],
    }
    assert len(embed(api, vectors)) == 3
    other = store(api, "A boat is no car, and this is about cars.")
    for number, word in enumerate(SENTENCES):
        query_embedding = str([float(number == place) for place in range(3)])
        for mode in ("keyword", "vector", "hybrid"):
            results = find(api, word, mode=mode, query_embedding=query_embedding)
            assert [result.id for result in results].count(str(document_id)) == 1
            [result] = [result for result in results if result.id == str(document_id)]
            assert result.content.startswith(SENTENCES[word])
            assert (result.details["chunk"], result.details["chunks"]) == (number, 3)
    assert {result.id for result in find(api, "boat")} == {str(document_id), str(other)}


@pytest.mark.feature("A12")
def test_an_archived_conversation_is_cut_and_found_like_any_document(api: Api) -> None:
    activate(api, "ada", "embedding")
    api.set_policy(
        settings={
            "search": {"embed_messages": False},
            "compression": {"archive_conversations": True, "recent_messages_to_keep": 1},
            "knowledge_base": {"chunk_size": 10, "chunk_overlap": 0},
        }
    )
    api.talk(**ANA, rounds=4)
    api.compress_thread(**ANA)
    complete(api, claim(api, "compress_thread"), summary=f"They spoke about tea. {FILLER[:200]}")
    [found] = find(api, "tea", doc_types=["conversation"])
    assert (found.thread_id, found.details["doc_type"], found.details["chunks"]) == ("t1", "conversation", 1)
    cut(api, 0, 100)
    assert len([text for text in embed(api) if text.startswith("Conversation t1\n")]) == 2
    [found] = find(api, "tea")
    assert found.details["chunks"] == 2
    assert find(api, "tea", doc_types=["manual"]) == []
    api.delete_thread(**ANA)
    assert (find(api, "tea"), embedded(api), chunks(api)) == ([], [], [])


@pytest.mark.feature("A14", "A19")
def test_conversations_means_what_is_stored_as_conversation(api: Api) -> None:
    """Both are found by the plural: an application may have stored documents under that name."""
    for number, doc_type in enumerate(["conversation", "conversations", "note"]):
        store(api, f"Tea number {number}.", doc_type=doc_type)

    def found(*doc_types: str) -> set[str]:
        return {result.details["doc_type"] for result in find(api, "tea", doc_types=list(doc_types))}

    def listed(doc_type: str) -> set[str]:
        return {document.doc_type for document in api.list_documents(user_id="ana", doc_type=doc_type)}

    assert found("conversations") == listed("conversations") == {"conversation", "conversations"}
    assert found("conversation") == listed("conversation") == {"conversation"}
    assert found("conversations", "note") == {"conversation", "conversations", "note"}
    assert found("note") == listed("note") == {"note"}
    assert found("conversations", *(f"type {number}" for number in range(99))) == {"conversation", "conversations"}
