"""Filters of a search, and rows that it must never show."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from tests.search.keyword.steps import EVERYWHERE, found, remember, search, store
from tests.support.sqlapi import Api

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


class TestVisibility:
    def test_a_superseded_memory_appears_only_when_asked_for(self, api: Api) -> None:
        old, new = remember(api, "Likes tea"), remember(api, "Hates tea")
        api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="changed her mind")
        assert found(api) == ["Hates tea"]
        results = {result.content: result.details["superseded_by"] for result in search(api, include_superseded=True)}
        assert results == {"Hates tea": None, "Likes tea": str(new)}
