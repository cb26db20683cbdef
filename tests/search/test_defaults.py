"""What a search finds without being told where to look, and the times that its results carry."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from tests.support.protocol import ANA, claim, complete
from tests.support.sqlapi import Api

PAST = datetime(2023, 5, 4, 12, tzinfo=timezone.utc)


def search(api: Api, query: str = "tea", **arguments: Any) -> list[Any]:
    found: list[Any] = api.search(**{"user_id": "ana", "query": query, "mode": "keyword", **arguments})
    return found


@pytest.mark.feature("A12", "F2")
def test_a_message_is_found_by_its_words_at_once(api: Api) -> None:
    """Without a worker, without a model, without arguments."""
    for number in range(20):
        api.add_message(**ANA, role="user", content=f"Something else, number {number}")
    api.add_message(**ANA, role="user", content="The code of the garage is 4711")
    result = api.search(user_id="ana", query="The code of the garage is 4711")[0]
    assert (result.source, result.content) == ("message", "The code of the garage is 4711")


@pytest.mark.feature("A12")
def test_every_source_but_artifacts_is_searched(api: Api) -> None:
    api.add_memory(user_id="ana", content="Likes tea")
    api.add_message(**ANA, role="user", content="Tea, please")
    api.add_document(user_id="ana", content="Tea grows in the hills")
    api.store_artifact(user_id="ana", content="tea tea tea")
    api.summarize_thread(**ANA)
    complete(api, claim(api, "summarize_thread"), summary="They talked about tea.")
    assert {result.source for result in search(api)} == {"memory", "message", "document", "summary"}


@pytest.mark.feature("A12")
def test_a_summary_of_quotes_does_not_stand_above_the_message_that_says_it(api: Api) -> None:
    said = ["We met Carol at the garage, I think.", "The code is 4711.", "What is the garage for?"]
    for content in said:
        api.add_message(**ANA, role="user", content=content)
    api.summarize_thread(**ANA)
    complete(api, claim(api, "summarize_thread"), summary="Carol asked what the garage is for. Code of the garage.")
    results = search(api, "code of the garage")
    assert results[0].content != "Carol asked what the garage is for. Code of the garage."
    assert {result.source for result in results} == {"message", "summary"}
    [summary] = [r for r in search(api, "code of the garage", explain=True) if r.source == "summary"]
    assert summary.details["features"]["summary"]["part"] < 0
    [alone] = search(api, "code of the garage", sources=["summary"])
    assert alone.score > summary.score


class TestValidFrom:
    """The column valid_from is when it held or happened, where that is known."""

    def test_of_a_message_is_when_it_was_said(self, api: Api) -> None:
        api.add_message(**ANA, role="user", content="Tea, please", created_at=PAST)
        assert search(api)[0].valid_from == PAST

    @pytest.mark.parametrize("valid_from", [None, PAST, "-infinity"])
    def test_of_a_memory_is_since_when_it_holds(self, api: Api, valid_from: Any) -> None:
        api.add_memory(user_id="ana", content="Likes tea", valid_from=valid_from)
        [result] = search(api)
        assert result.valid_from == (PAST if valid_from == PAST else None)

    @pytest.mark.feature("A18")
    def test_of_an_extracted_memory_is_when_the_message_was_said(self, api: Api) -> None:
        """Not when an old conversation was imported."""
        api.add_message(**ANA, role="user", content="I moved to Oslo", created_at=PAST)
        api.extract_memories(**ANA)
        complete(
            api, claim(api, "extract_memories"),
            memories=[{"content": "Lives in Oslo", "memory_type": "fact", "seqs": [0]}],
        )  # fmt: skip
        [result] = search(api, "Lives in Oslo", sources=["memory"])
        assert result.valid_from == PAST
        [result] = search(api, "Lives in Oslo")
        assert [part["valid_from"] for part in result.details["source_messages"]] == ["2023-05-04T12:00:00+00:00"]

    def test_of_a_summary_is_when_its_newest_message_was_said(self, api: Api) -> None:
        for day in (1, 2):
            api.add_message(**ANA, role="user", content="Hello", created_at=PAST.replace(day=day))
        api.summarize_thread(**ANA)
        complete(api, claim(api, "summarize_thread"), summary="They talked about tea.")
        api.add_message(**ANA, role="user", content="Hello again")
        assert search(api)[0].valid_from == PAST.replace(day=2)
        api.query("delete from memory.messages returning 1")
        assert search(api)[0].valid_from is None

    def test_of_a_document_is_the_beginning_of_its_date_range(self, api: Api) -> None:
        starts = ["2023-05-04T12:00:00Z", None, "long ago", 7, {"a": 1}]
        for start in starts:
            metadata = {"date_range": {"start": start, "end": "2023-06-01"}}
            api.add_document(user_id="ana", content=f"Tea grows {start}", metadata=metadata)
        shown = {result.content: result.valid_from for result in search(api)}
        assert shown == {f"Tea grows {start}": PAST if start == starts[0] else None for start in starts}

    def test_of_an_artifact_is_when_it_was_made(self, api: Api) -> None:
        api.store_artifact(user_id="ana", content="tea")
        [result] = search(api, sources=["artifact"])
        assert result.valid_from == result.created_at
        assert result.valid_from is not None
