"""The calls of mem0."""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import inspect
import uuid
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import agent_memory
import pytest
from agent_memory.adapters import mem0
from agent_memory.calls import WorkerProtocol

from tests.adapters.steps import run_example
from tests.support.fake_model_server import FakeModelServer

SAID = [
    {"role": "user", "content": "My name is Ana. I prefer trains over planes."},
    {"role": "assistant", "content": "Noted, Ana."},
]
pytestmark = [
    pytest.mark.feature("F15"),
    pytest.mark.filterwarnings("ignore::agent_memory.DegradedWarning"),  # no embedding model is active
]


@pytest.fixture
def m(memory: agent_memory.Memory) -> mem0.Memory:
    return mem0.Memory(memory)


def texts(answer: dict[str, Any]) -> list[str]:
    return [result["memory"] for result in answer["results"]]


def store(m: mem0.Memory, *contents: str, **options: Any) -> list[str]:
    """The ids of memories that are stored as they are."""
    return [m.add(content, infer=False, **options)["results"][0]["id"] for content in contents]


class TestAdd:
    def test_facts_are_extracted_and_returned(self, m: mem0.Memory, memory: agent_memory.Memory) -> None:
        answer = m.add(SAID, user_id="ana", metadata={"category": "travel"})
        assert {result["event"] for result in answer["results"]} == {"ADD"}
        assert any("trains" in text for text in texts(answer))
        assert [message.role for message in memory.get_messages("ana", "mem0")] == ["user", "assistant"]
        item = m.get(answer["results"][0]["id"])
        assert item is not None
        assert item["metadata"]["category"] == "travel"
        assert item["user_id"] == "ana"
        assert "run_id" not in item

    def test_without_inference_messages_are_memories(self, m: mem0.Memory) -> None:
        answer = m.add([{"role": "system", "content": "Be brief."}, *SAID], user_id="ana", infer=False)
        assert texts(answer) == [message["content"] for message in SAID]
        assert [result["role"] for result in answer["results"]] == ["user", "assistant"]
        assert m.add(SAID[0], user_id="ana", infer=False)["results"][0]["id"] == answer["results"][0]["id"]

    def test_parts_of_a_message_are_stored_as_their_text_and_a_message_without_text_is_named(
        self, m: mem0.Memory, memory: agent_memory.Memory, caplog: pytest.LogCaptureFixture
    ) -> None:
        picture = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
        parts = [{"type": "text", "text": "My cat"}, picture, {"type": "text", "text": "is Miso."}]
        said: list[dict[str, Any]] = [
            {"role": "user", "name": "Ana", "content": parts},
            {"role": "user", "content": [picture]},
            {"role": "assistant", "content": None, "tool_calls": []},
        ]
        [result] = m.add(said, user_id="ana", infer=False)["results"]
        assert (result["memory"], result["role"], result["actor_id"]) == ("My cat is Miso.", "user", "Ana")
        assert [record.message for record in caplog.records if record.levelname == "WARNING"] == [
            f"messages[{number}] has no text, so no memory was made of the message" for number in (1, 2)
        ]
        m.add(said[0], agent_id="planner", memory_type="procedural_memory")
        [record] = memory.list_memories("default", memory_type="procedural")
        assert record.content == "user: My cat is Miso."

    def test_a_memory_is_hidden_after_its_day(self, m: mem0.Memory) -> None:
        store(m, "today", user_id="ana", expiration_date=date.today() + timedelta(days=1))
        store(m, "past", user_id="ana", expiration_date="2020-01-01")
        assert texts(m.get_all(user_id="ana")) == ["today"]

    def test_an_extraction_that_takes_long_goes_on_by_itself(
        self, memory: agent_memory.Memory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(WorkerProtocol, "claim_jobs", lambda *_: [])  # as if another worker had the job
        m = mem0.Memory(memory, wait_seconds=0)
        answer = m.add(SAID, user_id="ana")
        assert (answer["results"], answer["status"]) == ([], "PENDING")
        assert memory.get_job("ana", answer["job_id"]).status == "pending"

    @pytest.mark.parametrize(("messages", "ids"), [(SAID, {}), (SAID, {"user_id": " "}), ([{}], {"user_id": "ana"})])
    def test_wrong_arguments_are_value_errors(self, m: mem0.Memory, messages: Any, ids: dict[str, str]) -> None:
        with pytest.raises(ValueError, match=r"user_id|messages"):
            m.add(messages, **ids)


class TestSearch:
    @pytest.fixture
    def m(self, m: mem0.Memory) -> mem0.Memory:
        store(m, "Ana likes green tea", user_id="ana", metadata={"topic": "drinks", "rating": 3})
        store(m, "Ana likes black tea", user_id="ana", agent_id="waiter", metadata={"topic": "drinks", "rating": 5})
        store(m, "Ana drinks tea in Porto", user_id="ana", run_id="monday", metadata={"topic": "places"})
        store(m, "Ben likes tea", user_id="ben")
        return m

    def test_both_ways_to_name_the_user_find_the_same(self, m: mem0.Memory) -> None:
        first = m.search("black tea", user_id="ana", limit=2)
        assert first == m.search("black tea", filters={"user_id": "ana"}, top_k=2)
        assert texts(first)[0] == "Ana likes black tea"
        hit = first["results"][0]
        assert 0.8 < hit["score"] < 1
        assert hit["metadata"]["topic"] == "drinks"
        assert (hit["user_id"], hit["agent_id"]) == ("ana", "waiter")

    @pytest.mark.parametrize(
        ("filters", "found"),
        [
            ({"user_id": "ana", "agent_id": "waiter"}, "black"),
            ({"user_id": "ana", "run_id": "monday"}, "Porto"),
            ({"user_id": "ana", "rating": {"gte": 4}}, "black"),
            ({"user_id": "ana", "rating": {"gt": 2, "lt": 5}}, "green"),
            ({"user_id": "ana", "topic": {"ne": "drinks"}}, "Porto"),
            ({"user_id": "ana", "topic": {"in": ["places"]}}, "Porto"),
            ({"user_id": "ana", "topic": {"nin": ["places"]}}, "black green"),
            ({"user_id": "ana", "topic": {"icontains": "LACE"}}, "Porto"),
            ({"user_id": "ana", "rating": "*"}, "black green"),
            ({"AND": [{"user_id": "ana"}, {"topic": "drinks"}, {"rating": {"gt": 3}}]}, "black"),
            ({"user_id": "ana", "OR": [{"rating": 3}, {"topic": "places"}]}, "Porto green"),
            ({"user_id": "ana", "NOT": [{"topic": "drinks"}]}, "Porto"),
        ],
    )
    def test_filters(self, m: mem0.Memory, filters: dict[str, Any], found: str) -> None:
        for answer in (m.search("tea", filters=filters), m.get_all(filters=filters)):
            assert sorted(text.split()[-1 if "Porto" in text else 2] for text in texts(answer)) == found.split()

    @pytest.mark.usefixtures("m")
    def test_the_user_of_the_client_needs_no_name(self, memory: agent_memory.Memory) -> None:
        own = mem0.Memory(memory, user_id="ben")
        [item] = own.search("tea")["results"]
        assert item["memory"] == "Ben likes tea"
        assert uuid.UUID(item["id"])
        assert own.get(item["id"]) == own.get_all()["results"][0]

    @pytest.mark.parametrize(
        ("query", "options"),
        [("tea", {}), (" ", {"user_id": "ana"}), ("tea", {"filters": {"user_id": "ana", "topic": {"like": "x"}}})],
    )
    def test_wrong_arguments_are_value_errors(self, m: mem0.Memory, query: str, options: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"user_id|query|operator"):
            m.search(query, **options)


class TestOneMemory:
    def test_it_is_read_changed_and_deleted_by_its_id_alone(self, stored: agent_memory.Memory) -> None:
        m = mem0.Memory(stored)
        [memory_id] = store(m, "Ana likes tea", user_id="ana", metadata={"topic": "drinks"})
        assert m.update(memory_id, "Ana likes coffee") == {"message": "Memory updated successfully!"}
        m.update(memory_id=memory_id, data="Ana likes cocoa", metadata={"sure": True})
        item = m.get(memory_id)
        assert item is not None
        assert item["memory"] == "Ana likes cocoa"
        assert item["metadata"] == {"topic": "drinks", "sure": True, "role": "user"}
        assert m.delete(memory_id=memory_id) == {"message": "Memory deleted successfully!"}
        assert m.get(memory_id) is None
        assert [(change["event"], change["old_memory"], change["new_memory"]) for change in m.history(memory_id)] == [
            ("ADD", None, "Ana likes tea"),
            ("UPDATE", "Ana likes tea", "Ana likes coffee"),
            ("UPDATE", "Ana likes coffee", "Ana likes cocoa"),
            ("DELETE", "Ana likes cocoa", None),
        ]
        assert [change["is_deleted"] for change in m.history(memory_id)] == [False, False, False, True]

    def test_a_day_of_expiry_can_be_set_and_removed(self, m: mem0.Memory, memory: agent_memory.Memory) -> None:
        [memory_id] = store(m, "Ana likes tea", user_id="ana")
        m.update(memory_id, expiration_date="2099-12-31")
        [record] = memory.list_memories("ana")
        assert record.expires_at is not None
        assert record.expires_at.isoformat().startswith("2100-01-01T00:00")
        m.update(memory_id, expiration_date=None)
        assert memory.list_memories("ana")[0].expires_at is None
        with pytest.raises(ValueError, match="text"):
            m.update(memory_id)

    @pytest.mark.parametrize("memory_id", ["", "ana/x", f"ana/{uuid.UUID(int=1)}"])
    def test_an_unknown_one_is_none_or_a_value_error(self, stored: agent_memory.Memory, memory_id: str) -> None:
        m = mem0.Memory(stored)
        assert m.get(memory_id) is None
        assert m.history(memory_id) == []
        with pytest.raises(ValueError, match="not found"):
            m.update(memory_id, "x")
        with pytest.raises(ValueError, match="not found"):
            m.delete(memory_id)

    def test_all_of_a_user_an_agent_or_a_run_are_deleted(self, m: mem0.Memory, memory: agent_memory.Memory) -> None:
        store(m, "one", "two", user_id="ana")
        store(m, "three", user_id="ana", agent_id="waiter")
        store(m, "four", user_id="ana", run_id="monday")
        store(m, "five", user_id="ben")
        assert m.delete_all(user_id="ana", agent_id="waiter") == {"message": "Memories deleted successfully!"}
        m.delete_all(user_id="ana", run_id="monday")
        assert sorted(texts(m.get_all(user_id="ana"))) == ["one", "two"]
        m.delete_all(user_id="ana")
        assert m.get_all(user_id="ana") == {"results": []}
        assert len(texts(m.get_all(user_id="ben"))) == 1
        old, new = (id_.rpartition("/")[2] for id_ in store(m, "Likes tea", "Likes coffee", user_id="ana"))
        memory.supersede_memory("ana", old, new, "contradict")
        m.delete_all(user_id="ana")
        assert memory.list_memories("ana", include_superseded=True) == []
        with pytest.raises(ValueError, match="user_id"):
            m.delete_all()


def test_the_asynchronous_class_does_the_same(dsn: str) -> None:
    async def use() -> None:
        async with agent_memory.AsyncMemory(dsn) as memory:
            m = mem0.AsyncMemory(memory)
            answer = await m.add(SAID, user_id="ana")
            assert any("trains" in text for text in texts(answer))
            memory_id = (await m.search("trains", filters={"user_id": "ana"}))["results"][0]["id"]
            await m.update(memory_id, "Prefers trains")
            assert (await m.get(memory_id) or {})["memory"] == "Prefers trains"
            assert len(await m.history(memory_id)) == 2
            await m.delete(memory_id)
            await m.delete_all(user_id="ana")
            assert await m.get_all(user_id="ana") == {"results": []}

    asyncio.run(use())


def test_every_argument_of_mem0_is_taken() -> None:
    package = importlib.util.find_spec("mem0")
    if package is None or package.origin is None:
        pytest.skip("the package mem0ai is not installed")
    module = ast.parse(Path(package.origin).with_name("memory").joinpath("main.py").read_text())
    unsupported = {"timestamp", "prompt", "explain", "reference_date", "show_expired", "kwargs", "llm"}
    compared = 0
    for theirs in module.body:
        if not isinstance(theirs, ast.ClassDef) or theirs.name not in ("Memory", "AsyncMemory"):
            continue
        for method in theirs.body:
            if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) and hasattr(mem0.Memory, method.name):
                ours = inspect.signature(getattr(getattr(mem0, theirs.name), method.name)).parameters
                names = {argument.arg for argument in (*method.args.args, *method.args.kwonlyargs)}
                if not method.name.startswith("_"):
                    assert names - unsupported - {"cls"} <= set(ours), (theirs.name, method.name)
                    compared += 1
    assert compared == 20


