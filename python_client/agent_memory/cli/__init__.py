"""The command ``agent-memory``: app.py puts together the commands that the other modules define."""

import sys

if sys.argv[1:3] == ["hooks", "run"]:  # a coding assistant waits, and the commands take longer to import than a hook
    from ..hooks.run import app
else:
    from .app import app  # type: ignore[assignment]

__all__ = ["app"]
