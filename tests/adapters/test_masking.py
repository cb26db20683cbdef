"""With secrets.mask_in_threads no adapter leaves a credential in the metadata, where it keeps what is no plain text."""

from __future__ import annotations

from typing import Any

import pytest
from agent_memory import Memory
from agent_memory.adapters.autogen.messages import from_autogen
from agent_memory.adapters.langgraph.history import from_langchain, to_langchain
from agent_memory.adapters.llama_index import from_llama_index, to_llama_index
from agent_memory.adapters.openai import from_openai
from agent_memory.adapters.openai_agents import _items, _message
from agent_memory.adapters.pydantic_ai import _from_pydantic
from autogen_core.models import AssistantMessage
from langchain_core.messages import AIMessage, HumanMessage
from llama_index.core.base.llms.types import ChatMessage, TextBlock
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart

from tests.masking.labelled import KEYS
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("C13")

KEY = KEYS["GitHub token"]()
SAID = f"Deploy with {KEY}"
ARGUMENTS = f'{{"token": "{KEY}"}}'
SIGNED = "Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1h"
CALL: dict[str, Any] = {
    "id": "call_Ab3dE5fG7hJ9kL1mN3pQ5rS7",
    "type": "function",
    "function": {"name": "run", "arguments": ARGUMENTS},
}
TEXTS: list[Any] = [{"type": "text", "text": SAID}, {"type": "text", "text": f"and {KEY}"}]


def messages(adapter: str) -> list[dict[str, Any]]:
    """Messages as an adapter stores them, with credentials beyond their text."""
    if adapter == "langchain":
        called = AIMessage("Yes", additional_kwargs={"tool_calls": [CALL], "thought": SAID})
        return [from_langchain(HumanMessage(TEXTS)), from_langchain(called)]
    if adapter == "llama_index":
        blocks = [TextBlock(text=SAID), TextBlock(text=SAID)]
        return [
            from_llama_index(ChatMessage(blocks=blocks, role="assistant", additional_kwargs={"tool_calls": [CALL]}))
        ]
    if adapter == "openai":
        extras = {"reasoning_content": SAID, "audio": {"id": "a", "transcript": SAID}}
        return [from_openai({"role": "assistant", "content": "Yes", "tool_calls": [CALL], **extras})]
    if adapter == "openai_agents":
        parts = [{"type": "output_text", "text": SAID}] * 2
        reasoning = {"type": "reasoning", "id": "r", "summary": [{"text": SAID}], "encrypted_content": SIGNED}
        return [_message({"role": "assistant", "content": parts}), _message(reasoning)]
    if adapter == "autogen":
        return from_autogen(AssistantMessage(content="Yes", thought=SAID, source="a"))
    thought, call = ThinkingPart(SAID, signature=SIGNED), ToolCallPart("run", ARGUMENTS, CALL["id"])
    return _from_pydantic(ModelResponse([TextPart(SAID), TextPart(SAID), thought, call]))


@pytest.mark.parametrize("adapter", ["autogen", "langchain", "llama_index", "openai", "openai_agents", "pydantic_ai"])
def test_no_credential_is_left(memory: Memory, api: Api, adapter: str) -> None:
    said = messages(adapter)
    assert KEY in str([message.get("metadata") for message in said])
    memory.admin.set_policy({"secrets": {"mask_in_threads": True}})
    memory.add_messages("ana", "t", said)
    [stored] = api.connection.execute("select string_agg(m::text, e'\\n') from memory.messages as m").fetchone() or ()
    assert KEY not in stored
    assert "(credential: GitHub token)" in stored
    assert str(said).count(SIGNED) == stored.count(SIGNED)
    if adapter == "pydantic_ai":
        assert said[0]["metadata"]["pydantic_ai"]["message"] in stored  # tells which parts are of one message
    kept = memory.get_messages("ana", "t")
    if adapter == "langchain":
        assert KEY not in str(to_langchain(kept))
        assert CALL["id"] in str(to_langchain(kept))
    if adapter == "llama_index":
        assert CALL["id"] in str(to_llama_index(kept[0]).additional_kwargs)
    if adapter == "openai_agents":
        assert len([item for message in kept for item in _items(message)]) == 2
