"""The tools themselves: their definitions for OpenAI, and calls of models that are executed for one user."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import psycopg
import pytest
from agent_memory import AsyncMemory, DegradedWarning, InvalidValueError, Memory
from agent_memory.tools import LISTED, TOOLS, AsyncMemoryTools, MemoryTools, Scope, Tool, openai_tools
from agent_memory.tools.notes import note_of
from openai.types.chat import ChatCompletionMessageFunctionToolCall
from openai.types.responses import ResponseFunctionToolCall

from tests.support.sqlapi import Api

pytestmark = [
    pytest.mark.feature("C11"),
    pytest.mark.filterwarnings("ignore::agent_memory.DegradedWarning"),  # there is no embedding model
]


@pytest.fixture
def memory(shared_api: Api) -> Memory:
    """A client of the module's database."""
    return Memory(shared_api.connection)


def said(tools: MemoryTools, name: str, **arguments: Any) -> str:
    """What a model reads after a call."""
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    answer = tools.execute(call)
    assert answer.keys() == {"role", "tool_call_id", "content"}
    assert (answer["role"], answer["tool_call_id"]) == ("tool", "call_1")
    text: str = answer["content"]
    return text


def result(tools: MemoryTools, name: str, **arguments: Any) -> Any:
    """The result of a call that succeeds, which fits the schema of the tool's results."""
    found = json.loads(said(tools, name, **arguments))
    jsonschema.validate(found, TOOLS[name].result_schema())
    return found


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_tool_calls_a_method_of_the_client_with_arguments_that_it_has(tool: type[Tool]) -> None:
    arguments = inspect.signature(getattr(Memory, tool.method)).parameters
    named = {tool.sent_as.get(name, name) for name in tool.model_fields} | {*tool.scoped, *tool.fixed}
    assert named - {"search_type"} <= arguments.keys()  # which SearchKnowledgeBase sends as doc_types
    required = {tool.sent_as.get(name, name) for name, field in tool.model_fields.items() if field.is_required()}
    needed = {name for name, argument in arguments.items() if argument.default is inspect.Parameter.empty}
    assert needed - {"self", "user_id", "thread_id"} <= required


def test_definitions_are_what_openai_takes_and_name_no_user(memory: Memory) -> None:
    for strict in (False, True):
        chat = openai_tools(strict=strict)
        for definition, flat in zip(chat, openai_tools(api="responses", strict=strict), strict=True):
            function = definition["function"]
            assert definition["type"] == "function"
            assert flat == {"type": "function", **function}
            assert len(function["description"]) > 40
            schema = function["parameters"]
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["additionalProperties"] is False
            assert not {"user_id", "agent_id"} & schema["properties"].keys()
            assert all("description" in part or "$ref" in part for part in schema["properties"].values())
            if strict:
                assert schema["required"] == list(schema["properties"])
                assert "default" not in json.dumps(schema)
    assert MemoryTools(memory, "ana", names=["forget", "search"]).definitions() == openai_tools(["forget", "search"])
    # Every request to a model carries the definitions: 8.4 kB, about 2,100 tokens, when this was written.
    assert len(json.dumps(openai_tools())) < 12_000
    with pytest.raises(InvalidValueError, match=r"there is no tool \"forgive\"(.|\n)*The tools are: search"):
        openai_tools(["forgive"])


def test_a_model_is_shown_one_tool_to_store_and_one_to_search(memory: Memory) -> None:
    tools = MemoryTools(memory, "ana-0", thread_id="t")
    shown = {tool["function"]["name"]: tool["function"] for tool in tools.definitions()}
    assert [name for name in shown if "search" in name] == ["search"]
    assert [name for name in shown if name.startswith(("store", "add_memory"))] == ["add_memory"]
    assert list(shown) == LISTED
    for name, function in shown.items():  # what one tool says of others is there
        unlisted = [other for other in TOOLS if other not in shown and other in function["description"]]
        assert unlisted == [], name
    assert [tool["function"]["name"] for tool in openai_tools(["store_memory"])] == ["store_memory"]  # asked for

    memory.add_document("ana-0", "How to brew green tea: 80 degrees.", "Tea")
    result(tools, "store_memory", content="green tea is sold out", description="log of the shop")
    result(tools, "add_memory", content="Ana likes green tea.")
    result(tools, "add_messages", messages=[{"role": "user", "content": "Where is my green tea?"}])
    assert {hit["source"] for hit in result(tools, "search", query="green tea")["results"]} == {
        "memory",
        "message",
        "document",
        "artifact",
    }
    assert "store_memory" not in said(tools, "forgive")


def test_each_kind_of_memory_that_a_model_is_offered_is_stored(memory: Memory) -> None:
    tools = MemoryTools(memory, "ana-kinds")
    kinds = re.findall('"([^"]+)"', TOOLS["add_memory"].model_fields["memory_type"].description or "")
    assert len(kinds) > 1
    for kind in kinds:
        assert result(tools, "add_memory", content=f"A {kind} about Ana.", memory_type=kind)["is_new"]
    assert [record.memory_type for record in memory.list_memories("ana-kinds")] == kinds[::-1]


