"""The command ``agent-memory``: app.py puts together the commands that the other modules define."""

from .app import app

__all__ = ["app"]
