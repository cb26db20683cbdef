"""A credential in a long output: what is made of the output has none, and by policy nothing that is stored has."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from psycopg import sql

from tests.artifacts.offload.steps import LOG, content_of, keys, rows, say
from tests.masking.labelled import KEYS
from tests.support.protocol import activate, claim
from tests.support.sqlapi import TABLES, Api

pytestmark = pytest.mark.feature("C2", "C13")

KEY = KEYS["GitHub token"]()
MARK = "(credential: GitHub token)"
COMMAND = f"curl -H 'Authorization: Bearer {KEY}' https://example.org"
OUTPUT = f"fatal: could not read with {KEY}\n{LOG}fatal: could not read with {KEY}\n"


def by_add_message(api: Api, **metadata: Any) -> str:
    return str(say(api, OUTPUT, metadata=metadata, idempotency_key="k").content)


def by_keyed_messages(api: Api, **metadata: Any) -> str:
    message = {"role": "tool", "content": OUTPUT, "metadata": metadata, "idempotency_key": "k"}
    [stored] = api.add_messages(user_id="ana", thread_id="t1", messages=[message])
    assert api.add_messages(user_id="ana", thread_id="t1", messages=[message]) == [stored]
    return str(stored.content)


def by_insert(api: Api, **metadata: Any) -> str:
    [row] = api.query(
        "insert into memory.messages (user_id, thread_id, role, content, metadata)"
        " values ('ana', 't1', 'tool', %(content)s, %(metadata)s) returning content",
        content=OUTPUT,
        metadata=json.dumps(metadata),
    )
    return str(row.content)


WAYS = [by_add_message, by_keyed_messages, by_insert]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("metadata", [{"command": COMMAND}, {"name": f"fetch {KEY}"}])
def test_neither_key_nor_description_nor_the_words_around_a_placeholder_have_a_credential(
    api: Api, way: Callable[..., str], metadata: dict[str, Any]
) -> None:
    said = way(api, **metadata)
    assert MARK in said
    for text in (said, str(keys(api)), str(api.list_artifacts(user_id="ana")[0].description)):
        assert KEY not in text
        assert KEY[:12].lower() not in text.lower()
    assert content_of(api, keys(api)[0]) == OUTPUT


def test_a_command_in_the_call_of_a_tool_is_masked_in_what_is_made_of_it(api: Api) -> None:
    call = {"id": "call_1", "type": "function"}
    call["function"] = {"name": "sh", "arguments": json.dumps({"command": COMMAND})}  # type: ignore[assignment]
    stored = api.add_messages(user_id="ana", thread_id="t1", messages=[
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": LOG, "tool_call_id": "call_1"},
    ])[1]  # fmt: skip
    assert KEY not in stored.content
    assert stored.content.startswith("Command \"curl -H 'Authorization: Bearer (credential: ")


@pytest.mark.parametrize("way", WAYS)
def test_by_policy_nothing_that_is_stored_of_an_output_has_a_credential(api: Api, way: Callable[..., str]) -> None:
    api.set_policy(settings={"secrets": {"mask_in_threads": True}})
    said = way(api, tool_call_id="call_1")
    [row] = rows(api)
    assert (row.content, row.token_count) == (said, (len(said) + 3) // 4)
    assert api.list_threads(user_id="ana")[0].active_tokens == row.token_count
    assert content_of(api, row.artifact_key) == OUTPUT.replace(KEY, MARK)
    everything = "".join(
        api.value(sql.SQL("select string_agg(t::text, ' ') from memory.{} as t").format(sql.Identifier(table))) or ""
        for [table] in api.query(TABLES)
    )
    assert MARK in everything
    assert KEY not in everything
    if way in (by_add_message, by_keyed_messages):
        assert way(api, tool_call_id="call_1") == said
        assert len(rows(api)) == 1


@pytest.mark.parametrize("place", range(5980, 6001, 9))
def test_a_credential_at_the_cut_does_not_reach_the_model_that_describes(api: Api, place: int) -> None:
    activate(api)
    say(api, "x " * (place // 2) + KEY + " y" * 5000 + f" {KEY}" + " z" * (place % 100 + 1470))
    payload = json.dumps(claim(api, "describe_artifact").payload)
    assert KEY[:8] not in payload
    assert KEY[-8:] not in payload
