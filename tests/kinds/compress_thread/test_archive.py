"""Archives: a compressed conversation becomes a document."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.protocol import ANA, say
from tests.support.sqlapi import Api
from tests.support.summaries import LISTS, compress, compressing


def archived(api: Api) -> Any:
    [document] = api.list_documents(user_id="ana")
    return document


def archive(api: Api) -> None:
    """Compress ten messages, said one a minute, to the last four."""
    compressing(api, archive_conversations=True)
    for minute in range(10):
        say(api, "Hello", created_at=f"2024-01-15T10:{minute:02}:30+00:00", agent_id="research_agent")
    compress(api, "Ana plans a trip.", metadata=LISTS)


@pytest.mark.feature("A8", "A9")
def test_a_compressed_conversation_becomes_a_document(api: Api) -> None:
    api.connection.execute("set local timezone = 'Asia/Tokyo'")
    archive(api)
    document = archived(api)
    assert document.content == (
        "# Conversation Summary\n"
        "## Date Range: 2024-01-15T10:00:30Z to 2024-01-15T10:05:30Z\n"
        "## Summary: Ana plans a trip."
    )
    assert (document.namespace, document.doc_type, document.thread_id) == ("conversations:ana", "conversation", "t1")
    assert document.metadata.pop("summary_id") == str(api.get_thread_summary(**ANA)[0].summary_id)
    assert document.metadata == {
        "session_id": "t1",
        "agent_id": "research_agent",
        "conversation_topics": ["tea"],
        "entities_mentioned": ["Ana", "Porto"],
        "decisions_made": ["take the train"],
        "open_questions": ["when?"],
        "message_count": 6,
        "date_range": {"start": "2024-01-15T10:00:30Z", "end": "2024-01-15T10:05:30Z"},
    }


@pytest.mark.feature("A8")
@pytest.mark.parametrize("later", ["2024-01-16T08:00:00Z", "2024-01-14T08:00:00Z"])
def test_the_document_of_a_thread_grows_with_the_next_compression(api: Api, later: str) -> None:
    archive(api)
    first = archived(api)
    say(api, *["Hello"] * 5, created_at=later)
    compress(api, "Ana has been to Porto.")
    second = archived(api)
    assert (second.document_id, second.created_at) == (first.document_id, first.created_at)
    assert second.content.endswith("## Summary: Ana has been to Porto.")
    assert (second.metadata["message_count"], second.metadata["decisions_made"]) == (11, [])
    assert second.metadata["agent_id"] == "research_agent"
    days = sorted(["2024-01-15T10:00:30Z", "2024-01-15T10:09:30Z", later])
    assert second.metadata["date_range"] == {"start": days[0], "end": days[-1]}
    assert f"{days[0]} to {days[-1]}" in second.content


def archived_count(api: Api) -> int:
    return len(api.list_documents(user_id="ana"))


@pytest.mark.feature("A8", "D11")
@pytest.mark.parametrize(("function", "left"), [("clear_thread", 1), ("delete_thread", 0)])
def test_the_document_goes_with_a_deleted_thread_and_outlives_a_cleared_one(api: Api, function: str, left: int) -> None:
    archive(api)
    getattr(api, function)(**ANA)
    assert archived_count(api) == left
