"""A host of MCP in twenty lines: it starts the memory server, and two conversations share what they tell it.

    pip install 'pg-agent-memory[mcp,embedded,local]'
    python examples/mcp_host.py ana

Claude and editors do the same; docs/mcp.md says how they are told to.
"""

from __future__ import annotations

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import TextContent


async def main(user_id: str) -> None:
    """Remember something in one conversation, and begin another one with what is known."""
    # Without AGENT_MEMORY_DSN the server takes the embedded store.
    passed = {name: value for name, value in os.environ.items() if name.startswith(("AGENT_MEMORY_", "PYTHONPATH"))}
    arguments = ["-m", "agent_memory.cli", "mcp", "--user", user_id]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=passed)

    async with Client(stdio_client(server)) as conversation:
        print("Tools:", ", ".join(tool.name for tool in (await conversation.list_tools()).tools))
        await conversation.call_tool("add_memory", {"content": "Ana prefers trains over planes."})

    async with Client(stdio_client(server)) as conversation:
        prompt = await conversation.get_prompt("about_user", {"query": "a journey"})
        for message in prompt.messages:
            assert isinstance(message.content, TextContent)
            print(message.content.text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: mcp_host.py USER")
    asyncio.run(main(sys.argv[1]))
