"""Extraction to an agent's wishes: instructions, types with fields, and whose statements count (policy extraction)."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.model_package.openai.test_jobs import GOOD, SCHEMAS
from tests.support.model_payloads import run
from tests.support.protocol import activate, lease
from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.feature("F26")
THREAD = {"user_id": "ana", "thread_id": "t"}
ORDER = {
    "title": "Orders",
    "description": "What the user has ordered",
    "properties": {
        "item": {"type": "string"},
        "count": {"type": "integer"},
        "size": {"enum": ["small", "large"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "to": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
    "required": ["item"],
}


@pytest.fixture
def wanted(api: Api) -> Api:
    """An agent "shop" that wants orders, and nothing else."""
    activate(api)
    api.set_policy(
        agent_id="shop", settings=Jsonb({"extraction": {"instructions": "Note sizes.", "types": {"order": ORDER}}})
    )
    return api


def claimed(api: Api, agent_id: str = "shop") -> Any:
    api.add_message(**THREAD, agent_id=agent_id, role="user", content="Two large mugs to Porto, please")
    api.add_message(**THREAD, agent_id=agent_id, role="assistant", content="Your parcel has the number 7")
    api.extract_memories(**THREAD)
    [job] = api.claim_jobs(worker="w", kinds=["extract_memories"])
    return job


def complete(api: Api, job: Any, **memory: Any) -> list[Any]:
    made = {"content": "Ordered two mugs", "memory_type": "order", "seqs": [0], **memory}
    api.complete_job(**lease(job), result=Jsonb({"memories": [made]}))
    memories: list[Any] = api.list_memories(user_id="ana")
    return memories


def test_a_model_is_asked_for_the_types_and_by_the_instructions_of_its_agent_alone(wanted: Api) -> None:
    job = claimed(wanted)
    payload = job.payload
    assert payload["instructions"] == "Note sizes."
    assert payload["memory_types"] == [
        {"memory_type": "order", "description": "What the user has ordered", "fields": ORDER}
    ]
    [heading] = wanted.query("select heading, is_general from memory.memory_types where memory_type = 'order'")
    assert tuple(heading) == ("Orders", False)
    wanted.complete_job(**lease(job), result={"memories": []})
    payload = claimed(wanted, "helper").payload
    assert "instructions" not in payload
    types = [row["memory_type"] for row in payload["memory_types"]]
    assert types == ["fact", "preference", "context", "procedural", "episodic"]  # no summary of a conversation


def test_fields_come_back_in_the_metadata_and_are_filterable(wanted: Api) -> None:
    fields = {"item": "mug", "count": 2.0, "size": "large", "to": {"city": "Porto"}, "tags": None}
    [memory] = complete(wanted, claimed(wanted), fields=fields)
    fields.pop("tags")
    assert memory.metadata["fields"] == fields
    for found in ({"fields": {"item": "mug"}}, {"fields": {"to": {"city": "Porto"}}}):
        assert [m.memory_id for m in wanted.list_memories(user_id="ana", filter=Jsonb(found))] == [memory.memory_id]
        assert [m.id for m in wanted.search(user_id="ana", query="mugs", filter=Jsonb(found), sources=["memory"])] == [
            str(memory.memory_id)
        ]
    assert wanted.list_memories(user_id="ana", filter=Jsonb({"fields": {"item": "cup"}})) == []


@pytest.mark.parametrize("schema", SCHEMAS, ids=["pydantic", "strict mode"])
def test_schemas_that_others_write_are_taken_and_what_obeys_them_is_stored(wanted: Api, schema: dict[str, Any]) -> None:
    wanted.set_policy(agent_id="shop", settings=Jsonb({"extraction": {"types": {"order": schema}}}))
    [memory] = complete(wanted, claimed(wanted), fields=GOOD)
    obeyed = {"item": "mug", "count": 2, "kind": "order", "to": {"city": "Porto"}, "tags": []}
    assert memory.metadata["fields"] == obeyed


WRONG: list[dict[str, Any]] = [
    {"memory_type": "fact"},
    {"fields": {}},
    {"fields": {"item": 7}},
    {"fields": {"item": "mug", "count": 2.5}},
    {"fields": {"item": "mug", "size": "huge"}},
    {"fields": {"item": "mug", "size": ["small", "large"]}},
    {"fields": {"item": "mug", "tags": ["a", 1]}},
    {"fields": {"item": "mug", "to": {}}},
    {"fields": {"item": "mug", "price": 3}},
    {"fields": ["mug"]},
    {"fields": {"item": "m" * 20000}},
]


def test_memories_that_break_the_schema_are_refused_and_the_others_stay(wanted: Api) -> None:
    good = {"content": "Ordered two mugs", "memory_type": "order", "seqs": [0], "fields": {"item": "mug"}}
    bad = [{**good, "content": f"Ordered {number}", **wrong} for number, wrong in enumerate(WRONG)]
    job = claimed(wanted)
    wanted.complete_job(**lease(job), result=Jsonb({"memories": [*bad, good]}))
    assert [memory.content for memory in wanted.list_memories(user_id="ana")] == ["Ordered two mugs"]
    assert wanted.get_job(user_id="ana", job_id=job.job_id).result["refusals"] == {"malformed": len(WRONG)}


@pytest.mark.parametrize(
    ("roles", "said", "kept"),
    [
        (["user"], [1], False),
        (["user"], [0, 1], True),
        (["user", "assistant"], [1], True),
        (["assistant"], [0], False),
        (["assistant"], [1], True),
    ],
)
def test_whose_statements_count(wanted: Api, roles: list[str], said: list[int], kept: bool) -> None:
    wanted.set_policy(agent_id="shop", settings=Jsonb({"extraction": {"from_roles": roles}}))
    job = claimed(wanted)
    assert job.payload.get("from_roles", ["user"]) == roles
    memories = complete(wanted, job, seqs=said, fields={"item": "mug"})
    assert len(memories) == kept


ITEM: list[dict[str, Any]] = [
    {},
    {"type": "text"},
    {"type": []},
    {"type": ["string", "text"]},
    {"pattern": "x"},
    {"enum": []},
    {"enum": [{}]},
    {"const": []},
    {"anyOf": [{"type": "text"}]},
    {"type": "number", "minimum": "1"},
    {"$ref": "#/$defs/Item"},
    {"$ref": "https://localhost/item"},
    {"not": {"type": "string"}},
]


RECURSIVE = {"Item": {"type": "object", "properties": {"part": {"$ref": "#/$defs/Item"}}}}


UNKEPT: list[dict[str, Any]] = [
    {"instructions": ""},
    {"instructions": "x" * 10001},
    {"from_roles": []},
    {"from_roles": ["tool"]},
    {"types": ["order"]},
    {"types": {"": {}}},
    {"types": {"order": "x"}},
    {"types": {"order": {"type": "array"}}},
    {"types": {"order": {"required": ["item"]}}},
    {"types": {"order": {"additionalProperties": {"type": "string"}}}},
    {"types": {"order": {"properties": {"item": {"$ref": "#/$defs/Item"}}, "$defs": RECURSIVE}}},
    *({"types": {"order": {"properties": {"item": item}}}} for item in ITEM),
]


def test_a_policy_that_cannot_be_kept_is_refused(api: Api) -> None:
    for extraction in UNKEPT:
        with refused("settings"):
            api.set_policy(settings=Jsonb({"extraction": extraction}))


@pytest.mark.parametrize(
    ("extraction", "types"),
    [
        ({"types": {"preference": {}}}, ["preference"]),
        ({"from_roles": ["assistant"]}, []),
        ({"from_roles": ["user", "assistant"]}, ["fact", "preference"]),
    ],
)
def test_the_built_in_model_keeps_to_the_types_and_the_roles(
    api: Api, extraction: dict[str, Any], types: list[str]
) -> None:
    api.set_policy(settings=Jsonb({"extraction": extraction}))
    api.add_message(**THREAD, role="user", content="I like tea. I live in Porto.")
    api.extract_memories(**THREAD)
    [job] = api.claim_jobs(worker="w", kinds=["extract_memories"])
    made = run("extract_memories", job.payload)
    api.complete_job(**lease(job), result=Jsonb(made))
    assert sorted(memory.memory_type for memory in api.list_memories(user_id="ana")) == types
