"""Rules of rows are stated once: a fast expression accepts what is right, and leaves the rest to the rules."""

from __future__ import annotations

import json
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.support.sqlapi import Api, refused

ANA = {"user_id": "ana", "thread_id": "t1"}
LONG = "é" * 256


WRONG_MEMBERS: list[tuple[str, dict[str, Any]]] = [
    ("idempotency_key", {"idempotency_key": LONG}),
    ("created_at", {"created_at": "infinity"}),
    ("role", {"role": "robot"}),
    ("metadata", {"metadata": []}),
]


@pytest.mark.feature("F20")
@pytest.mark.parametrize("part", ["tool_calls", "function_call", "refusal", "audio"])
def test_a_message_without_text_is_told_what_is_wrong_with_it(api: Api, part: str) -> None:
    for argument, wrong in WRONG_MEMBERS:
        with refused(argument):
            message = {"role": "assistant", "content": "", part: [{"id": "1"}], **wrong}
            api.add_messages(**ANA, messages=[message])
        if argument != "metadata":
            message = {"role": "assistant", "content": "", "metadata": Jsonb({part: [{"id": "1"}]})}
            with refused(argument):
                api.add_message(**ANA, **{**message, **wrong})
            assert api.add_message(**ANA, **message).content == ""


@pytest.mark.feature("F20")
@pytest.mark.parametrize("position", [0, 9])
def test_the_first_wrong_message_is_named(api: Api, position: int) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": str(number)} for number in range(10)]
    messages[9] = {"role": "robot", "content": "x"}
    messages[position] = {"role": "assistant", "content": "", "tool_calls": [{"id": "1"}], "idempotency_key": LONG}
    with refused("idempotency_key") as raised:
        api.add_messages(**ANA, messages=messages)
    assert f" of messages[{position}]" in str(raised.value)
    assert api.get_messages(**ANA) == []


@pytest.mark.feature("F20")
def test_every_default_of_the_policy_obeys_its_own_rule(api: Api) -> None:
    for section, settings in api.get_policy().items():
        api.set_policy(settings={section: settings})


SETTINGS: dict[str, tuple[Any, Any, str]] = {
    # A value that is allowed, one that is not, and what its hint speaks of.
    "base_url": ("http://localhost/v1", "localhost", "http://"),
    "api_version": ("2024-01", "", "text"),
    "timeout_seconds": (1.5, 0, "seconds"),
    "max_concurrency": (1, 0, "1 to 100000"),
    "temperature": (0, -1, "at least 0"),
    "json_mode": ("schema", "xml", "schema"),
    "dimensions": (8, 4001, "1 to 4000"),
    "batch_size": (1, 1.5, "1 to 100000"),
    "rerank_api": ("chat", "soap", "rerank"),
    "price_per_million_input": (0, "free", "at least 0"),
    "price_per_million_output": (0, -1, "at least 0"),
}


@pytest.mark.feature("F20")
def test_the_hint_of_a_model_setting_is_that_of_its_rule(api: Api) -> None:
    model = {"name": "m", "kind": "embedding", "provider": "openai", "model": "e"}
    for key, (sound, wrong, said) in SETTINGS.items():
        api.register_model(**model, settings={key: sound})
        with refused("settings") as raised:
            api.register_model(**model, settings={key: wrong})
        assert said in (raised.value.diag.message_hint or ""), key
        assert json.dumps(wrong) in (raised.value.diag.message_primary or ""), key
