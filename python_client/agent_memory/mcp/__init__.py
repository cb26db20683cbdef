"""The MCP server, ``agent-memory mcp``: the tools of ``agent_memory.tools``, threads and artifacts, and a prompt.

Nothing here is imported before a server is asked for; the packages are those of the extra ``mcp``.

- stdio.py, http.py: serve over stdio or HTTP, from the database that database.py opens. server.py: what is served.
- resources.py: threads and artifacts as resources. prompts.py: the prompt. errors.py: what a client is told of errors.
"""
