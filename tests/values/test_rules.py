"""Rules of rows are stated once: a fast expression accepts what is right, and leaves the rest to the rules."""

from __future__ import annotations

import json
import random
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.sqlapi import Api, refusal, refused

ANA = {"user_id": "ana", "thread_id": "t1"}
LONG = "é" * 256


MESSAGE: dict[str, Any] = {
    "user_id": "ana", "thread_id": "t1", "agent_id": "default", "role": "user", "content": "Hello", "metadata": {},
    "created_at": None, "idempotency_key": None,
}  # fmt: skip
CALL = {"tool_calls": [{"id": "1"}]}
# Of each column values that are allowed and values that are not.
MESSAGE_VALUES: dict[str, list[Any]] = {
    "user_id": ["ana", "x" * 255, "", LONG],
    "thread_id": ["t1", "", LONG],
    "agent_id": ["default", "", LONG],
    "role": ["user", "assistant", "tool", "system", "developer", "robot", "", None],
    "content": ["Hello", " ", "", None],
    "metadata": [{}, CALL, {"function_call": {}}, {"refusal": "no"}, {"audio": {}}, {"content": []}, {"a": 1}, [], 1],
    "created_at": [None, "2026-05-01", "infinity", "-infinity"],
    "idempotency_key": [None, "k", "x" * 255, "", LONG],
}
MEMORY: dict[str, Any] = {
    "user_id": "ana", "agent_id": "default", "thread_id": None, "source": "user", "content": "Likes tea",
    "embedding_text": None, "metadata": {}, "memory_type": "fact", "confidence": 1, "importance": 0.5,
    "valid_from": None, "valid_to": None, "tags": [], "operation": "insert", "quarantined_at": None,
    "quarantine_reason": None, "deleted_at": None,
}  # fmt: skip
MEMORY_VALUES: dict[str, list[Any]] = {
    "user_id": ["ana", "", LONG],
    "agent_id": ["default", "", LONG],
    "thread_id": [None, "t1", "", LONG],
    "source": ["user", "", LONG],
    "content": ["Likes tea", "", " \n", "x" * 262_145],
    "embedding_text": [None, "", "tea", "x" * 262_145],
    "metadata": [{}, {"a": 1}, [], "text"],
    "memory_type": ["fact", "episodic", "nonsense", "", None],
    "confidence": [1, 0, 1.1, "NaN", None],
    "importance": [1, 0, -0.1, "NaN", None],
    "valid_from": [None, "2026-05-01"],
    "valid_to": [None, "2026-04-01", "2026-06-01"],
    "operation": ["insert", "restore", "nonsense", "", None],
    "quarantined_at": [None, "2026-05-01"],
    "quarantine_reason": [None, "rule: x"],
    "deleted_at": [None, "2026-05-01", "infinity"],
    "tags": [[], ["a"], ["a", None], ["x" * 256], [["a"], ["b"]], [str(n) for n in range(101)]],
}


def spoiled(sound: dict[str, Any], values: dict[str, list[Any]], seed: int) -> dict[str, Any]:
    """A row in which up to three columns have another value, right or wrong."""
    chance = random.Random(seed)
    row = dict(sound)
    for column in chance.sample(list(values), chance.choice([0, 1, 1, 2, 3])):
        row[column] = chance.choice(values[column])
    return {name: Jsonb(value) if name == "metadata" else value for name, value in row.items()}


def outcome(api: Api, statement: str, row: dict[str, Any]) -> tuple[str, str] | None:
    """SQLSTATE and argument of the refusal; None when it is taken."""
    try:
        with api.connection.transaction():
            api.connection.execute(statement, row)
    except psycopg.Error as error:
        return refusal(error)
    return None


ARGUMENTS = ", ".join(
    f"%({name})s::{'jsonb' if name == 'metadata' else 'timestamptz' if name == 'created_at' else 'text'}"
    for name in MESSAGE
)
# The arguments as a row of messages.
GIVEN = f"""
    from (select {ARGUMENTS}) as c ({", ".join(MESSAGE)})
    cross join lateral jsonb_populate_record(null::memory.messages, to_jsonb(c)) as m
"""


@pytest.mark.feature("F20")
@pytest.mark.parametrize("seed", range(8))
def test_a_message_is_taken_where_the_rules_pass_and_nowhere_else(api: Api, seed: int) -> None:
    for number in range(100):
        row = spoiled(MESSAGE, MESSAGE_VALUES, 1000 * seed + number)
        problem = api.value(f"select memory._message_problem(m) {GIVEN}", **row)
        checked = problem and outcome(api, f"select memory._check_message(m) {GIVEN}", row)
        assert (checked and checked[1]) == problem, row
        inserted = outcome(api, f"insert into memory.messages ({', '.join(row)}) values ({ARGUMENTS})", row)
        assert inserted == checked, row
        names = ", ".join(f"{name} => %({name})s" for name in row)
        assert outcome(api, f"select memory.add_message({names})", row) == checked, row
        api.connection.execute("delete from memory.threads")


