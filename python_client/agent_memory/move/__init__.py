"""Moves users from one database to another, such as from an embedded server to a real one, and back."""

from .move import MovedUser, move

__all__ = ["MovedUser", "move"]
