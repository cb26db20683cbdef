"""The message history of Pydantic AI."""

from __future__ import annotations

import pytest
from agent_memory import Memory
from agent_memory.adapters.pydantic_ai import AgentMemoryHistory
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

from tests.adapters.steps import calling, run, run_example, tool_call
from tests.support.fake_model_server import Behaviour, FakeModelServer

MONDAY = ("ana", "monday")
ASKED = ModelRequest(parts=[SystemPromptPart("Be brief."), UserPromptPart("How warm is it?")], instructions="Be kind.")
CALLED = ModelResponse(
    parts=[
        ThinkingPart("hm", signature="s"),
        TextPart("Let me see."),
        ToolCallPart("weather", {"city": "Porto"}, "c1"),
        ToolCallPart("weather", '{"city":  "Faro"}', "c2"),
        ToolCallPart("time", None, "c3"),
    ],
    usage=RequestUsage(input_tokens=5, output_tokens=7),
    model_name="m",
    provider_details={"a": 1},
)
RETURNED = ModelRequest(
    parts=[
        ToolReturnPart("weather", "18 degrees", "c1"),
        ToolReturnPart("weather", {"degrees": 19}, "c2"),
        ToolReturnPart("time", "", "c3", outcome="failed"),
        UserPromptPart("And now?"),
    ]
)
pytestmark = [
    pytest.mark.feature("F15"),
    pytest.mark.filterwarnings("ignore::agent_memory.DegradedWarning"),  # no embedding model is active
]


@pytest.fixture
def history(memory: Memory) -> AgentMemoryHistory:
    return AgentMemoryHistory(memory, *MONDAY)


class TestMessages:
    @pytest.mark.parametrize(
        "messages",
        [
            [ASKED, CALLED, RETURNED],
            [ModelResponse(parts=[TextPart("One"), TextPart("Two")])],
            [ModelResponse(parts=[])],
            [
                ModelRequest(
                    parts=[
                        UserPromptPart(
                            ["Look:", ImageUrl(url="http://x/y.png"), BinaryContent(b"\0a", media_type="image/png")]
                        )
                    ]
                )
            ],
            [ModelRequest(parts=[UserPromptPart("")])],
        ],
        ids=["tools", "two texts", "nothing", "image", "no text"],
    )
    def test_messages_come_back_as_they_were_added(
        self, history: AgentMemoryHistory, messages: list[ModelMessage]
    ) -> None:
        # A dump compares identifiers of images, which Pydantic AI makes when it needs them.
        dump = ModelMessagesTypeAdapter.dump_json
        assert dump(run(history.add(messages), history.messages())) == dump(messages)

    def test_the_database_knows_texts_calls_and_results(self, history: AgentMemoryHistory, memory: Memory) -> None:
        run(history.add([ASKED, CALLED, RETURNED]))
        assert [(message.role, message.content) for message in memory.get_messages(*MONDAY)] == [
            ("system", "Be brief."), ("user", "How warm is it?"), ("assistant", "Let me see."), ("tool", "18 degrees"),
            ("tool", '{"degrees": 19}'), ("tool", ""), ("user", "And now?"),
        ]  # fmt: skip
        sent = memory.get_context(*MONDAY).to_openai()
        assert [call["function"]["arguments"] for call in sent[2]["tool_calls"]] == [  # type: ignore[typeddict-item]
            '{"city": "Porto"}', '{"city":  "Faro"}', "{}",
        ]  # fmt: skip

    def test_messages_of_others_come_back_by_their_roles(self, history: AgentMemoryHistory, memory: Memory) -> None:
        call = tool_call("weather", {"city": "Porto"}, "c1")
        memory.add_messages(
            *MONDAY,
            [
                {"role": "user", "content": [{"type": "text", "text": "How warm"}, {"type": "text", "text": "is it?"}]},
                {"role": "assistant", "content": "Let me see.", "tool_calls": [call]},
                {"role": "tool", "content": "18", "tool_call_id": "c1"},
            ],
        )
        asked, called, returned = run(history.messages())
        assert asked.parts[0].content == "How warm\nis it?"
        assert [part.part_kind for part in called.parts] == ["text", "tool-call"]
        assert called.parts[1].args == '{"city": "Porto"}'
        assert (returned.parts[0].tool_name, returned.parts[0].content) == ("weather", "18")

    def test_calls_that_nothing_answers_are_not_sent(self, history: AgentMemoryHistory) -> None:
        asked = ModelRequest(parts=[UserPromptPart("Never mind.")])
        run(history.add([CALLED, asked]))
        called, last = run(history.context())
        assert [part.part_kind for part in called.parts] == ["thinking", "text"]
        assert last == asked


@pytest.mark.usefixtures("environment")
def test_the_example_goes_on_where_it_ended(
    model: FakeModelServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model.next_behaviours = [calling(tool_call("trains", {"city": "Porto"})), Behaviour(answer="At 9:12.")]
    run_example("pydantic_ai_agent.py", "ana", "monday", "Book the journey to Porto!", monkeypatch=monkeypatch)
    run_example("pydantic_ai_agent.py", "ana", "monday", "Thanks!", monkeypatch=monkeypatch)
    assert capsys.readouterr().out == "At 9:12.\nNoted.\n"
    assert "A train to Porto leaves at 9:12." in str(model.requests[-1].body["messages"])
