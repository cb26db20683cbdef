"""Hides a secret on its way to the server, whose log may hold the parameters of every statement.

The server gives a mask as a result, which no log holds; 49_secrets/masks.sql takes the mask off again.
"""

from __future__ import annotations

import os
from hashlib import sha256

_KEYS = {
    "agent_memory.secret_key": "AGENT_MEMORY_SECRET_KEY",
    "agent_memory.secret_key_previous": "AGENT_MEMORY_SECRET_KEY_PREVIOUS",
}
MAY_MASK = "select coalesce(has_function_privilege(to_regprocedure('memory._secret_mask()'), 'execute'), false)"
"""Whether the database knows masks, and whether the role may ask for one."""


def keys_of_environment() -> dict[str, str]:
    """Return the keys of secrets in this process's environment, by the setting that passes each to the server."""
    return {setting: key for setting, name in _KEYS.items() if (key := os.environ.get(name, "").strip())}


def masked(text: str, mask: bytes, label: str) -> str:
    """Return the text under a mask, in hex. ``label`` says what the text is: no two texts may share one stream."""
    said = text.encode()
    blocks = (sha256(mask + f"{label} {block}".encode()).digest() for block in range(len(said) // 32 + 1))
    return bytes(a ^ b for a, b in zip(said, b"".join(blocks), strict=False)).hex()
