"""Where the key of a model comes from: a file that only its owner can read, or an environment variable."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .errors import ModelError

KEY_DIRECTORY_VARIABLE = "AGENT_MEMORY_KEY_DIR"
DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
PLACEHOLDER_KEY = "no-key-needed"


def key_source(settings: dict[str, Any]) -> str:
    """What names the key of a model, for messages and to tell the clients of different keys apart."""
    if settings.get("api_key_file"):
        return f"key file {settings['api_key_file']}"
    return f"environment variable {settings.get('api_key_env') or DEFAULT_KEY_VARIABLE}"


def api_key(settings: dict[str, Any]) -> str:
    """The key of a model, read anew each time, so that a changed file counts at once.

    `api_key_file` wins over `api_key_env`. A server of one's own (`base_url`) may do without a key.
    Raises ModelError, whose text never holds a part of the key.
    """
    source = key_source(settings)
    if settings.get("api_key_file"):
        key = _read_key_file(str(settings["api_key_file"]))
    else:
        key = os.environ.get(str(settings.get("api_key_env") or DEFAULT_KEY_VARIABLE), "").strip()
        if not key and settings.get("base_url"):
            return PLACEHOLDER_KEY
        if not key:
            raise ModelError(f"no API key: the {source} is not set where the model is called")
    if not (key and key.isascii() and key.isprintable()):
        raise ModelError(f"the {source} holds {'characters that no API key has' if key else 'no key'}")
    return key


def _read_key_file(name: str) -> str:
    """The stripped content of a file in the key directory.

    A bare name only: whoever may register a model must not thereby read any other file of the server.
    """
    directory = os.environ.get(KEY_DIRECTORY_VARIABLE)
    if not directory:
        raise ModelError(f"key file {name}: {KEY_DIRECTORY_VARIABLE} is not set where the model is called")
    if "/" in name or "\0" in name or name in (".", ".."):
        raise ModelError("api_key_file must be a bare file name, without a folder")
    try:
        with Path(directory, name).open("rb") as file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                raise ModelError(f"key file {name} can be read or written by others: chmod 600")
            content = file.read(65536)
    except OSError as error:
        raise ModelError(f"key file {name} cannot be read: {error.strerror}") from None
    return content.decode("ascii", errors="replace").strip()
