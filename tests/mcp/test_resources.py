"""Threads and artifacts as resources: listed and read a page at a time, by their user alone."""

from __future__ import annotations

import json

import pytest
from agent_memory import Memory

from tests.mcp.steps import Host
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("C11")


def test_a_host_finds_a_conversation_and_a_text(ana: Host) -> None:
    ana.call("add_messages", thread_id="trip", messages=[{"role": "user", "content": "Off to Bergen."}])
    key = ana.call("store_memory", content="line 1\n", description="build log", type="log")["memory_key"]
    thread, artifact = ana.resources()
    assert (thread.name, thread.mime_type) == ("trip", "application/json")
    [content] = ana.read(thread.uri)
    [message] = json.loads(content.text)["messages"]
    assert (message["seq"], message["content"]) == (0, "Off to Bergen.")
    assert (artifact.name, artifact.title) == (key, "build log")
    assert [content.text for content in ana.read(artifact.uri)] == ["line 1\n"]
    templates = ana.ask("list_resource_templates").resource_templates
    assert [template.name for template in templates] == ["thread", "artifact"]


def test_long_lists_and_long_resources_come_in_pages(ana: Host, shared_api: Api) -> None:
    memory = Memory(shared_api.connection)
    for number in range(103):
        memory.add_message("ana", f"talk {number}", "user", "x")
        memory.store_artifact("ana", f"text {number}", key=f"key-{number}")
    name = "über/uns? 100% #1"
    memory.add_messages("ana", name, [{"role": "user", "content": f"message {number}"} for number in range(450)])
    text = "".join(f"{number} ä\n" for number in range(30_000))
    memory.store_artifact("ana", text, key="long:log/1#a", description="a long log")

    listed = ana.resources()
    found = {resource.name: resource for resource in listed}
    assert {f"talk {number}" for number in range(103)} | {f"key-{number}" for number in range(103)} <= found.keys()
    assert len(found) == len(listed)
    assert "450 messages" in found[name].description

    uri: str | None = found[name].uri
    numbers: list[int] = []
    while uri is not None:
        page, *more = ana.read(uri)
        numbers = [message["seq"] for message in json.loads(page.text)["messages"]] + numbers
        uri = more[0].uri if more else None
    assert numbers == list(range(450))

    uri, read = found["long:log/1#a"].uri, ""
    while uri is not None:
        page, *more = ana.read(uri)
        read += page.text
        uri = more[0].uri if more else None
        assert len(page.text.encode()) <= 100_004
    assert read == text


def test_what_is_not_there_or_of_another_user_is_an_error_of_the_caller(ana: Host, shared_api: Api) -> None:
    memory = Memory(shared_api.connection)
    memory.add_message("ana", "there", "user", "x")
    memory.store_artifact("bob", "x", key="key-of-bob")
    memory.add_message("bob", "of bob", "user", "x")
    for uri in (
        "agent-memory://threads/of%20bob",
        "agent-memory://artifacts/key-of-bob",
        "agent-memory://users/bob",
        "agent-memory://threads/",
        "agent-memory://threads/there?before=abc",
        "agent-memory://artifacts/there?from_token=-1",
        "agent-memory://bob@threads/there",
        "agent-memory://[/x",
        "file:///etc/passwd",
    ):
        error = ana.error("read_resource", uri)
        assert (error.code, bool(error.data["hint"])) == (-32602, True), uri
    assert "cursor: is none" in str(ana.error("list_resources", cursor="threads:-1"))
