# Generated from _async/secrets.py by generate_sync.py; do not edit.
"""The methods for secrets, and what an agent loads of a user when it starts."""

from __future__ import annotations

from typing import Any

from ...calls import SyncMethods, sql_function
from ...types import Secret


class SyncSecrets(SyncMethods):
    """The methods for secrets, and what an agent loads of a user when it starts.

    Values and keys go to the server under a mask, so that a log of statements and their parameters has neither. The
    server encrypts under the key in its own environment. A server that cannot read its environment, for want of
    PL/Python, uses the key in the environment of this process: AGENT_MEMORY_SECRET_KEY, 32 random bytes in base64.
    """

    @sql_function(keys="needed")
    def set_secret(self, user_id: str, name: str, value: str) -> None:
        """Store a secret of a user, encrypted, or replace it; ``value`` has 64 KiB at most.

        Raises NotSupportedError where there is no key, or no extension pgcrypto.
        """

    @sql_function(keys="needed")
    def get_secret(self, user_id: str, name: str) -> str:
        """Return the value of a secret. The server records who reads it.

        Raises NotFoundError where the user has no secret of that name, PermissionDeniedError where the role may not
        read secrets, and NotSupportedError where the key is missing.
        """

    @sql_function
    def list_secrets(self, user_id: str) -> list[Secret]:
        """Return the names of a user's secrets and their times, by name; never a value."""

    @sql_function
    def delete_secret(self, user_id: str, name: str) -> bool:
        """Delete a secret and return whether it existed."""

    @sql_function
    def load_user(self, user_id: str, agent_id: str | None = None) -> dict[str, Any]:
        """Return what an agent needs to know of a user when it starts.

        ``summary`` is a text or None; ``preferences`` and ``facts`` are the 50 memories of each that matter most, of
        ``agent_id`` or of all agents; ``threads`` are the 10 newest; ``secrets`` are up to 100 names.
        """
