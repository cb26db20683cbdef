"""The five endpoints of agents' memories."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
import pytest

from tests.http.steps import Serving, problem, token
from tests.support.sqlapi import Api

MEMBERS = ["id", "agent_id", "memory_type", "content", "metadata", "created_at", "updated_at", "expires_at"]


def path(agent: str = "", *rest: str) -> str:
    return "/".join(["/api/v1/agents", agent or f"agent-{uuid.uuid4()}", "memories", *rest])


def store(client: httpx.Client, where: str, content: str, **more: Any) -> dict[str, Any]:
    response = client.post(where, json={"memory_type": "fact", "content": content, **more})
    assert response.status_code == 200, response.text
    stored: dict[str, Any] = response.json()
    assert stored["success"] is True
    assert list(stored["memory"]) == MEMBERS
    return dict(stored["memory"])


@pytest.mark.feature("B14")
def test_what_is_stored_comes_back_whole(ana: httpx.Client) -> None:
    where = path("agent-abc")
    metadata = {"source": "conversation", "confidence": 0.95, "tags": ["communication"], "nested": {"ä": [1, None]}}
    memory = store(
        ana,
        where,
        "User prefers email",
        metadata=metadata,
        embedding_text="contact by mail",
        expires_at="2099-12-31T23:59:59Z",
    )
    assert (memory["agent_id"], memory["memory_type"], memory["content"]) == ("agent-abc", "fact", "User prefers email")
    assert memory["metadata"] == metadata
    assert memory["expires_at"] == "2099-12-31T23:59:59Z"
    listed = ana.get(where, params={"type": "fact", "search": "email", "limit": 50, "offset": 0}).json()
    assert listed == {"success": True, "memories": [memory], "total": 1, "count": 1}
    assert ana.get(where, params={"search": "by mail"}).json()["total"] == 1  # embedding_text is searched as well


@pytest.mark.feature("B14")
def test_the_same_content_again_takes_the_new_metadata(ana: httpx.Client) -> None:
    where = path()
    first = store(ana, where, "Likes tea", metadata={"source": "settings"})
    second = store(ana, where, "Likes tea", metadata={"source": "chat"})
    assert (second["id"], second["metadata"]) == (first["id"], {"source": "chat"})


@pytest.mark.feature("B14")
def test_pages_have_the_count_of_the_whole_match(ana: httpx.Client) -> None:
    where = path()
    for number in range(5):
        store(ana, where, f"Fact {number}")
    store(ana, where, "Likes green", memory_type="preference")
    page = ana.get(where, params={"type": "fact", "limit": 2, "offset": 1}).json()
    assert [each["content"] for each in page["memories"]] == ["Fact 3", "Fact 2"]
    assert (page["total"], page["count"]) == (5, 2)
    beyond = ana.get(where, params={"offset": 100}).json()
    assert beyond == {"success": True, "memories": [], "total": 6, "count": 0}


@pytest.mark.feature("B14")
def test_deleting_names_the_memory_and_finds_it_once(ana: httpx.Client) -> None:
    where = path()
    memory = store(ana, where, "Likes tea")
    problem(ana.delete(f"{path()}/{memory['id']}"), 404, "id")  # another agent's
    assert ana.delete(f"{where}/{memory['id']}").json() == {"success": True, "deleted": memory["id"]}
    assert problem(ana.delete(f"{where}/{memory['id']}"), 404, "id")["success"] is False
    problem(ana.delete(f"{where}/123"), 404, "id")


@pytest.mark.feature("B14", "B5")
def test_summarizing_extracts_facts_and_preferences(ana: httpx.Client) -> None:
    where = path("agent-s")
    messages = [
        {"role": "user", "content": "My name is Alice and I work at Google."},
        {"role": "assistant", "content": "Nice to meet you, Alice!"},
        {"role": "user", "content": "I prefer email over phone calls."},
    ]
    response = ana.post(f"{where}/summarize", json={"messages": messages})
    assert response.status_code == 200, response.text
    answer = response.json()
    assert (answer["success"], answer["extracted"]) == (True, 2)
    assert [(each["memory_type"], each["content"]) for each in answer["facts"]] == [
        ("fact", "My name is Alice and I work at Google."),
        ("preference", "I prefer email over phone calls."),
    ]
    listed = ana.get(where).json()["memories"]
    assert {each["id"] for each in listed} == {each["id"] for each in answer["facts"]}
    # The messages themselves are not kept: whoever keeps the conversation would find it twice.
    found = ana.post("/v1/search", json={"query": "Nice to meet you", "sources": ["message"]}).json()
    assert found == []
    more = [{"role": "user", "content": "My favorite colour is green."}]
    assert ana.post(f"{where}/summarize", json={"messages": more}).json()["extracted"] == 1
    nothing = [{"role": "user", "content": "What time is it?"}]
    assert ana.post(f"{where}/summarize", json={"messages": nothing}).json()["facts"] == []


@pytest.mark.feature("B14", "B6")
def test_cleanup_removes_what_has_expired(admin: httpx.Client, ana: httpx.Client, shared_api: Api) -> None:
    where = path()
    memory = store(ana, where, "Is over", expires_at="2024-12-31T23:59:59Z")
    assert (memory["content"], memory["expires_at"]) == ("Is over", "2024-12-31T23:59:59Z")
    assert ana.get(where).json()["total"] == 0
    rows = "select count(*) from memory.memories where memory_id = %(id)s"
    assert shared_api.value(rows, id=memory["id"]) == 1
    for client in (admin, ana):
        response = client.post(f"{where}/cleanup")
        assert response.json() == {"success": True, "message": "Cleanup completed"}
    assert shared_api.value(rows, id=memory["id"]) == 0


@pytest.mark.feature("B14")
def test_what_is_wrong_is_refused_by_the_name_it_has_there(ana: httpx.Client) -> None:
    bodies: dict[str, dict[str, Any]] = {
        "memory_type": {"memory_type": "rumour", "content": "x"},
        "content": {"memory_type": "fact", "content": 5},
        "expires_at": {"memory_type": "fact", "content": "x", "expires_at": "tomorrow"},
        "colour": {"memory_type": "fact", "content": "x", "colour": "red"},
    }
    for argument, body in bodies.items():
        said = problem(ana.post(path(), json=body), 422, argument)
        assert said["detail"].startswith(argument)
        assert said["hint"]
        assert said["success"] is False
    for query in ({"limit": "many"}, {"offset": -1}, {"kind": "fact"}):
        problem(ana.get(path(), params=query), 422, next(iter(query)))


@pytest.mark.feature("B14")
def test_memories_are_of_the_user_of_the_token_or_of_the_one_that_the_administrator_names(served: Serving) -> None:
    where = path()
    with served.client() as admin, served.client(token("eve")) as eve:
        own = store(admin, where, "Of nobody in particular")
        hers = store(eve, where, "Of Eve")
        assert [each["id"] for each in admin.get(where).json()["memories"]] == [own["id"]]
        assert admin.get(where, params={"user_id": "default"}).json()["total"] == 1
        assert [each["id"] for each in admin.get(where, params={"user_id": "eve"}).json()["memories"]] == [hers["id"]]
        assert eve.get(where, params={"user_id": "eve"}).json()["total"] == 1
        problem(eve.get(where, params={"user_id": "ana"}), 403, "user_id")
        problem(eve.delete(f"{where}/{own['id']}"), 404, "id")
