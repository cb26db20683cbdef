"""Search by keyword finds every source of text."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.search.keyword.steps import ANA, found, remember, search, summarize
from tests.support.sqlapi import Api


class TestSources:
    def test_a_memory_is_found_with_its_fields(self, api: Api) -> None:
        memory_id = remember(
            api, "Likes tea", memory_type="preference", thread_id="t1", tags=["drinks"], metadata={"a": 1},
            confidence=0.5, importance=0.25, agent_id="helper",
        )  # fmt: skip
        [result] = search(api)
        assert result[:4] == ("memory", str(memory_id), "t1", "Likes tea")
        assert result.metadata == {"a": 1}
        assert result.created_at == api.get_memory(user_id="ana", memory_id=memory_id).created_at
        assert result.details == {
            "memory_type": "preference",
            "tags": ["drinks"],
            "confidence": 0.5,
            "importance": 0.25,
            "agent_id": "helper",
            "superseded_by": None,
            "subject": None,
            "attribute": None,
            "state": "current",
            "valid_to": None,
            "source": "user",
            "thread_id": "t1",
            "source_seqs": None,
            "trust": 1,
        }

    def test_a_message_is_found(self, api: Api) -> None:
        api.add_message(**ANA, role="user", content="Hello")
        api.add_message(**ANA, role="user", content="I drink tea", agent_id="helper", metadata={"a": 1})
        [result] = search(api)
        assert result[:4] == ("message", "t1/1", "t1", "I drink tea")
        assert (result.metadata, result.details) == (
            {"a": 1},
            {"seq": 1, "role": "user", "agent_id": "helper", "is_active": True, "trust": 1},
        )

    def test_the_latest_summary_of_a_thread_is_found(self, api: Api) -> None:
        summarize(api, "t1", "They talked about tea at first.")
        summarize(api, "t1", "They went on about tea.")
        [result] = search(api)
        [summary] = api.get_thread_summary(**ANA)
        assert result[:4] == ("summary", str(summary.summary_id), "t1", "They went on about tea.")
        assert result.details == {"kind": "rolling", "start_seq": 0, "end_seq": 11}

    @pytest.mark.feature("E4")
    def test_a_document_is_found_by_its_content_and_title(self, api: Api) -> None:
        document_id = api.add_document(
            user_id="ana",
            content="How to brew it.",
            title="Tea",
            namespace="kitchen",
            doc_type="manual",
            metadata={"a": 1},
        )
        [result] = search(api)
        assert result[:4] == ("document", str(document_id), None, "How to brew it.")
        assert (result.metadata, result.details) == (
            {"a": 1},
            {"title": "Tea", "namespace": "kitchen", "doc_type": "manual", "trust": 1, "chunk": 0, "chunks": 1},
        )
        assert found(api, "brewing") == ["How to brew it."]
        api.delete_document(user_id="ana", document_id=document_id)
        assert search(api) == []

    @pytest.mark.parametrize("filters", [{}, {"include_superseded": True}])
    def test_a_memory_of_many_words_is_found_as_others_are(self, api: Api, filters: dict[str, Any]) -> None:
        """The memory has more words than fit into the index from which other memories' words are read."""
        many = " ".join(f"word{number}" for number in range(1000))
        long = remember(api, f"Likes tea {many}")
        short = remember(api, "Likes tea at five")
        assert {result.id for result in search(api, **filters)} == {str(long), str(short)}
        api.update_memory(user_id="ana", memory_id=long, content="Likes coffee")
        api.update_memory(user_id="ana", memory_id=short, content=f"Likes tea at six {many}")
        assert [result.id for result in search(api, **filters)] == [str(short)]
        assert {result.id for result in search(api, "word999 coffee", **filters)} == {str(long), str(short)}
        api.supersede_memory(user_id="ana", old_memory_id=short, new_memory_id=long, reason="changed")
        assert [result.id for result in search(api, **filters)] == (
            [str(short)] if filters.get("include_superseded") else []
        )

    @pytest.mark.parametrize("words", [1, 1000])
    def test_long_names_leave_room_for_words(self, api: Api, words: int) -> None:
        api.set_policy(settings={"memories": {"max_per_agent": 10}})
        name = "".join(random.Random(words).choices("𐌰𐌱𐌲𐌳😀", k=255))  # what cannot be compressed
        content = " ".join(f"tea{number}" for number in range(words))
        remember(api, content, user_id=name, agent_id=name[::-1])
        assert found(api, "tea0", user_id=name) == [content]
