"""Policy extraction.review: what is extracted waits in quarantine, and counts once somebody has released it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.kinds.extract_memories.changing import LYON, PORTO, fact, heard, states
from tests.kinds.extract_memories.steps import claimed, found
from tests.support.protocol import activate, complete, say
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F34")


@pytest.fixture
def api(api: Api) -> Api:
    """With a chat model, whose replies the tests hand in, and the policy."""
    activate(api)
    api.set_policy(settings={"extraction": {"review": True}})
    return api


def waiting(api: Api) -> dict[str, UUID]:
    """The ids of what waits for a review, by content."""
    rows = api.list_quarantined(user_id="ana", source="memory")
    return {row.content: UUID(row.id) for row in rows if row.reason == "review"}


def already_known(api: Api) -> UUID:
    """Extract before the policy says that somebody reviews what is extracted."""
    api.set_policy(settings={"extraction": {"review": False}})
    heard(api, fact(LYON))
    api.set_policy(settings={"extraction": {"review": True}})
    known: UUID = api.list_memories(user_id="ana")[0].memory_id
    return known


def release(api: Api, content: str) -> None:
    api.release_memory(user_id="ana", memory_id=waiting(api)[content])


def shown(api: Api, query: str) -> str:
    """What every way of reading shows of memories."""
    parts = api.get_context(user_id="ana", thread_id="now", query=query)
    return "\n".join(
        [part.content for part in parts if part.source == "memories"]
        + [row.content for row in api.list_memories(user_id="ana", include_superseded=True)]
        + [row.content for row in api.search(user_id="ana", query=query, sources=["memory"])]
        + [api.render_memories(user_id="ana", query=query), str(api.load_user(user_id="ana"))]
    )


def test_what_is_extracted_waits_and_is_shown_to_nobody(api: Api) -> None:
    outcome = heard(api, fact(LYON), found("Likes tea"))
    assert (outcome["inserted"], outcome["ended"]) == (2, 0)
    assert set(waiting(api)) == {LYON, "Likes tea"}
    for content in (LYON, "Likes tea"):
        assert content not in shown(api, content)
    assert api.count_memories(user_id="ana") == 0
    release(api, LYON)
    assert LYON in shown(api, LYON)
    assert api.delete_memory(user_id="ana", memory_id=waiting(api)["Likes tea"])
    assert waiting(api) == {}
    assert states(api) == {LYON: ("current", None)}
    assert "awaits_review" not in api.list_memories(user_id="ana")[0].metadata


@pytest.mark.parametrize("is_one", [True, False])
def test_a_new_value_ends_the_old_one_once_it_is_released(api: Api, is_one: bool) -> None:
    api.set_policy(settings={"memories": {"attributes": {"home": "one" if is_one else "many"}}})
    already_known(api)
    heard(api, fact(PORTO, replaces=[] if is_one else [1]), day="12-01")
    assert states(api) == {LYON: ("current", None)}
    release(api, PORTO)
    assert states(api) == {LYON: ("replaced", "12-01"), PORTO: ("current", None)}


@pytest.mark.parametrize(
    ("entry", "state"), [({"corrects": True}, "corrected"), ({"status": "ended", "valid_to": "2024-03-01"}, "ended")]
)
def test_a_correction_and_an_end_count_once_they_are_released(api: Api, entry: dict[str, Any], state: str) -> None:
    already_known(api)
    heard(api, fact("Lived in Nice", replaces=[1], **entry), day="12-01")
    assert states(api)[LYON] == ("current", None)
    release(api, "Lived in Nice")
    assert states(api)[LYON][0] == state


def test_what_waits_is_not_extracted_again(api: Api) -> None:
    heard(api, fact(LYON))
    assert heard(api, fact(LYON), day="01-02")["inserted"] == 0
    say(api, "Hello again")
    assert [k["content"] for k in claimed(api).payload["known"]] == [LYON]
    assert list(waiting(api)) == [LYON]


def test_a_waiting_memory_can_be_edited_before_it_counts(api: Api) -> None:
    heard(api, fact(LYON))
    [memory_id] = waiting(api).values()
    api.update_memory(user_id="ana", memory_id=memory_id, content="Lives in Lyons", metadata={"seen": True})
    assert list(waiting(api)) == ["Lives in Lyons"]
    assert "Lyon" not in shown(api, "Lyons")
    release(api, "Lives in Lyons")
    [memory] = api.list_memories(user_id="ana")
    assert (memory.content, memory.metadata) == ("Lives in Lyons", {"seen": True})


def test_neither_what_the_application_states_nor_what_another_agent_hears_waits(api: Api) -> None:
    api.add_memory(user_id="ana", content="Owns a boat")
    api.set_policy(settings={"extraction": {"review": False}}, agent_id="default")
    heard(api, found("Likes tea"))
    assert (set(states(api)), waiting(api)) == ({"Owns a boat", "Likes tea"}, {})


def test_a_released_source_and_a_harmless_verdict_leave_memories_to_the_review(api: Api) -> None:
    heard(api, found("Likes tea"))
    api.quarantine_source(user_id="ana", source="message", id="t1/0", reason="planted")
    assert waiting(api) == {}
    api.release_source(user_id="ana", source="message", id="t1/0")
    assert list(waiting(api)) == ["Likes tea"]
    api.set_policy(settings={"trust": {"screen": True}, "extraction": {"from_roles": ["user", "assistant"]}})
    activate(api, "guard", "screen")
    heard(api, fact(LYON), role="assistant", metadata={"trust": 0.1})
    assert LYON not in waiting(api)
    while jobs := api.claim_jobs(worker="w", kinds=["screen_texts"], max_jobs=1):
        verdicts = [{"number": text["number"], "is_attack": False} for text in jobs[0].payload["texts"]]
        complete(api, jobs[0], verdicts=verdicts)
    assert set(waiting(api)) == {LYON, "Likes tea"}
    assert LYON not in shown(api, LYON)


def test_an_end_without_a_memory_is_left_out(api: Api) -> None:
    already_known(api)
    [seq] = say(api, "I left Lyon", created_at="2024-12-01T10:00:00Z")
    outcome = complete(api, claimed(api), memories=[], ends=[{"seqs": [seq], "number": 1}])
    assert (outcome["ended"], outcome["refusals"]) == (0, {"review": 1})
    assert states(api) == {LYON: ("current", None)}
