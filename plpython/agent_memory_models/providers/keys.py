"""Finds the key of a model, and checks the server that gets it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..errors import ModelError

KEY_DIRECTORY_VARIABLE = "AGENT_MEMORY_KEY_DIR"
ALLOWED_VARIABLES_VARIABLE = "AGENT_MEMORY_KEY_VARIABLES"
"""Lists further environment variables that settings may name, separated by commas."""
KEY_VARIABLE_PREFIX = "AGENT_MEMORY_KEY_"
DEFAULT_KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "azure": "AZURE_OPENAI_API_KEY"}

_OWN_HOSTS = {
    "openai": re.compile(r"api\.openai\.com"),
    "azure": re.compile(r"[a-z0-9-]+\.(?:openai|cognitiveservices|services\.ai)\.azure\.com"),
}


def key_source(provider: str, settings: dict[str, Any]) -> str:
    """The file or variable that holds the key of a model, in words for messages."""
    if settings.get("api_key_file"):
        return f"key file {settings['api_key_file']}"
    return f"environment variable {settings.get('api_key_env') or DEFAULT_KEY_VARIABLES[provider]}"


def is_own_server(provider: str, scheme: str, host: str, port: int | None) -> bool:
    """Whether this is a server of the provider itself."""
    return scheme == "https" and port in (None, 443) and _OWN_HOSTS[provider].fullmatch(host.lower()) is not None


def gets_key(provider: str, settings: dict[str, Any], scheme: str, host: str, port: int | None) -> bool:
    """Whether a server is sent the model's key: any server whose settings name a key, and the provider's own server.

    Naming the source is the administrator's word that the key is meant for the server of the settings, whatever its
    address. The provider's default key must go to no server but the provider's own.
    """
    names_source = bool(settings.get("api_key_file") or settings.get("api_key_env"))
    return names_source or is_own_server(provider, scheme, host, port)


def check_key(model: dict[str, Any]) -> None:
    """Raise ModelError where a request to the model would lack its key."""
    provider, settings = model["provider"], model.get("settings") or {}
    url = urlsplit(settings.get("base_url") or "https://api.openai.com")
    if gets_key(provider, settings, url.scheme, url.hostname or "", url.port):
        api_key(provider, settings)


def api_key(provider: str, settings: dict[str, Any]) -> str:
    """The key of a model, read anew each time, so that a changed file counts at once.

    `api_key_file` wins over `api_key_env`. Raises ModelError, whose text never holds a part of the key.
    """
    source = key_source(provider, settings)
    if settings.get("api_key_file"):
        key = _read_key_file(str(settings["api_key_file"]))
    else:
        variable = str(settings.get("api_key_env") or DEFAULT_KEY_VARIABLES[provider])
        _check_variable(variable)
        key = os.environ.get(variable, "").strip()
        if not key:
            raise ModelError(f"no API key: the {source} is not set where the model is called")
    if not (key and key.isascii() and key.isprintable()):
        raise ModelError(f"the {source} holds {'characters that no API key has' if key else 'no key'}")
    return key


def _check_variable(name: str) -> None:
    """Refuse a variable that is not meant for keys.

    Otherwise a role that may register models could send any other secret of the server to an address of its choice.
    """
    if name in DEFAULT_KEY_VARIABLES.values():
        return
    if name.startswith(KEY_VARIABLE_PREFIX) and name not in (KEY_DIRECTORY_VARIABLE, ALLOWED_VARIABLES_VARIABLE):
        return
    if name in [each.strip() for each in os.environ.get(ALLOWED_VARIABLES_VARIABLE, "").split(",")]:
        return
    raise ModelError(
        f"the environment variable {name} may not be read for a key: give it a name that starts with"
        f" {KEY_VARIABLE_PREFIX}, or list it in {ALLOWED_VARIABLES_VARIABLE} where the model is called"
    )


def _read_key_file(name: str) -> str:
    """The stripped content of a file in the key directory.

    Only a bare name is allowed. Otherwise a role that may register models could read any other file of the server.
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
