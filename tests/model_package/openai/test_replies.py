"""The shape of replies that models are asked for, and replies that are refused."""

from __future__ import annotations

import asyncio
import json

import pytest
from agent_memory_models import ModelError, Models, RateLimitedError

from tests.model_package.openai.steps import CHAT_KINDS, chat, completion, every_kind, found
from tests.support.fake_model_server import (
    DROPPED,
    HUGE,
    INVALID_JSON,
    SERVER_ERROR,
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
        assert set(node) <= {"type", "enum", "anyOf", "items", "properties", "required", "additionalProperties"}
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
    assert memory["event_time"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}


@pytest.mark.parametrize(
    ("refuses", "formats"),
    [
        ((), ["json_schema", "json_schema"]),
        (("json_schema",), ["json_schema", "json_object", "json_object"]),
        (("json_schema", "json_object"), ["json_schema", "json_object", None, None]),
    ],
)
@pytest.mark.parametrize("kind", CHAT_KINDS)
def test_a_server_without_schemas_is_asked_otherwise_and_remembered(
    fake: FakeModelServer, kind: str, refuses: tuple[str, ...], formats: list[str | None]
) -> None:
    fake.behaviour = Behaviour(refuses=refuses)
    payload = every_kind(chat(fake))[kind]
    calls: list[Json] = []

    async def twice() -> list[Json]:
        async with Models() as models:
            return [await models.run(kind, payload, calls) for _ in range(2)]

    first, second = asyncio.run(twice())
    assert {**first, "generation_time_ms": 0} == {**second, "generation_time_ms": 0}
    assert [request.format for request in fake.requests] == formats
    assert [bool(call["error"]) for call in calls] == [*[True] * len(refuses), False, False]
    assert [call["tokens_in"] is None for call in calls] == [*[True] * len(refuses), False, False]


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


def test_another_bad_request_is_not_asked_again(fake: FakeModelServer) -> None:
    fake.behaviour = Behaviour(status=400)
    with pytest.raises(ModelError, match=r"^the server answered 400 \(fake\)$"):
        extract(users("a"), chat(fake))
    assert len(fake.requests) == 1


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (INVALID_JSON, "the reply is invalid: JSON: Invalid JSON"),
        (TRUNCATED_JSON, "the reply is invalid: JSON: Invalid JSON"),
        (WRONG_SCHEMA, "memories: Field required"),
        (Behaviour(answer="{}"), "memories: Field required"),
        (Behaviour(answer='{"memories": {}}'), "memories: Input should be a valid"),
        (found({}, {"memory_type": "secret"}), r"memories\.1\.memory_type: Input should be 'fact' or 'preference'"),
        (found({}, {"seqs": []}), r"memories\.1\.seqs: List should have at least 1 item"),
        (found({}, {"seqs": [-1]}), r"memories\.1\.seqs\.0: Input should be greater than or equal to 0"),
        (found({}, {"seqs": [10**30]}), r"memories\.1\.seqs\.0: "),
        (found({}, {"content": "  "}), r"memories\.1\.content: String should have at least 1 character"),
        (found({}, {"content": "a\0b"}), "a NUL character cannot be stored"),
        (found({}, {"subject": "s" * 300}), r"memories\.1\.subject: String should have at most 255 characters"),
        (found({}, {"confidence": 1.5}), r"memories\.1\.confidence: Input should be less than or equal to 1"),
        (found({}, {"importance": None}), r"memories\.1\.importance: Input should be a valid number"),
        (found({}, {"event_time": "last summer"}), r"memories\.1\.event_time: "),
        (found({}, {"event_time": "2024-13"}), r"memories\.1\.event_time: "),
        (Behaviour(answer='{"memories": []}', finish_reason="length"), "cut off at the model's token limit"),
        (Behaviour(answer="", finish_reason="content_filter"), "content filter withheld the reply"),
        (Behaviour(body="<html>proxy</html>"), "not a chat completion"),
        (Behaviour(body=lambda body: body[:-9]), "not a chat completion"),
        (Behaviour(body='{"choices": []}'), "not a chat completion"),
        (completion(content=None), "holds no text"),
        (completion(content=None, refusal="I must not."), "^the model refused to answer$"),
        (DROPPED, r"^no reply from 127\.0\.0\.1: RemoteProtocolError$"),
        (HUGE, "the reply is larger than 8 MiB"),
        (Behaviour(status=500, body=" " * 10_000_000), "the reply is larger than 8 MiB"),
        (SERVER_ERROR, r"^the server answered 500 \(fake\)$"),
        (Behaviour(status=404), "404"),
        (Behaviour(status=307), "307.*; redirects are not followed"),
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


@pytest.mark.parametrize("kind", CHAT_KINDS)
@pytest.mark.parametrize(
    "behaviour", [Behaviour(answer=" "), TRUNCATED_JSON, WRONG_SCHEMA, HUGE, DROPPED, SERVER_ERROR]
)
def test_no_kind_takes_a_bad_reply(fake: FakeModelServer, kind: str, behaviour: Behaviour) -> None:
    fake.behaviour = behaviour
    with pytest.raises(ModelError):
        run(kind, every_kind(chat(fake))[kind])
    assert len(fake.requests) == 1


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
@pytest.mark.parametrize("heading", ["## SUMMARY", "**Summary:**", "SUMMARY:", "# Summary"])
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
@pytest.mark.parametrize("kind", ["compress_thread", "summarize_user"])
def test_a_summary_in_plain_prose_is_understood(fake: FakeModelServer, kind: str) -> None:
    fake.behaviour = Behaviour(answer="<think>Hm.</think>\nThey greeted each other, and no more.\n")
    assert run(kind, every_kind(chat(fake))[kind])["summary"] == "They greeted each other, and no more."


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


@pytest.mark.feature("E10")
@pytest.mark.parametrize(
    ("duplicates", "contradictions", "reason"),
    [
        ([[1, 9]], [], "number 9, which was not given"),
        ([], [[0, 1]], "number 0, which was not given"),
        ([[1, 2], [2, 3]], [], "number 2 twice"),
        ([[1, 1]], [], "at least two different numbers"),
        ([], [[1]], "at least two different numbers"),
    ],
)
def test_an_unusable_reconciliation_is_refused(
    fake: FakeModelServer, duplicates: list[list[int]], contradictions: list[list[int]], reason: str
) -> None:
    answer = {
        "duplicates": [{"numbers": numbers, "content": "merged"} for numbers in duplicates],
        "contradictions": [{"numbers": numbers} for numbers in contradictions],
    }
    fake.behaviour = Behaviour(answer=json.dumps(answer))
    calls: list[Json] = []
    with pytest.raises(ModelError, match=reason):
        run("reconcile_memories", reconciliation("a", "b", "c", model=chat(fake)), calls)
    assert calls[0]["tokens_out"] > 0


@pytest.mark.feature("C14")
@pytest.mark.parametrize("groups", [[[1]], [[1, 4]], [[1, 2], [2, 3]]])
def test_an_unusable_consolidation_is_refused(fake: FakeModelServer, groups: list[list[int]]) -> None:
    articles = [{"title": "t", "content": "c", "numbers": numbers} for numbers in groups]
    fake.behaviour = Behaviour(answer=json.dumps({"articles": articles}))
    with pytest.raises(ModelError, match="number"):
        run("consolidate", consolidation("a", "b", "c", model=chat(fake)))
