"""A request that is about nothing recalls nothing."""

from __future__ import annotations

import pytest

from tests.support.protocol import ANA
from tests.support.sqlapi import Api


@pytest.mark.feature("F16")
@pytest.mark.parametrize(
    ("query", "recalls"),
    [("ok", False), ("OK!", False), ("Thank you.", False), ("yes", False), ("danke", False), ("ok which plan?", True)],
)
def test_ok_recalls_nothing(api: Api, query: str, recalls: bool) -> None:
    api.add_message(user_id="ana", thread_id="before", role="user", content="ok, yes, thank you, danke: a fine plan")
    api.add_message(**ANA, role="user", content="hm")
    assert ("recalled" in {part.source for part in api.get_context(**ANA, query=query)}) == recalls