def test_a_model_remembers_finds_corrects_and_forgets(memory: Memory) -> None:
    tools = MemoryTools(memory, "ana-1", agent_id="helper", thread_id="t")
    added = result(
        tools, "add_memory", content="Ana is allergic to peanuts.", tags=["food"], valid_from="2026-03-01T09:00:00Z"
    )
    assert added["is_new"]
    assert not result(tools, "add_memory", content="Ana is allergic to peanuts.")["is_new"]
    stored = memory.get_memory("ana-1", added["memory_id"])
    assert (stored.agent_id, stored.thread_id, stored.source) == ("helper", "t", "assistant")
    [hit] = result(tools, "search", query="peanuts allergic")["results"]
    assert (hit["source"], hit["id"]) == ("memory", added["memory_id"])
    assert hit["date"].startswith("2026-03-01")
    assert result(tools, "update_memory", memory_id=hit["id"], content="Ana is allergic to all nuts.") == {"version": 2}
    listed = result(tools, "list_memories", tags=["food"], limit=5)
    assert [memory["content"] for memory in listed["memories"]] == ["Ana is allergic to all nuts."]
    assert listed["total_count"] == 1
    assert result(tools, "forget", memory_id=hit["id"]) == {"forgotten": True}
    assert result(tools, "forget", memory_id=hit["id"]) == {"forgotten": False}
    assert result(tools, "list_memories") == {"memories": [], "total_count": 0}
    assert memory.restore_memory("ana-1", hit["id"]) > 2  # a model cannot destroy anything


def test_an_answer_says_what_it_lacks_in_words_of_a_model(memory: Memory) -> None:
    memory.add_memory("ana-note", "Ana likes tea.")
    memory.add_message("ana-note", "t", "user", "I like tea. " * 400)
    tools = MemoryTools(memory, "ana-note", thread_id="t")
    for _ in range(2):  # the client itself warns of a cause once
        for found in (result(tools, "search", query="tea"), result(tools, "search_memory", query="tea")):
            assert found["note"].startswith("Only words were compared, not meanings")
            assert "model" not in found["note"]
    note = result(tools, "get_context", query="tea", max_tokens=300)["note"]
    assert note.count("Something did not fit into the budget: raise max_tokens") == 1
    assert "note" not in result(tools, "list_memories")
    assert TOOLS["search"].result_schema()["properties"]["note"]["description"].startswith("What is missing")


def test_a_cause_that_this_version_does_not_know_is_passed_on() -> None:
    assert note_of([DegradedWarning("it rains", sqlstate="01AMZ")] * 2) == "it rains."


@pytest.mark.feature("A20", "C10")
def test_a_model_puts_texts_away_and_reads_them_in_parts(memory: Memory) -> None:
    tools = MemoryTools(memory, "ana-2")
    text = "".join(f"line {number} of the log: nothing to see ü\n" for number in range(1, 2001)) + "the disk is full\n"
    put = result(tools, "store_memory", content=text, description="log of the build", type="log")
    assert put["memory_ref"].startswith(f"[MemoryRef: {put['memory_key']} - log of the build - ")

    read, place = "", 0
    while place is not None:
        part = result(tools, "retrieve_memory", memory_key=put["memory_ref"], from_token=place)
        read, place = read + part["content"], part.get("next_from_token")
    assert read == text
    read, place = "", 1
    while place is not None:
        part = result(tools, "retrieve_memory", memory_key=put["memory_key"], from_line=place)
        read, place = read + part["content"], part.get("next_from_line")
    assert read == text
    assert result(tools, "retrieve_memory", memory_key=put["memory_key"], from_line=2, max_lines=1)["content"] == (
        "line 2 of the log: nothing to see ü\n"
    )
    shown = result(tools, "retrieve_memory", memory_key=put["memory_key"], words="disk full")
    assert "2001:the disk is full" in shown["content"]
    [found] = result(tools, "search_memory", query="disk full", limit=3)["results"]
    assert (found["memory_key"], found["description"]) == (put["memory_key"], "log of the build")
    assert "the disk is full" in found["passage"]


def test_a_model_keeps_a_conversation_and_goes_on_with_it(memory: Memory) -> None:
    tools = MemoryTools(memory, "ana-3")
    messages = [{"role": "user", "content": "I moved to Lisbon."}, {"role": "assistant", "content": "How is it?"}]
    assert result(tools, "add_messages", thread_id="moving", messages=messages) == {"first_seq": 0, "last_seq": 1}
    assert [thread["thread_id"] for thread in result(tools, "list_threads")["threads"]] == ["moving"]
    context = result(tools, "get_context", thread_id="moving", query="Lisbon")
    assert [part["content"] for part in context["messages"][-2:]] == ["I moved to Lisbon.", "How is it?"]
    assert said(tools, "get_context") == (
        "Error: thread_id: is missing, and no conversation is known to be going on\n"
        "Hint: Pass thread_id; list_threads shows which there are."
    )
    bound = MemoryTools(memory, "ana-3", thread_id="moving")
    assert result(bound, "get_context", query="Lisbon") == context


