"""Search among memories alone finds what comparing everything finds."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from tests.search.memories_alone.steps import HIDE, MODES, _update, found, remember
from tests.support.search_world import embed
from tests.support.sqlapi import Api

BRING_BACK: dict[str, Callable[[Api, UUID], Any]] = {
    "deleted": lambda api, memory_id: api.restore_memory(user_id="ana", memory_id=memory_id),
    "superseded": lambda api, memory_id: api.restore_memory(user_id="ana", memory_id=memory_id),
    "expired by hand": _update("expires_at = 'infinity'"),
    "no longer valid": _update("valid_to = null"),
    "deleted by hand": lambda api, memory_id: api.restore_memory(user_id="ana", memory_id=memory_id),
}


@pytest.mark.feature("E4", "A3")
@pytest.mark.parametrize(("how", "model"), [*((how, "three") for how in HIDE), ("deleted", "other")])
def test_a_hidden_memory_is_not_found_until_it_is_brought_back(api: Api, how: str, model: str) -> None:
    """This holds for every model that has embedded the memory."""
    memory_id = remember(api, "Likes tea", [1, 0, 0])
    embed(api, memory_id, [1, 0, 0], model="other")
    api.activate_model(name=model)
    tea = functools.partial(found, api, "tea", [1, 0, 0])
    assert tea() == tea(mode="vector") == tea(mode="keyword") == ["Likes tea"]
    HIDE[how](api, memory_id)
    assert [text for mode in MODES for text in tea(mode=mode) if text == "Likes tea"] == []
    # What takes no place among the best, either.
    assert (
        api.query("select from memory.texts where model is not null and valid_until > now() and source = 'memory'")
        == []
    )
    if how in BRING_BACK:
        BRING_BACK[how](api, memory_id)
        assert tea() == tea(mode="vector") == tea(mode="keyword") == ["Likes tea"]


def test_a_changed_memory_is_found_by_its_words_until_it_is_embedded(api: Api) -> None:
    memory_id = remember(api, "Likes tea", [1, 0, 0])
    api.update_memory(user_id="ana", memory_id=memory_id, content="Likes cocoa")
    assert found(api, "cocoa", [1, 0, 0]) == ["Likes cocoa"]
    assert found(api, None, [1, 0, 0]) == []
    embed(api, memory_id, [0, 1, 0])
    assert found(api, None, [1, 0, 0]) == ["Likes cocoa"]