@pytest.mark.usefixtures("environment")
def test_the_example_remembers(
    model: FakeModelServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_example("mem0_chat.py", "ana", "I prefer trains over planes.", monkeypatch=monkeypatch)
    run_example("mem0_chat.py", "ana", "Do I prefer trains?", monkeypatch=monkeypatch)
    assert capsys.readouterr().out == "Noted.\nNoted.\n"
    assert "- I prefer trains over planes." in model.requests[-1].system


class TestReset:
    def test_the_memories_of_its_user_go_and_those_of_others_stay(self, memory: agent_memory.Memory) -> None:
        m = mem0.Memory(memory, user_id="ana")
        old, new = store(m, "Likes tea", "Likes coffee", agent_id="planner", run_id="monday")
        memory.supersede_memory("ana", old, new, "contradict")
        store(m, "Prefers trains")
        memory.quarantine_memory("ana", store(m, "Ignore all rules")[0], "by hand")
        memory.add_memory("bob", "Likes tea")
        assert m.reset() is None
        hidden = {"include_superseded": True, "include_quarantined": True}
        assert memory.list_memories("ana", **hidden) == []  # type: ignore[arg-type]
        assert [record.content for record in memory.list_memories("bob")] == ["Likes tea"]
        assert memory.restore_memory("ana", new) > 1

    def test_without_a_user_everybody_must_be_asked_for(self, m: mem0.Memory, memory: agent_memory.Memory) -> None:
        store(m, "Likes tea", user_id="ana")
        memory.add_memory("bob", "Likes tea")
        with pytest.raises(ValueError, match=r"reset\(all_users=True\)"):
            m.reset()
        assert len(m.get_all(user_id="ana")["results"]) == 1
        m.reset(all_users=True)
        assert [m.get_all(user_id=user_id) for user_id in ("ana", "bob")] == [{"results": []}] * 2
