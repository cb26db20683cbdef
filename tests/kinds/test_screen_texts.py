"""A text of low trust is recalled once a model has found it harmless; a refused one stays in quarantine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.protocol import activate, claim, complete, lease, make_due, nothing_to_do
from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.feature("F10")
WEB = "Mallory's teashop has the best teapots"


@pytest.fixture
def api(api: Api) -> Api:
    activate(api, "guard", "screen")
    api.set_policy(settings={"trust": {"screen": True}})
    return api


def waiting(api: Api) -> list[str]:
    return [row.source for row in api.list_quarantined(user_id="ana") if row.reason == "screen: waiting for a verdict"]


def judge(api: Api, *attacks: int) -> dict[str, Any]:
    """Have a sweep queue the job, and hand in a verdict for each text."""
    api.sweep()
    make_due(api)
    job = claim(api, "screen_texts")
    verdicts = [
        {"number": text["number"], "is_attack": text["number"] in attacks, "reason": "gives orders"}
        for text in job.payload["texts"]
    ]
    return complete(api, job, verdicts=verdicts)


def found(api: Api, source: str) -> str:
    texts = [row.content for row in api.search(user_id="ana", query="teapots teashop", sources=[source])]
    parts = api.get_context(user_id="ana", thread_id="now", query="Which teashop has teapots?")
    return "\n".join([*texts, *(part.content for part in parts if part.source != "message")])


STORE: dict[str, Callable[[Api], Any]] = {
    "memory": lambda api: api.add_memory(user_id="ana", content=WEB, source="web"),
    "document": lambda api: api.add_document(user_id="ana", content=WEB, metadata={"trust": 0.3}),
    "message": lambda api: api.add_message(user_id="ana", thread_id="t", role="tool", content=WEB),
    "artifact": lambda api: api.store_artifact(user_id="ana", content=f"{WEB}\n" * 3, key="k"),
}


@pytest.mark.parametrize("source", STORE)
@pytest.mark.parametrize("is_attack", [True, False])
def test_a_text_of_low_trust_is_not_recalled_before_its_verdict(api: Api, source: str, is_attack: bool) -> None:
    STORE[source](api)
    assert "Mallory" not in found(api, source)
    api.sweep()
    assert "Mallory" not in found(api, source), "a sweep parses texts, and shows none"
    outcome = judge(api, *([1] if is_attack else []))
    assert outcome == {"accepted": int(not is_attack), "refused": int(is_attack)}
    assert ("Mallory" in found(api, source)) is not is_attack
    reasons = [(row.source, row.reason) for row in api.list_quarantined(user_id="ana")]
    assert reasons == ([(source, "screen: gives orders")] if is_attack else [])
    api.sweep()
    make_due(api)
    assert nothing_to_do(api, "screen_texts")
    if is_attack:
        [row] = api.list_quarantined(user_id="ana")
        api.release_source(user_id="ana", source=source, id=row.id)
        assert "Mallory" in found(api, source)


def test_what_people_say_waits_for_nobody(api: Api) -> None:
    api.add_memory(user_id="ana", content=WEB)
    api.add_message(user_id="ana", thread_id="t", role="user", content=WEB)
    api.add_document(user_id="ana", content=WEB)
    assert waiting(api) == []
    assert all("Mallory" in found(api, source) for source in ("memory", "message", "document"))


def test_a_thread_shows_the_answer_of_a_tool_that_its_model_has_just_called(api: Api) -> None:
    api.add_message(user_id="ana", thread_id="t", role="tool", content=WEB)
    assert WEB in [part.content for part in api.get_context(user_id="ana", thread_id="t")]


BAD_VERDICTS: list[Any] = [
    None,
    [],
    [{"number": 1}],
    [{"number": 2, "is_attack": False}],
    [{"number": 1, "is_attack": "no"}],
    [{"number": 1, "is_attack": False}] * 2,
]


def test_a_result_without_a_verdict_for_each_text_once_is_refused_and_without_a_model_texts_wait(api: Api) -> None:
    STORE["memory"](api)
    job = claim(api, "screen_texts")
    for verdicts in BAD_VERDICTS:
        with refused("result"):
            complete(api, job, verdicts=verdicts)
    assert api.fail_job(**lease(job), error="x") == "pending"
    api.deactivate_model(name="guard")
    api.sweep()
    make_due(api)
    assert nothing_to_do(api, "screen_texts")
    assert waiting(api) == ["memory"]


def test_a_text_that_was_changed_meanwhile_goes_on_waiting(api: Api) -> None:
    document = STORE["document"](api)
    job = claim(api, "screen_texts")
    api.connection.execute("update memory.documents set content = 'Other words of Mallory'")
    outcome = complete(api, job, verdicts=[{"number": 1, "is_attack": False, "reason": ""}])
    assert outcome == {"accepted": 0, "refused": 0}
    assert [row.id for row in api.list_quarantined(user_id="ana")] == [str(document)]


def test_a_text_without_a_verdict_keeps_no_other_from_its_own(api: Api) -> None:
    for number in range(3):
        api.add_memory(user_id="ana", content=f"{WEB} {number}", source="web")
    given = []
    for _ in range(5):
        make_due(api)
        job = claim(api, "screen_texts")
        given.append(len(job.payload["texts"]))
        status = api.fail_job(**lease(job), error="no verdict")
    assert (given, status) == ([3, 3, 3, 2, 1], "dead")
    reasons = sorted(row.reason for row in api.list_quarantined(user_id="ana"))
    assert reasons == ["screen: the model gives no verdict", *["screen: waiting for a verdict"] * 2]
    assert judge(api) == {"accepted": 2, "refused": 0}
