"""Embeddings of texts that change, are deleted or come back."""

from __future__ import annotations

import pytest

from tests.embeddings.steps import EAST, embed, embedded, hand_in, know, texts
from tests.support.protocol import ANA, claim, lease, nothing_to_do, open_jobs, say
from tests.support.sqlapi import Api, refused


@pytest.mark.feature("E6")
def test_a_changed_text_loses_its_embedding_and_gets_a_new_one(active: Api) -> None:
    [memory_id] = know(active, "Likes tea")
    embed(active)
    active.update_memory(user_id="ana", memory_id=memory_id, importance=1)
    assert (embedded(active), open_jobs(active)) == ({str(memory_id): "[1,0,0]"}, [])
    active.update_memory(user_id="ana", memory_id=memory_id, content="Likes coffee")
    assert embedded(active) == {}
    say(active, "Hello")
    embed(active)
    active.connection.execute("update memory.messages set content = 'Goodbye'")
    assert list(embedded(active)) == [str(memory_id)]
    assert [text[-7:] for text in texts(active)] == ["Goodbye"]


@pytest.mark.feature("E6")
@pytest.mark.parametrize("meanwhile", ["changed", "superseded", "swept"])
def test_the_embedding_of_a_former_text_is_not_stored(active: Api, meanwhile: str) -> None:
    old, new = know(active, "old", "new")
    job = claim(active)
    if meanwhile == "changed":
        active.update_memory(user_id="ana", memory_id=old, content="changed")
    elif meanwhile == "superseded":
        active.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="newer")
    else:
        active.delete_memory(user_id="ana", memory_id=old)
        active.sweep()
    assert hand_in(active, job) == {"model": "ada", "embedded": 1, "folded": 0}
    assert list(embedded(active)) == [str(new)]
    if meanwhile == "changed":
        assert texts(active) == ["changed"]
    else:
        assert nothing_to_do(active)


@pytest.mark.feature("E6")
def test_the_embedding_of_a_message_that_is_gone_is_not_stored(active: Api) -> None:
    say(active, "Hello")
    job = claim(active)
    active.clear_thread(**ANA)
    with refused("lease_token", "AM001"):
        active.complete_job(**lease(job), result={"embeddings": [EAST]})
    assert embedded(active) == {}
