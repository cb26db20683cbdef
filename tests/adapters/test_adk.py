"""Sessions and memory of Google ADK, beside its own services in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

import pytest
from agent_memory import AsyncMemory, Memory
from agent_memory.adapters.adk import AgentMemoryService, AgentMemorySessionService
from google.adk.agents import LlmAgent
from google.adk.errors import StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import BaseSessionService, InMemorySessionService, Session
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.tools.load_memory_tool import load_memory_tool
from google.genai.types import Blob, Content, FunctionCall, FunctionResponse, Part

pytestmark = [
    pytest.mark.feature("F36"),
    pytest.mark.filterwarnings("ignore::agent_memory.DegradedWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*EXPERIMENTAL.*"),
]
APP: dict[str, Any] = {"app_name": "trips", "user_id": "ana"}
MONDAY: dict[str, Any] = {**APP, "session_id": "monday"}


def said(text: str, author: str = "user", /, **state: Any) -> Event:
    content = Content(role="user" if author == "user" else "model", parts=[Part(text=text)])
    delta = {name.replace("__", ":"): value for name, value in state.items()}
    return Event(author=author, invocation_id="i", content=content, actions=EventActions(state_delta=delta))


def of_model(*parts: Part, **event: Any) -> Event:
    return Event(author="guide", invocation_id="i", content=Content(role="model", parts=list(parts)), **event)


CALLED = of_model(
    Part(text="hm", thought=True),
    Part(text="Let me see."),
    Part(function_call=FunctionCall(id="c1", name="weather", args={"city": "Porto", "day": None})),
    Part(function_call=FunctionCall(id="c2", name="weather", args={})),
    long_running_tool_ids={"c2"},
    branch="a.b",
)
RETURNED = Event(
    author="guide",
    content=Content(
        role="user",
        parts=[
            Part(function_response=FunctionResponse(id="c1", name="weather", response={"degrees": 18})),
            Part(function_response=FunctionResponse(id="c2", name="weather", response={"result": "rain"})),
        ],
    ),
)


def run(call: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(call)


@pytest.fixture
def service(stored: Memory) -> AgentMemorySessionService:
    return AgentMemorySessionService(stored)


@pytest.mark.parametrize(
    "events",
    [
        [said("How warm is it?"), CALLED, RETURNED, said("18 degrees.", "guide")],
        [of_model(Part(text="One"), Part(text="Two")), of_model(Part(text="")), of_model()],
        [of_model(Part(inline_data=Blob(data=b"\0a", mime_type="image/png")), Part(text="A photo"))],
        [Event(author="guide", error_code="STOP", error_message="no"), said("", k=None, j={"a": [1]})],
    ],
    ids=["tools", "texts", "image", "no text"],
)
def test_events_come_back_as_they_were_added(service: AgentMemorySessionService, events: list[Event]) -> None:
    async def keep() -> None:
        session = await service.create_session(**MONDAY)
        for event in events:
            assert await service.append_event(session, event) is event
        kept = await service.get_session(**MONDAY)
        assert kept == session
        assert kept is not None
        assert kept.events == events
        for number in range(len(events) + 2):
            some = await service.get_session(**MONDAY, config=GetSessionConfig(num_recent_events=number))
            assert some is not None
            assert some.events == events[max(0, len(events) - number) :]
        late = await service.get_session(**MONDAY, config=GetSessionConfig(after_timestamp=events[-1].timestamp))
        assert late is not None
        assert late.events == [event for event in events if event.timestamp >= events[-1].timestamp]

    run(keep())


def test_the_database_knows_texts_calls_and_results(service: AgentMemorySessionService, stored: Memory) -> None:
    async def keep() -> None:
        session = await service.create_session(**MONDAY)
        for event in (said("How warm is it?"), CALLED, RETURNED):
            await service.append_event(session, event)

    run(keep())
    messages = stored.get_messages("ana", "trips/monday")
    assert [(message.role, message.content, message.agent_id) for message in messages] == [
        ("user", "How warm is it?", "trips"), ("assistant", "Let me see.", "trips"),
        ("tool", '{"degrees": 18}', "trips"), ("tool", '{"result": "rain"}', "trips"),
    ]  # fmt: skip
    sent = stored.get_context("ana", "trips/monday").to_openai()
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool"]


Script = Callable[[BaseSessionService], Coroutine[Any, Any, Any]]


async def scopes(service: BaseSessionService) -> Any:
    state = {"city": "Porto", "user:name": "Ana", "app:version": 1, "temp:x": 1}
    monday = await service.create_session(**MONDAY, state=state)
    tuesday = await service.create_session(**APP, session_id="tuesday", state={"city": "Faro"})
    await service.append_event(monday, said("Hi", city="Oslo", user__age=30, app__version=2, temp__y=2, gone=None))
    shown: list[Any] = [dict(monday.state), monday.events[-1].actions.state_delta, dict(tuesday.state)]
    for session_id in ("monday", "tuesday"):
        kept = await service.get_session(**APP, session_id=session_id)
        shown.append(kept and kept.state)
    bob = await service.create_session(app_name="trips", user_id="bob")
    other = await service.create_session(app_name="other", user_id="ana")
    return [*shown, bob.state, other.state, await service.get_user_state(**APP)]


async def lists(service: BaseSessionService) -> Any:
    for user_id, session_id in (("ana", "a/b"), ("ana", " b "), ("bob", "c")):
        session = await service.create_session(app_name="trips", user_id=user_id, session_id=session_id)
        await service.append_event(session, said(f"I am {user_id}", user__n=user_id))
        await asyncio.sleep(0.01)
    await service.create_session(app_name="trips/a", user_id="ana", session_id="b")
    shown: list[Any] = []
    for listed in ("ana", "bob", "cleo", None):
        found = await service.list_sessions(app_name="trips", user_id=listed)
        shown += [(each.user_id, each.id, each.state, each.events) for each in found.sessions]
    await service.delete_session(app_name="trips", user_id="ana", session_id="b")
    await service.delete_session(app_name="trips", user_id="ana", session_id="b")
    left = await service.list_sessions(app_name="trips", user_id="ana")
    gone = await service.get_session(app_name="trips", user_id="ana", session_id="b")
    return [*shown, [each.id for each in left.sessions], gone]


async def repeats(service: BaseSessionService) -> Any:
    session = await service.create_session(**MONDAY)
    event = said("Hi", n=1)
    for _ in range(2):
        await service.append_event(session, event)
    await service.append_event(session, said("Hi again", n=2).model_copy(update={"partial": True}))
    kept = await service.get_session(**MONDAY)
    return kept and ([each.content for each in kept.events], kept.state)


@pytest.mark.parametrize("script", [scopes, lists, repeats])
def test_state_lists_and_repeats_are_as_in_adks_own_service(stored: Memory, script: Script) -> None:
    assert run(script(AgentMemorySessionService(stored))) == run(script(InMemorySessionService()))


def test_a_session_is_made_once_and_needed_to_append(service: AgentMemorySessionService, stored: Memory) -> None:
    async def keep() -> None:
        session = await service.create_session(**MONDAY)
        with pytest.raises(AlreadyExistsError, match="Session with id monday already exists"):
            await service.create_session(**MONDAY)
        await service.delete_session(**MONDAY)
        with pytest.raises(SessionNotFoundError, match="Session monday not found"):
            await service.append_event(session, said("Hi"))
        stored.add_message("ana", "trips/other", "user", "Hi")  # a thread that is no session
        assert await service.get_session(**APP, session_id="other") is None

    run(keep())


def test_who_appends_to_a_session_that_others_went_on_with_is_told(service: AgentMemorySessionService) -> None:
    async def keep() -> None:
        first = await service.create_session(**MONDAY)
        second = await service.get_session(**MONDAY)
        assert second is not None
        await service.append_event(first, said("Hi", n=1))
        for event in (said("Hello", n=2), said("Hi", n=2)):  # the second has the same text as what is there
            with pytest.raises(StaleSessionError):
                await service.append_event(second, event)
        by_hand = Session(**first.model_dump())
        await service.append_event(by_hand, said("Go on", n=3))
        with pytest.raises(StaleSessionError):
            await service.append_event(Session(**first.model_dump()), said("Go on", n=4))
        kept = await service.get_session(**MONDAY)
        assert kept is not None
        assert [event.content.parts[0].text for event in kept.events] == ["Hi", "Go on"]  # type: ignore[union-attr,index]
        assert kept.state == {"n": 3}

    run(keep())


def test_sessions_at_once_lose_no_state_and_one_object_may_be_shared(dsn: str) -> None:
    async def keep() -> None:
        async with AsyncMemory(dsn) as stored:
            service = AgentMemorySessionService(stored)
            sessions = [await service.create_session(**APP) for _ in range(4)]
            await asyncio.gather(
                *(
                    service.append_event(session, said(f"{place} {turn}", "user", **{f"user__{place}_{turn}": turn}))
                    for turn in range(3)
                    for place, session in enumerate(sessions)
                )
            )
            assert len(await service.get_user_state(**APP)) == 12
            for session in sessions:
                kept = await service.get_session(**APP, session_id=session.id)
                assert kept is not None
                assert (len(kept.events), kept.events) == (3, session.events)

    run(keep())


def test_state_of_an_event_whose_process_ended_is_not_lost(
    service: AgentMemorySessionService, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ended(*_: Any) -> Any:
        raise KeyboardInterrupt

    async def keep() -> Any:
        session = await service.create_session(**MONDAY)
        with monkeypatch.context() as patch:
            patch.setattr(service, "_settled", ended)
            with pytest.raises(KeyboardInterrupt):
                await service.append_event(session, said("Hi", n=1, user__name="Ana"))
        kept = await service.get_session(**MONDAY)
        return kept and kept.state

    assert run(keep()) == {"n": 1, "user:name": "Ana"}


def test_what_was_said_is_found_in_its_application_and_may_be_deleted(stored: Memory) -> None:
    memories = AgentMemoryService(stored)
    session = Session(app_name="trips", user_id="ana", id="s", events=[said("I prefer trains."), CALLED])

    async def keep() -> None:
        for _ in range(2):  # a session may be added again
            await memories.add_session_to_memory(session)
        await memories.add_events_to_memory(**APP, events=[said("I live in Porto.")], custom_metadata={"from": "mail"})
        entry = MemoryEntry(content=Content(parts=[Part(text="Allergic to nuts")]), author="doctor")
        await memories.add_memory(**APP, memories=[entry])
        [found] = (await memories.search_memory(**APP, query="trains")).memories
        assert (found.content.parts[0].text, found.author) == ("I prefer trains.", "user")  # type: ignore[index]
        assert found.timestamp is not None
        [allergy] = (await memories.search_memory(**APP, query="nuts")).memories
        assert allergy.author == "doctor"
        assert not (await memories.search_memory(app_name="other", user_id="ana", query="trains")).memories
        assert not (await memories.search_memory(**APP, query=" ")).memories
        for each in (found, allergy):
            await memories.delete_memory(**APP, memory_id=each.id)
        await memories.delete_memory(**APP)
        assert not (await memories.search_memory(**APP, query="trains nuts")).memories
        with pytest.raises(ValueError, match="memory_id: summary:1"):
            await memories.delete_memory(**APP, memory_id="summary:1")

    run(keep())
    assert [message.content for message in stored.get_messages("ana", "trips/s")] == ["Let me see."]
    assert stored.get_messages("ana", "trips/events")[0].metadata["from"] == "mail"


class Scripted(BaseLlm):
    """A model that first looks into its memory."""

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002
    ) -> AsyncGenerator[LlmResponse, None]:
        asked = FunctionCall(name="load_memory", args={"query": "trains"})
        part = Part(text="By train.") if _has_result(llm_request) else Part(function_call=asked)
        yield LlmResponse(content=Content(role="model", parts=[part]))


def _has_result(request: LlmRequest) -> bool:
    return any(part.function_response for content in request.contents for part in content.parts or [])


def test_an_agent_of_adk_goes_on_with_its_session_and_remembers(dsn: str) -> None:
    async def converse() -> None:
        async with AsyncMemory(dsn) as stored:
            agent = LlmAgent(name="guide", model=Scripted(model="m"), tools=[load_memory_tool], output_key="answer")
            sessions, memories = AgentMemorySessionService(stored), AgentMemoryService(stored)
            await memories.add_events_to_memory(**APP, events=[said("I prefer trains over planes.")])
            await sessions.create_session(**MONDAY)
            runner = Runner(app_name="trips", agent=agent, session_service=sessions, memory_service=memories)
            asked = Content(role="user", parts=[Part(text="How do I travel?")])
            events: list[Any] = [
                e async for e in runner.run_async(user_id="ana", session_id="monday", new_message=asked)
            ]
            assert events[-1].content.parts[0].text == "By train."
            [remembered] = events[1].content.parts[0].function_response.response["result"].memories
            assert remembered.content.parts[0].text == "I prefer trains over planes."
            kept = await sessions.get_session(**MONDAY)
            assert kept is not None
            assert [event.id for event in kept.events[1:]] == [event.id for event in events]
            assert kept.state == {"answer": "By train."}

    run(converse())
