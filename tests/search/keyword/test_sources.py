"""Search by keyword finds every source of text, and filters leave out."""

from __future__ import annotations

import random
from datetime import datetime, timezone
from typing import Any

import pytest

from tests.search.keyword.steps import ANA, EVERYWHERE, found, remember, search, store, summarize
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


MAY = datetime(2026, 5, 1, tzinfo=timezone.utc)


class TestFilters:
    @pytest.fixture
    def pair(self, api: Api) -> None:
        """Two memories that differ in everything, and a summary and a message that say the same."""
        kept = {
            "agent_id": "cook", "thread_id": "t1", "memory_type": "preference", "tags": ["drinks", "hot"],
            "metadata": {"channel": "mail", "nested": {"a": 1}}, "confidence": 0.9, "valid_from": MAY,
        }  # fmt: skip
        other = {
            "agent_id": "tutor", "thread_id": "t2", "memory_type": "fact", "tags": ["drinks", "cold"],
            "metadata": {"channel": "chat", "nested": {"a": 2}}, "confidence": 0.4, "valid_to": "2100-01-01",
        }  # fmt: skip
        remember(api, "Drinks tea hot", **kept)
        remember(api, "Drinks tea cold", **{**other, "valid_from": "2020-01-01"})

    @pytest.mark.feature("E3")
    @pytest.mark.usefixtures("pair")
    def test_keeps_what_it_asks_for(self, api: Api) -> None:
        assert sorted(found(api, as_of=None)) == ["Drinks tea cold", "Drinks tea hot"]
        assert len(search(api, tags_all=[], exclude_tags=[], filter={})) == 2
        filters: list[dict[str, Any]] = [
            {"agent_id": "cook"},
            {"thread_id": "t1"},
            {"exclude_thread_id": "t2"},
            {"memory_types": ["preference", "context"]},
            {"tags_all": ["drinks", "hot"]},
            {"tags_any": ["hot", "red"]},
            {"exclude_tags": ["cold", "red"]},
            {"filter": {"nested": {"a": 1}}},
            {"min_confidence": 0.5},
            {"as_of": "2100-06-01"},
        ]
        for arguments in filters:
            assert found(api, **arguments) == ["Drinks tea hot"], arguments

    @pytest.mark.parametrize(
        "arguments",
        [{"doc_types": ["manual"]}, {"namespaces": ["kitchen"]}],
        ids=str,
    )
    def test_by_what_only_documents_have_leaves_documents(self, api: Api, arguments: dict[str, Any]) -> None:
        for source in EVERYWHERE:
            store(api, source, f"tea in a {source}")
        for namespace, doc_type in (("kitchen", "manual"), ("office", "letter")):
            api.add_document(user_id="ana", content=f"tea in a {doc_type}", namespace=namespace, doc_type=doc_type)
        assert found(api, sources=[*EVERYWHERE, "document"], **arguments) == ["tea in a manual"]
        assert found(api, sources=[*EVERYWHERE, "document"], memory_types=["fact"], **arguments) == []

    def test_by_what_only_memories_have_leaves_memories_and_by_thread_those_that_belong_to_none(self, api: Api) -> None:
        remember(api, "Likes tea", tags=["a"])
        api.add_message(**ANA, role="user", content="I drink tea", metadata={"channel": "mail"})
        api.add_message(**ANA, role="user", content="More tea", agent_id="cook")
        of_memories = ({"memory_types": ["fact"]}, {"tags_all": ["a"]}, {"tags_any": ["a"]}, {"min_confidence": 0.1})
        for arguments in (*of_memories, {"exclude_thread_id": "t1"}):
            assert found(api, **arguments) == ["Likes tea"], arguments
        assert found(api, filter={"channel": "mail"}) == ["I drink tea"]
        assert found(api, agent_id="cook") == ["More tea"]
        assert len(search(api, top_k=2)) == 2

    def test_come_before_the_ranking(self, api: Api) -> None:
        """A row that a filter leaves out does not make its words common."""
        for content in ("Likes tea", "Likes cake"):
            remember(api, content, agent_id="cook")
        before = search(api, agent_id="cook")
        for number in range(20):
            remember(api, f"tea {number}", agent_id="tutor")
        assert search(api, agent_id="cook") == before


class TestVisibility:
    def test_a_superseded_memory_appears_only_when_asked_for(self, api: Api) -> None:
        old, new = remember(api, "Likes tea"), remember(api, "Hates tea")
        api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="changed her mind")
        assert found(api) == ["Hates tea"]
        results = {result.content: result.details["superseded_by"] for result in search(api, include_superseded=True)}
        assert results == {"Hates tea": None, "Likes tea": str(new)}

    def test_as_of_shows_what_was_superseded_later_and_hides_what_was_said_later(self, api: Api) -> None:
        old = remember(api, "Likes tea")
        before = api.value("select clock_timestamp()")
        new = remember(api, "Hates tea")
        api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="changed her mind")
        summarize(api, "t1", "They talked about tea.")
        api.add_message(**ANA, role="user", content="tea")
        assert {result.source for result in search(api)} == {"memory", "summary", "message"}
        assert found(api, as_of=before) == ["Likes tea"]
        assert found(api, as_of=api.get_memory(user_id="ana", memory_id=old).superseded_at) == ["Hates tea"]
