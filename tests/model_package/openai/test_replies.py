"""The shape of replies that models are asked for, and replies that are refused."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from agent_memory_models import ModelError, Models, RateLimitedError

from tests.model_package.openai.steps import CHAT_KINDS, chat, completion, every_kind, found
from tests.support.fake_model_server import (
    DROPPED,
    HUGE,
    INVALID_JSON,
    TRUNCATED_JSON,
    WRONG_SCHEMA,
    Behaviour,
    FakeModelServer,
)
from tests.support.model_payloads import (
    Json,
    consolidation,
    extract,
    extraction,
    reconciliation,
    run,
    summarize,
    talk,
    users,
)


# The shape of replies
@pytest.mark.parametrize("kind", CHAT_KINDS)
def test_a_reply_is_asked_for_by_a_strict_schema(fake: FakeModelServer, kind: str) -> None:
    payload = every_kind(chat(fake))[kind]
    run(kind, payload)
    wanted = fake.requests[0].body["response_format"]
    assert (wanted["type"], wanted["json_schema"]["strict"]) == ("json_schema", True)
    assert wanted["json_schema"]["name"] == payload["prompt"]["name"] == kind

    def check(node: Json) -> None:
        allowed = {"type", "enum", "anyOf", "items", "properties", "required", "additionalProperties"}
        assert set(node) <= allowed | {"maxLength", "maxItems", "minItems", "minimum", "maximum"}
        assert node.get("type") != "array" or node["maxItems"] <= 50
        if "properties" in node:
            assert node["required"] == list(node["properties"])
            assert node["additionalProperties"] is False
        for child in [*node.get("properties", {}).values(), *node.get("anyOf", []), *filter(None, [node.get("items")])]:
            check(child)

    check(wanted["json_schema"]["schema"])


def test_the_schema_names_the_types_to_choose_from(fake: FakeModelServer) -> None:
    extract(users("a"), chat(fake))
    schema = fake.requests[0].body["response_format"]["json_schema"]["schema"]
    memory = schema["properties"]["memories"]["items"]["properties"]
    assert memory["memory_type"]["enum"] == ["fact", "preference"]
    assert memory["event_time"] == {"anyOf": [{"type": "string", "maxLength": 32}, {"type": "null"}]}


FORMATS: dict[tuple[str, ...], list[str | None]] = {
    (): ["json_schema", "json_schema"],
    ("json_schema",): ["json_schema", "json_schema", "json_object", "json_object"],
    ("json_schema", "json_object"): ["json_schema", "json_schema", "json_object", None, None],
}
"""What a server is asked for in two calls, by the formats that it refuses."""


@pytest.mark.parametrize("refuses", FORMATS)
@pytest.mark.parametrize(
    ("kind", "status"),
    [("extract_memories", 400), ("summarize_thread", 422), ("consolidate", 500)],
)
def test_a_server_without_schemas_is_asked_otherwise_and_remembered(
    fake: FakeModelServer, kind: str, status: int, refuses: tuple[str, ...]
) -> None:
    formats = FORMATS[refuses]
    fake.behaviour = lambda request: Behaviour(status=status if request.format in refuses else 200)
    payload = every_kind(chat(fake))[kind]
    calls: list[Json] = []

    async def twice() -> list[Json]:
        async with Models() as models:
            return [await models.run(kind, payload, calls) for _ in range(2)]

    first, second = asyncio.run(twice())
    assert {**first, "generation_time_ms": 0} == {**second, "generation_time_ms": 0}
    assert [request.format for request in fake.requests] == formats
    failed = len(formats) - 2
    assert [bool(call["error"]) for call in calls] == [*[True] * failed, False, False]
    assert [call["tokens_in"] is None for call in calls] == [*[True] * failed, False, False]


def test_only_servers_that_write_by_a_grammar_are_told_of_bounds(fake: FakeModelServer) -> None:
    def memory(request: int) -> Json:
        schema: Json = fake.requests[request].body["response_format"]["json_schema"]["schema"]
        return dict(schema["properties"]["memories"]["items"]["properties"])

    fake.next_behaviours = [Behaviour(status=400)]
    extract(users("a", "b", first=7), chat(fake))
    bounded, strict = memory(0), memory(1)
    assert next(iter(bounded)) == next(iter(strict)) == "seqs"  # the evidence, before what is said on it
    assert (bounded["seqs"]["maxItems"], bounded["subject"]["maxLength"], bounded["confidence"]["maximum"]) == (
        10,
        100,
        1,
    )
    assert bounded["seqs"]["items"] == {"type": "integer", "minimum": 7, "maximum": 8}  # of the messages that it reads
    assert "maxItems" not in strict["seqs"]
    assert strict["seqs"]["items"] == {"type": "integer"}
    assert "maxLength" not in strict["subject"]


@pytest.mark.parametrize(
    ("json_mode", "format"),
    [("schema", "json_schema"), (None, "json_schema"), ("object", "json_object"), (True, "json_object")],
)
def test_the_json_mode_is_a_setting(fake: FakeModelServer, json_mode: object, format: str) -> None:
    extract(users("a"), chat(fake, json_mode=json_mode, temperature=0.2))
    assert fake.requests[0].format == format
    assert fake.requests[0].body["temperature"] == 0.2


@pytest.mark.parametrize("json_mode", ["off", False])
def test_a_model_without_json_mode_may_wrap_its_object(fake: FakeModelServer, json_mode: object) -> None:
    fake.behaviour = Behaviour(answer='<think>{"hm"}</think>Sure:\n```json\n{"memories": []}\n```')
    assert extract(users("Hello."), chat(fake, json_mode=json_mode)) == []
    assert "response_format" not in fake.requests[0].body
    assert "Its JSON schema: {" in fake.requests[0].system


def test_an_unknown_json_mode_is_refused(fake: FakeModelServer) -> None:
    with pytest.raises(ModelError, match="json_mode must be one of schema, object, off"):
        extract(users("a"), chat(fake, json_mode="yaml"))


@pytest.mark.parametrize("status", [400, 500])
def test_a_server_that_has_answered_is_asked_once(fake: FakeModelServer, status: int) -> None:
    async def ask() -> None:
        payload = extraction(users("a"), chat(fake))
        async with Models() as models:
            fake.behaviour = Behaviour(status=status)
            for _ in range(2):
                with pytest.raises(ModelError, match=rf"^the server answered {status} \(fake\)$"):
                    await models.run("extract_memories", payload, [])
            assert [request.format for request in fake.requests] == [
                "json_schema",
                "json_schema",
                "json_object",
                None,
            ] * 2
            fake.requests.clear()
            fake.next_behaviours = [Behaviour()]
            await models.run("extract_memories", payload, [])
            with pytest.raises(ModelError):
                await models.run("extract_memories", payload, [])

    asyncio.run(ask())
    assert [request.format for request in fake.requests] == ["json_schema"] * 2  # what failed before is not remembered


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (INVALID_JSON, "the reply is invalid: JSON: it has no object.*name a larger model"),
        (TRUNCATED_JSON, "the reply is invalid: JSON: Invalid JSON"),
        (WRONG_SCHEMA, "memories: Field required"),
        (
            Behaviour(answer='{"memories": []}', finish_reason="length"),
            "cut off at its limit of 2000 tokens.*see the settings max_output_tokens",
        ),
        (Behaviour(answer="", finish_reason="content_filter"), "content filter withheld the reply"),
        (Behaviour(body=lambda body: body[:-9]), "not a chat completion"),
        (completion(content=None), "holds no text"),
        (completion(content=None, refusal="I must not."), "^the model refused to answer$"),
        (DROPPED, r"^no reply from 127\.0\.0\.1: RemoteProtocolError$"),
        (HUGE, "the reply is larger than 8 MiB"),
    ],
)
def test_an_unusable_reply_is_refused_whole_and_once(fake: FakeModelServer, behaviour: Behaviour, reason: str) -> None:
    fake.behaviour = behaviour
    calls: list[Json] = []
    with pytest.raises(ModelError, match=reason) as caught:
        run("extract_memories", extraction(users("I enjoy jazz."), chat(fake)), calls)
    assert not isinstance(caught.value, RateLimitedError)
    assert len(fake.requests) == 1
    assert [call["error"] for call in calls] == [str(caught.value)]


def test_no_kind_takes_a_bad_reply(fake: FakeModelServer) -> None:
    fake.behaviour = WRONG_SCHEMA
    for asked, kind in enumerate(CHAT_KINDS, 1):
        with pytest.raises(ModelError):
            run(kind, every_kind(chat(fake))[kind])
        assert len(fake.requests) == asked


LAYOUT = """## SUMMARY
They agreed on JWT.

