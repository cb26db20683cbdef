"""The command ``agent-memory``: app.py puts together the commands that the other modules define."""

import sys
from typing import TYPE_CHECKING

from .._extras import check_extra
from ..errors import AgentMemoryError

if TYPE_CHECKING or sys.argv[1:3] != ["hooks", "run"]:
    try:
        check_extra("cli", "the command agent-memory")
    except AgentMemoryError as error:
        sys.exit(f"Error: {error.message}\nHint: {error.hint}")
    from .app import app
else:  # a coding assistant waits, and the commands take longer to import than a hook
    from ..hooks.run import app

__all__ = ["app"]
