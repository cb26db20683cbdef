"""The demonstration behind ``agent-memory demo``, with its conversation and its questions."""

from .demo import run

__all__ = ["run"]