They ship in May.

## TOPICS
authentication, JWT

## ENTITIES
John, UserService

## DECISIONS
- Use JWT with 1-hour expiration
- Ship {soon}

## QUESTIONS
None"""


@pytest.mark.feature("A9")
@pytest.mark.parametrize("heading", ["## SUMMARY", "**Summary:**"])
def test_a_summary_under_headings_is_understood(fake: FakeModelServer, heading: str) -> None:
    fake.behaviour = Behaviour(answer=LAYOUT.replace("## SUMMARY", heading))
    made = run("compress_thread", every_kind(chat(fake))["compress_thread"])
    assert made["summary"] == "They agreed on JWT.\n\nThey ship in May."
    assert made["metadata"] == {
        "topics": ["authentication", "JWT"],
        "entities": ["John", "UserService"],
        "decisions": ["Use JWT with 1-hour expiration", "Ship {soon}"],
        "questions": [],
    }


@pytest.mark.feature("A9")
def test_a_profile_in_plain_prose_is_understood(fake: FakeModelServer) -> None:
    fake.behaviour = Behaviour(answer="<think>Hm.</think>\nThey greeted each other, and no more.\n")
    made = run("summarize_user", every_kind(chat(fake))["summarize_user"])
    assert made["summary"] == "They greeted each other, and no more."


@pytest.mark.feature("A9", "F6")
def test_messages_do_not_give_way_to_plain_prose(fake: FakeModelServer) -> None:
    fake.behaviour = Behaviour(answer="This text has been merged with the previous summary.")
    with pytest.raises(ModelError, match="plain prose"):
        run("compress_thread", every_kind(chat(fake))["compress_thread"])


@pytest.mark.feature("D7")
@pytest.mark.parametrize(
    "answer", ["They said hello.\n\nThey left.", "## SUMMARY\nThey said hello.\nThey left.\n## TOPICS\nx"]
)
def test_a_rolling_summary_in_prose_rests_on_its_window(fake: FakeModelServer, answer: str) -> None:
    fake.behaviour = Behaviour(answer=answer)
    payload = every_kind(chat(fake))["summarize_thread"]
    first, second = run("summarize_thread", payload)["summary"].splitlines()
    assert first.endswith("They said hello.")
    assert second.endswith("They left.")
    assert str(payload["end_seq"]) in first


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        ([], "nothing about the messages of the window"),
        ([{"seqs": [0], "text": "old"}], "nothing about the messages of the window"),
        ([{"seqs": [5, 6], "text": "invented"}], "a seq that does not exist"),
        ([{"seqs": [5], "text": ""}], "at least 1 character"),
    ],
)
def test_an_unusable_summary_is_refused(fake: FakeModelServer, points: list[Json], reason: str) -> None:
    fake.behaviour = Behaviour(answer=json.dumps({"points": points}))
    with pytest.raises(ModelError, match=reason):
        summarize(talk(), 4, model=chat(fake))


@pytest.mark.feature("F6")
@pytest.mark.parametrize(
    "odd",
    ["x", None, {"seqs": [10**30]}, {"confidence": 95}],
)
def test_an_odd_item_is_handed_to_the_database_beside_the_others(fake: FakeModelServer, odd: Any) -> None:
    answer = json.loads(str(found({}, {}).answer))
    good, item = answer["memories"]
    item = {**item, **odd} if isinstance(odd, dict) else odd
    fake.behaviour = Behaviour(answer=json.dumps({"memories": [good, item]}))
    first, second = extract(users("I enjoy jazz."), chat(fake))
    assert first["content"] == good["content"]
    assert second == item


@pytest.mark.feature("F6")
def test_an_item_that_cannot_be_stored_is_none(fake: FakeModelServer) -> None:
    fake.behaviour = found({}, {"content": "a\0b"})
    assert extract(users("I enjoy jazz."), chat(fake))[1] is None


@pytest.mark.feature("E10", "C14")
@pytest.mark.parametrize("numbers", [[1, 9], "1, 2"])
def test_odd_numbers_are_handed_to_the_database(fake: FakeModelServer, numbers: Any) -> None:
    fake.behaviour = Behaviour(answer=json.dumps({"duplicates": [{"numbers": numbers}], "contradictions": []}))
    made = run("reconcile_memories", reconciliation("a", "b", "c", model=chat(fake)))
    assert made["duplicates"] == [{"numbers": numbers}]
    article = {"title": "t", "content": "c", "numbers": numbers}
    fake.behaviour = Behaviour(answer=json.dumps({"articles": [article]}))
    assert run("consolidate", consolidation("a", "b", "c", model=chat(fake)))["articles"] == [article]