@pytest.mark.feature("A20")
def test_the_knowledge_base_is_searched_as_document_a_has_it(memory: Memory) -> None:
    memory.add_document("ana-4", "How to brew green tea: 80 degrees.", "Tea")
    memory.add_document("ana-4", "We discussed authentication by tokens.", "Chat", doc_type="conversation")
    tools = MemoryTools(memory, "ana-4")
    hits = result(
        tools, "search_knowledge_base", query="authentication discussion", search_type="conversations", limit=5
    )
    assert [hit["title"] for hit in hits["results"]] == ["Chat"]
    assert [hit["title"] for hit in result(tools, "search_knowledge_base", query="green tea")["results"]] == ["Tea"]
    listed = result(tools, "list_documents", doc_type="conversations", limit=10)
    assert [document["title"] for document in listed["documents"]] == ["Chat"]
    assert result(tools, "list_documents", offset=1)["total_count"] == 2


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("search", {}, "Error: query: is missing\nHint: search takes: query, limit?, sources?"),
        ("search", {"query": "x", "limit": 0}, "Error: limit"),
        ("search", {"query": "x", "user_id": "bob"}, "Error: user_id: there is no such argument\nHint: user_id is"),
        ("add_memory", {"content": "x", "valid_from": "2026-03-01T09:00:00"}, "Error: valid_from: input should have"),
        ("add_messages", {"messages": [{"role": "system", "content": "x"}]}, "Error: messages.0.role"),
        ("retrieve_memory", {"memory_key": "none"}, 'Error: memory_key: this user has no artifact "none"\nHint: It'),
        ("list_memories", {"limit": 20_000}, "Error: limit: 20000 is not between 1 and 10000"),
        ("forgive", {}, 'Error: there is no tool "forgive"\nHint: The tools are: search'),
    ],
)
def test_a_wrong_call_is_answered_with_what_helps(
    memory: Memory, name: str, arguments: dict[str, Any], error: str
) -> None:
    text = said(MemoryTools(memory, "ana-5"), name, **arguments)
    assert text.startswith(error)
    assert len(text) < 2000


def test_arguments_that_are_no_object_are_refused(memory: Memory) -> None:
    tools = MemoryTools(memory, "ana-5")
    for arguments in ("[1]", "{", "[" * 100_000):
        call = {"id": "c", "type": "function", "function": {"name": "search", "arguments": arguments}}
        assert tools.execute(call)["content"].startswith("Error: ")
    wrong_calls: list[Any] = [None, {"function": {}}]
    for wrong in wrong_calls:
        with pytest.raises(InvalidValueError, match="is no tool call"):
            tools.execute(wrong)


def test_a_model_reaches_its_user_only(memory: Memory) -> None:
    ana, bob = MemoryTools(memory, "ana-6"), MemoryTools(memory, "bob-6")
    key = result(ana, "store_memory", content="the secret of ana")["memory_key"]
    memory_id = result(ana, "add_memory", content="Ana has a secret.")["memory_id"]
    result(ana, "add_messages", thread_id="t", messages=[{"role": "user", "content": "secret"}])
    assert "this user has no artifact" in said(bob, "retrieve_memory", memory_key=key)
    assert result(bob, "forget", memory_id=memory_id) == {"forgotten": False}
    assert "Hint: search and list_memories show the ids" in said(bob, "update_memory", memory_id=memory_id, content="x")
    assert result(bob, "get_context", thread_id="t")["messages"] == []
    for name in ("search", "search_memory", "search_knowledge_base"):
        assert result(bob, name, query="secret")["results"] == []
    assert result(ana, "list_memories")["total_count"] == 1
    for user_id in ("  ", None):
        with pytest.raises(InvalidValueError, match="user_id"):
            Scope(user_id)  # type: ignore[arg-type]


def test_calls_of_both_apis_are_answered_also_by_the_asynchronous_toolbox(dsn: str) -> None:
    arguments = '{"content": "Ana likes tea."}'
    chat = ChatCompletionMessageFunctionToolCall.model_validate(
        {"id": "call_1", "type": "function", "function": {"name": "add_memory", "arguments": arguments}}
    )
    item = ResponseFunctionToolCall(type="function_call", call_id="call_2", name="list_memories", arguments="")

    async def run() -> None:
        async with AsyncMemory(dsn) as memory:
            tools = AsyncMemoryTools(memory, "ana")
            assert "add_memory" in tools
            assert "book_flight" not in tools
            answer = await tools.execute(chat)
            assert (answer["role"], answer["tool_call_id"]) == ("tool", "call_1")
            answer = await tools.execute(item)
            assert (answer["type"], answer["call_id"]) == ("function_call_output", "call_2")
            assert "Ana likes tea." in answer["output"]
            assert (await tools.execute(item.model_copy(update={"name": "x"})))["output"].startswith("Error: ")

    asyncio.run(run())


def test_what_a_model_cannot_mend_is_raised() -> None:
    with Memory("host=/nonexistent") as memory, pytest.raises(psycopg.OperationalError):
        said(MemoryTools(memory, "ana"), "list_memories")
