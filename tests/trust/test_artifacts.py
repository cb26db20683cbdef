"""An artifact that looks like an attack is shown to no model, before a job has looked at it and after."""

from __future__ import annotations

import psycopg
import pytest

from tests.memories.steps import add
from tests.support.protocol import activate, claim, complete, nothing_to_do
from tests.support.sqlapi import Api
from tests.trust.test_quarantine import ATTACK, context, messages, said

LINES = [f"row {number} of the table of teashops" for number in range(300)]
POISONED = "\n".join([*LINES[:150], ATTACK, *LINES[150:]])


def shown(api: Api, query: str = "previous instructions, the table of teashops") -> str:
    """What every way in which a model is shown an artifact shows of it."""
    texts = [row.content for row in api.search(user_id="ana", query=query, sources=["artifact"], top_k=50)]
    texts += [part.content for part in api.get_context(user_id="ana", thread_id="t", query=query, max_tokens=20_000)]
    for message in messages(api):
        texts.append(api.expand_refs(user_id="ana", content=message))
        texts.append(api.expand_refs(user_id="ana", content=message, max_tokens=500, query=query))
    return "\n".join(texts)


def quarantined(api: Api) -> list[tuple[str, str]]:
    return [(row.source, row.id) for row in api.list_quarantined(user_id="ana")]


@pytest.mark.feature("F10")
def test_an_attack_in_a_long_output_is_shown_to_no_model(api: Api) -> None:
    said(api, "user", "Show me the table")
    said(api, "tool", POISONED)
    [artifact] = api.list_artifacts(user_id="ana")
    for is_judged in (False, True):
        assert "evil.example" not in shown(api)
        assert artifact.memory_ref in messages(api)[1], "the message keeps its placeholder"
        assert quarantined(api) == ([("artifact", artifact.key)] if is_judged else [])
        api.sweep()
    [row] = api.list_quarantined(user_id="ana")
    assert "an order to ignore instructions" in row.reason
    assert ATTACK in row.content
    assert round(row.trust, 1) == 0.4
    assert api.list_artifacts(user_id="ana") == []
    assert ATTACK in api.retrieve_artifact(user_id="ana", key=artifact.key), "whoever asks for it by its key has it"
    api.release_source(user_id="ana", source="artifact", id=artifact.key)
    api.sweep()
    assert quarantined(api) == []
    assert shown(api).count(ATTACK) >= 3
    api.quarantine_source(user_id="ana", source="artifact", id=artifact.key, reason="planted")
    with pytest.raises(psycopg.Error, match="no artifact") as error:
        api.retrieve_artifact(user_id="ana", key=artifact.key)
    assert error.value.sqlstate == "P0002"


@pytest.mark.feature("F10")
def test_a_harmless_output_is_shown_at_once(api: Api) -> None:
    said(api, "tool", "\n".join(LINES))
    for _ in range(2):
        assert LINES[200] in shown(api)
        api.sweep()
    assert quarantined(api) == []


@pytest.mark.feature("F10")
def test_a_poisoned_description_is_not_shown(api: Api) -> None:
    key = api.store_artifact(user_id="ana", content="Harmless", description=ATTACK, key="teashops").key
    add(api, f"Keeps the list of teashops as [MemoryRef: {key} - {'x' * 200}]")
    for _ in range(2):
        assert "evil.example" not in context(api, "list of teashops")
        assert "teashops" in context(api, "list of teashops")
        api.sweep()
    assert quarantined(api) == [("artifact", key)]


@pytest.mark.feature("F10")
@pytest.mark.parametrize(("role", "is_quarantined"), [("tool", True), ("user", False)])
def test_what_a_message_became_has_the_trust_of_the_message(api: Api, role: str, is_quarantined: bool) -> None:
    api.set_policy(settings={"artifacts": {"roles": ["tool", "user"]}})
    said(api, role, POISONED)
    assert len(api.list_artifacts(user_id="ana")) == 1
    api.sweep()
    assert (quarantined(api) != []) is is_quarantined


@pytest.mark.feature("F10")
def test_no_model_is_asked_to_describe_an_attack(api: Api) -> None:
    activate(api)
    said(api, "tool", POISONED)
    assert nothing_to_do(api, "describe_artifact")
    assert [source for source, _ in quarantined(api)] == ["artifact"]
    assert api.query("select * from memory._describe_artifact_overdue(10)") == []


@pytest.mark.feature("F10")
def test_a_description_that_repeats_an_attack_is_not_taken(api: Api) -> None:
    activate(api)
    said(api, "tool", "\n".join(LINES))
    [before] = api.list_artifacts(user_id="ana")
    complete(api, claim(api, "describe_artifact"), description=ATTACK)
    [after] = api.list_artifacts(user_id="ana")
    assert after.memory_ref == before.memory_ref
    assert after.memory_ref in messages(api)[0]
