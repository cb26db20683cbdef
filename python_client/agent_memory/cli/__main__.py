"""Run the command with ``python -m agent_memory.cli``."""

from . import app

app(prog_name="agent-memory")
