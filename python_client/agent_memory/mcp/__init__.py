"""The MCP server: the tools of ``agent_memory.tools``, and a prompt.

Nothing here is imported before a server is asked for; the packages are those of the extra ``mcp``.

- stdio.py: ``agent-memory mcp``; http.py: the endpoint of ``agent-memory serve``. server.py: what both serve.
- prompts.py: the prompt. errors.py: what a client is told of errors.
"""
