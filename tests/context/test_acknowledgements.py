"""A request that is about nothing recalls nothing."""

from __future__ import annotations

import pytest

from tests.support.protocol import ANA, activate, claim, complete
from tests.support.sqlapi import Api


@pytest.mark.feature("F16")
@pytest.mark.parametrize(
    ("query", "recalls"),
    [
        ("OK!", False),
        ("Thank you.", False),
        ("danke", False),
        ("ok which plan?", True),
    ],
)
def test_ok_recalls_nothing(api: Api, query: str, recalls: bool) -> None:
    api.add_message(user_id="ana", thread_id="before", role="user", content="ok, yes, thank you, danke: a fine plan")
    api.add_message(**ANA, role="user", content="hm")
    assert ("recalled" in {part.source for part in api.get_context(**ANA, query=query)}) == recalls


@pytest.mark.feature("F16")
def test_an_embedding_without_words_recalls(api: Api) -> None:
    """Where the thread has no question yet, either."""
    api.set_policy(settings={"search": {"embed_messages": True}})
    activate(api, "ada", "embedding")
    api.add_message(user_id="ana", thread_id="before", role="user", content="The plan is to sail to Porto.")
    complete(api, claim(api, "embed"), embeddings=[[1, 0]])
    assert [part.source for part in api.get_context(**ANA, query_embedding="[1,0.1]")] == ["recalled"]
