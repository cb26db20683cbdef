# Generated from _async/secrets.py by generate_sync.py; do not edit.
"""The methods for secrets, and what an agent loads of a user when it starts."""

from __future__ import annotations

from typing import Any

from ...types import Secret
from .masked_caller import SyncMaskedCaller


class SyncSecrets(SyncMaskedCaller):
    """The methods for secrets, and what an agent loads of a user when it starts.

    Values and keys go to the server under a mask, so that a log of statements and their parameters has neither. The
    server encrypts under the key in its own environment. A server that cannot read its environment, for want of
    PL/Python, uses the key in the environment of this process: AGENT_MEMORY_SECRET_KEY, 32 random bytes in base64.
    """

    def set_secret(self, user_id: str, name: str, value: str) -> None:
        """Store a secret of a user, encrypted, or replace it; ``value`` has 64 KiB at most.

        Raises NotSupportedError where there is no key, or no extension pgcrypto.
        """
        self._masked_value("set_secret", {"user_id": user_id, "name": name, "value": value}, masks_value=True)

    def get_secret(self, user_id: str, name: str) -> str:
        """Return the value of a secret. The server records who reads it.

        Raises NotFoundError where the user has no secret of that name, PermissionDeniedError where the role may not
        read secrets, and NotSupportedError where the key is missing.
        """
        value: str = self._masked_value("get_secret", {"user_id": user_id, "name": name})
        return value

    def list_secrets(self, user_id: str) -> list[Secret]:
        """Return the names of a user's secrets and their times, by name; never a value."""
        return self._rows(Secret, "list_secrets", {"user_id": user_id})

    def delete_secret(self, user_id: str, name: str) -> bool:
        """Delete a secret and return whether it existed."""
        return self._value(bool, "delete_secret", {"user_id": user_id, "name": name})

    def reencrypt_secrets(self, batch_size: int = 1000) -> int:
        """Encrypt up to ``batch_size`` secrets under the new key, and return how many; at 0 the previous key can go.

        Raises NotSupportedError where AGENT_MEMORY_SECRET_KEY_PREVIOUS is not set.
        """
        count: int = self._masked_value("reencrypt_secrets", {}, batch_size=batch_size)
        return count

    def load_user(self, user_id: str, agent_id: str | None = None) -> dict[str, Any]:
        """Return what an agent needs to know of a user when it starts.

        ``summary`` is a text or None; ``preferences`` and ``facts`` are the 50 memories of each that matter most, of
        ``agent_id`` or of all agents; ``threads`` are the 10 newest; ``secrets`` are up to 100 names.
        """
        return self._value(dict, "load_user", {"user_id": user_id}, agent_id=agent_id)
