"""A long message of a tool is kept as an artifact on its way in, and its placeholder stands in the thread."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.artifacts.offload.steps import LOG, NPM, content_of, keys, rows, say
from tests.support.sqlapi import NO_WAIT, Api, refused

REF = "[MemoryRef: npm-install - npm install, added 512 packages in 9s, 2 warnings, 66 lines - {tokens} tokens]"
TOKENS = (len(LOG) + 3) // 4


@pytest.mark.feature("C1", "C2", "C3", "C4")
def test_a_long_output_becomes_an_artifact_and_a_line_that_a_person_would_write(api: Api) -> None:
    stored = say(api, metadata={**NPM, "duration_ms": 9123})
    ref = REF.format(tokens=TOKENS)
    text = f"Command 'npm install' ran for 9.1 s. Output: {ref}. Exit status 0."
    assert stored == (0, text, (len(text) + 3) // 4, ref)
    assert content_of(api, "npm-install") == content_of(api, ref) == LOG
    [row] = rows(api)
    assert (row.content, row.metadata, row.artifact_key) == (text, {**NPM, "duration_ms": 9123}, "npm-install")
    [thread] = api.list_threads(user_id="ana")
    assert (thread.message_count, thread.active_tokens) == (1, stored.token_count)
    [artifact] = api.list_artifacts(user_id="ana", thread_id="t1")
    assert artifact.metadata == {**NPM, "duration_ms": 9123}


def by_add_messages(api: Api) -> None:
    api.add_messages(user_id="ana", thread_id="t1", messages=[{"role": "tool", "content": LOG, "metadata": NPM}])


def by_keyed_messages(api: Api) -> None:
    message = {"role": "tool", "content": LOG, "metadata": NPM, "idempotency_key": "k"}
    first, second = api.add_messages(user_id="ana", thread_id="t1", messages=[message, message])
    assert first == second
    assert api.add_messages(user_id="ana", thread_id="t1", messages=[message]) == [first]


def by_insert(api: Api) -> None:
    api.query(
        "insert into memory.messages (user_id, thread_id, role, content, metadata, artifact_key, content_digest)"
        " values ('ana', 't1', 'tool', %(content)s, %(metadata)s, 'mine', 'mine') returning seq",
        content=LOG,
        metadata=json.dumps(NPM),
    )


def by_copy(api: Api) -> None:
    with api.connection.cursor().copy(
        "copy memory.messages (user_id, thread_id, role, content, metadata) from stdin"
    ) as to:
        to.write_row(("ana", "t1", "tool", LOG, json.dumps(NPM)))


@pytest.mark.feature("C1", "C2")
@pytest.mark.parametrize("way", [by_add_messages, by_keyed_messages, by_insert, by_copy])
def test_every_way_in_keeps_a_long_output_as_an_artifact(api: Api, way: Callable[[Api], None]) -> None:
    way(api)
    [row] = rows(api)
    ref = REF.format(tokens=TOKENS)
    assert row.content == f"Command 'npm install' ran. Output: {ref}. Exit status 0."
    assert (row.metadata, row.artifact_key, row.token_count) == (NPM, "npm-install", (len(row.content) + 3) // 4)
    assert content_of(api, "npm-install") == LOG
    assert api.list_threads(user_id="ana")[0].active_tokens == row.token_count


@pytest.mark.feature("C2")
def test_short_messages_and_other_roles_stay_as_they_are(api: Api) -> None:
    for role, content in (("tool", "x" * 2000), ("user", LOG), ("assistant", LOG), ("tool", " " * 5000)):
        stored = say(api, content, role)
        assert (stored.content, stored.memory_ref) == (content, None)
    assert keys(api) == []


@pytest.mark.feature("C2")
@pytest.mark.parametrize(
    ("settings", "role", "is_kept", "layer"),
    [
        ({"enabled": False}, "tool", False, {}),
        ({"threshold_tokens": 900}, "tool", False, {"agent_id": "coder"}),
        ({"roles": ["user", "agent"]}, "tool", False, {"user_id": "ana"}),
        ({"roles": ["user", "agent"]}, "user", True, {}),
        ({"roles": ["user", "agent"]}, "assistant", True, {"agent_id": "coder"}),
    ],
)
def test_the_policy_says_what_is_kept(
    api: Api, settings: dict[str, Any], role: str, is_kept: bool, layer: dict[str, str]
) -> None:
    api.set_policy(settings={"artifacts": settings}, **layer)
    assert (say(api, role=role, agent_id="coder").memory_ref is not None) == is_kept
    if layer:
        other = api.add_message(user_id="bob", thread_id="t1", role="tool", content=LOG, agent_id="cook")
        assert other.memory_ref is not None


@pytest.mark.feature("C3")
def test_keys_are_words_with_a_number(api: Api) -> None:
    for _ in range(5):
        say(api)
    assert keys(api) == ["npm-install", *(f"npm-install-{number}" for number in range(2, 6))]
    api.store_artifact(user_id="ana", content="mine", key="make-6")
    commands = {
        "cd /app && sudo make -j4 all": "make-j4-all",
        "PYTHONPATH=. python3 -m pytest -q tests/unit/test_models.py -k small": "python3-m-pytest-q-tests-unit",
        "読む": "text",
        "x" * 99: "x" * 32,
    }
    for command, key in commands.items():
        assert f"[MemoryRef: {key} - " in say(api, metadata={"command": command}).content


@pytest.mark.feature("C3")
def test_two_open_transactions_do_not_wait_for_each_others_keys(connect: Callable[..., psycopg.Connection]) -> None:
    one, two = Api(connect(options=NO_WAIT)), Api(connect(options=NO_WAIT))
    one.connection.execute("begin")
    two.connection.execute("begin")
    commands = [{"command": "ls"}, {"command": "df"}]
    first = [say(one, thread_id="t1", metadata=metadata).memory_ref for metadata in commands]
    second = [say(two, thread_id="t2", metadata=metadata).memory_ref for metadata in reversed(commands)]
    one.connection.execute("commit")
    two.connection.execute("commit")
    assert [ref.split()[1] for ref in (*first, *second)] == ["ls", "df", "df-2", "ls-2"]


@pytest.mark.feature("C2")
def test_an_idempotency_key_stores_a_long_output_once(api: Api) -> None:
    first = say(api, idempotency_key="k")
    assert say(api, idempotency_key="k") == first
    assert keys(api) == ["npm-install"]
    for other in (LOG + "x", first.content):
        with refused("idempotency_key", "23505"):
            say(api, other, idempotency_key="k")
    api.connection.execute("update memory.messages set expires_at = '2020-01-01'")
    api.sweep()
    assert say(api, idempotency_key="k").seq == first.seq
    with refused("idempotency_key", "23505"):
        say(api, LOG + "x", idempotency_key="k")


@pytest.mark.feature("C2")
def test_the_command_or_the_name_comes_from_the_call_of_the_tool(api: Api) -> None:
    def call(number: int, name: str, arguments: Any) -> dict[str, Any]:
        function = {"name": name, "arguments": arguments}
        calls = [{"id": f"call_{number}", "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    calls = [
        call(1, "bash", '{"command": "npm install"}'),
        call(2, "shell", '{"cmd": ["git", "log"]}'),
        call(3, "read_file", '{"path": "a.txt"}'),
        call(4, "odd", "{not json"),
    ]
    outputs = [{"role": "tool", "tool_call_id": f"call_{number}", "content": LOG} for number in (1, 2, 3, 4, 5)]
    for messages in ([*calls, *outputs], calls, outputs):
        stored = api.add_messages(user_id="ana", thread_id="t1", messages=messages)
        if messages is calls:
            continue
        starts = [message.content.partition("[")[0] for message in stored[-5:]]
        assert starts == [
            "Command 'npm install' ran. Output: ", "Command 'git log' ran. Output: ", "Output of read_file: ",
            "Output of odd: ", "Output: ",
        ]  # fmt: skip


@pytest.mark.feature("C2")
def test_the_parts_of_a_message_lose_the_long_text(api: Api) -> None:
    image = {"type": "image_url", "image_url": {"url": "https://a.org/b.png"}}
    parts = [{"type": "text", "text": LOG}, image, {"type": "text", "text": "The end."}]
    [stored] = api.add_messages(
        user_id="ana", thread_id="t1", messages=[{"role": "tool", "content": parts, "tool_call_id": "call_1"}]
    )
    [row] = rows(api)
    assert row.metadata == {"tool_call_id": "call_1", "content": [{"type": "text", "text": stored.content}, image]}
    assert content_of(api, row.artifact_key) == f"{LOG}\nThe end."


@pytest.mark.feature("C2")
def test_a_pasted_log_keeps_the_persons_own_words(api: Api) -> None:
    api.set_policy(settings={"artifacts": {"roles": ["user", "tool"]}})
    question = "Why does this fail?\nI ran it twice.", "What is wrong here?"
    stored = say(api, f"{question[0]}\n\n{LOG}\n\n{question[1]}", "user", metadata={})
    assert stored.content == f"{question[0]}\n\n{stored.memory_ref}\n\n{question[1]}"
    assert "added 512 packages" in stored.memory_ref
    assert content_of(api, stored.memory_ref) == f"{question[0]}\n\n{LOG}\n\n{question[1]}"
    long_line = say(api, "word " * 2000, "user", metadata={}).content
    assert (long_line[:10], len(long_line.partition("[")[0])) == ("word word ", 601)