@pytest.mark.feature("F20")
@pytest.mark.parametrize("seed", range(4))
def test_a_memory_is_taken_where_the_rules_pass_and_nowhere_else(api: Api, seed: int) -> None:
    types = {"metadata": "jsonb", "tags": "text[]"}
    columns = ", ".join(f"%({name})s::{types.get(name, 'text')} as {name}" for name in MEMORY)
    check = f"""
        select memory._checked_memory(m, true)
        from (select {columns}) as c
        cross join lateral jsonb_populate_record(null::memory.memories, to_jsonb(c)) as m
    """
    placeholders = ", ".join(f"%({name})s" for name in MEMORY)
    insert = f"insert into memory.memories ({', '.join(MEMORY)}) values ({placeholders})"
    for number in range(100):
        row = spoiled(MEMORY, MEMORY_VALUES, 1000 * seed + number)
        assert outcome(api, insert, row) == outcome(api, check, row), row
        api.connection.execute("delete from memory.memories")


@pytest.mark.feature("F20")
@pytest.mark.parametrize(
    ("argument", "wrong"),
    [
        ("idempotency_key", {"idempotency_key": LONG}),
        ("created_at", {"created_at": "infinity"}),
        ("role", {"role": "robot"}),
        ("metadata", {"metadata": Jsonb([])}),
    ],
)
@pytest.mark.parametrize("part", ["tool_calls", "function_call", "refusal", "audio"])
def test_a_message_without_text_is_told_what_is_wrong_with_it(
    api: Api, part: str, argument: str, wrong: dict[str, Any]
) -> None:
    message = {"role": "assistant", "content": "", part: [{"id": "1"}], **wrong}
    with refused(argument):
        api.add_messages(
            **ANA, messages=[{**message, "metadata": wrong["metadata"].obj} if "metadata" in wrong else message]
        )
    if argument != "metadata":
        message = {"role": "assistant", "content": "", "metadata": Jsonb({part: [{"id": "1"}]}), **wrong}
        with refused(argument):
            api.add_message(**ANA, **message)
        assert api.add_message(**ANA, **{**message, **MESSAGE_FIX}).content == ""


MESSAGE_FIX = {"role": "assistant", "idempotency_key": "k", "created_at": "2026-05-01"}


@pytest.mark.feature("F20")
@pytest.mark.parametrize("position", [0, 3, 9])
def test_the_first_wrong_message_is_named(api: Api, position: int) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": str(number)} for number in range(10)]
    messages[position] = {"role": "assistant", "content": "", "tool_calls": [{"id": "1"}], "idempotency_key": LONG}
    if position < 9:
        messages[9] = {"role": "robot", "content": "x"}
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
@pytest.mark.parametrize("key", SETTINGS)
def test_the_hint_of_a_model_setting_is_that_of_its_rule(api: Api, key: str) -> None:
    sound, wrong, said = SETTINGS[key]
    model = {"name": "m", "kind": "embedding", "provider": "openai", "model": "e"}
    api.register_model(**model, settings={key: sound})
    with refused("settings") as raised:
        api.register_model(**model, settings={key: wrong})
    assert said in (raised.value.diag.message_hint or "")
    assert json.dumps(wrong) in (raised.value.diag.message_primary or "")


@pytest.mark.feature("F20")
def test_every_kind_of_job_can_be_claimed_by_name(api: Api) -> None:
    [definition] = api.query(
        "select pg_get_constraintdef(oid) as said from pg_constraint where conname = 'kind_is_known' "
        "and conrelid = 'memory.jobs'::regclass"
    )
    kinds = definition.said.partition("{")[2].partition("}")[0].split(",")
    assert len(kinds) >= 9
    for kind in kinds:
        assert api.claim_jobs(worker="w", kinds=[kind]) == []


@pytest.mark.feature("F20")
@pytest.mark.parametrize("number", range(60))
def test_a_search_is_refused_by_its_rules_alone(api: Api, number: int) -> None:
    chance = random.Random(number)
    values: dict[str, list[Any]] = {
        "user_id": ["ana", "", LONG],
        "mode": ["keyword", "fuzzy", None],
        "sources": [["memory"], ["memory", "message"], ["memory"] * 7, [], ["x"], None, "{{memory},{message}}"],
        "agent_id": [None, "a", ""],
        "thread_id": [None, "t", LONG],
        "top_k": [1, 1000, 0, 1001, None],
        "tags_any": [None, ["a"], ["a"] * 101],
        "filter": [None, Jsonb({}), Jsonb([])],
        "min_confidence": [None, 0.5, 1.5],
    }
    arguments = {name: options[0] for name, options in values.items()}
    for name in chance.sample(list(values), 2):
        arguments[name] = chance.choice(values[name])
    filters = ["thread_id", "tags_any", "filter", "min_confidence"]
    rest = [name for name in arguments if name not in filters]
    checked = outcome(
        api,
        f"""
        select memory._check_search({", ".join(f"p_{n} => %({n})s" for n in rest)}, p_min_score => null,
          p_min_relevance => null, p_filters => memory._filters({", ".join(f"p_{n} => %({n})s" for n in filters)}))
        """,
        arguments,
    )
    searched = outcome(
        api,
        f"select * from memory.search(query => 'tea', {', '.join(f'{n} => %({n})s' for n in arguments)})",
        arguments,
    )
    assert searched == checked
