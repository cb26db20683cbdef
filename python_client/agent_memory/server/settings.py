"""Reads the settings of a server from the environment and the command line."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import InvalidValueError

MIB = 1 << 20
HOST = "127.0.0.1"
PORT = 3001
"""The port of document B's examples, so that they run as they stand."""
MCP_PATH = "/mcp"
POOL_SIZE = 10
MAX_BODY_MIB = 32
RATE_LIMIT = 6000
GRACE = 30.0


@dataclass(frozen=True)
class Settings:
    """The settings of a server. Keys are never repeated: not in errors, not in the log, not in ``repr``.

    Attributes:
        host: the address to listen on.
        port: the port; 0 for a free one.
        api_key: the administrator's key, or None.
        jwt_secret: the secret of tokens signed with HS256, or None.
        jwks_url: where the public keys of other tokens are, or None.
        jwt_audience: what ``aud`` of a token must name; a token with an ``aud`` is refused if this is None.
        jwt_issuer: what ``iss`` of a token must be, or None for any.
        oauth_issuer: the authorization server that MCP announces to hosts without a token, or None for none.
        mcp_url: the URL of MCP as hosts call it, where that is not the one that is listened on.
        resource_metadata: where hosts find the authorization server; ``mcp.http.announcing`` sets it.
        pool_size: connections to the database.
        max_body: bytes of a request, or None for any number.
        rate_limit: requests a minute of one user's tokens, or of one address without a valid token; None for any.
        grace: seconds that requests under way get to end after SIGTERM.
        token: the administrator's key of a server that was given neither a key nor tokens; the command prints it.
    """

    host: str = HOST
    port: int = PORT
    api_key: str | None = field(default=None, repr=False)
    jwt_secret: str | None = field(default=None, repr=False)
    jwks_url: str | None = None
    jwt_audience: str | None = None
    jwt_issuer: str | None = None
    oauth_issuer: str | None = None
    mcp_url: str | None = None
    resource_metadata: str | None = None
    pool_size: int = POOL_SIZE
    max_body: int | None = MAX_BODY_MIB * MIB
    rate_limit: int | None = RATE_LIMIT
    grace: float = GRACE
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), init=False, repr=False)

    @property
    def is_keyless(self) -> bool:
        """Whether there is neither a key nor tokens: then whoever knows ``token`` is the administrator."""
        return self.api_key is None and self.jwt_secret is None and self.jwks_url is None

    @property
    def administrators_key(self) -> str | None:
        """What the administrator sends; None where there are tokens of users only."""
        return self.token if self.is_keyless else self.api_key

    def entry(self, url: str) -> str:
        """Return the address by which a browser is let in, of a server that listens at a URL."""
        return f"{url}/?token={self.token}" if self.is_keyless else url

    def check(self) -> None:
        """Check that the settings fit together.

        Raises:
            InvalidValueError: the server would be open to other machines, or the URL of the keys is none.
        """
        if self.is_keyless and not is_loopback(self.host):
            raise InvalidValueError(
                f"host: {self.host} is reached by other machines, and there is neither a key nor tokens",
                hint="Set AGENT_MEMORY_API_KEY (openssl rand -base64 32), AGENT_MEMORY_JWT_SECRET or"
                " AGENT_MEMORY_JWKS_URL; or listen on 127.0.0.1.",
            )
        if self.jwks_url is not None and not self.jwks_url.startswith(("https://", "http://")):
            raise InvalidValueError(
                "AGENT_MEMORY_JWKS_URL: is not a URL", hint="It begins with https://, as your identity provider says."
            )
        for name, url in (("OAUTH_ISSUER", self.oauth_issuer), ("MCP_URL", self.mcp_url)):
            if url is not None and not url.startswith(("https://", "http://")):
                raise InvalidValueError(f"AGENT_MEMORY_{name}: is not a URL", hint="It begins with https://.")
        if self.oauth_issuer is None:
            return
        if self.jwks_url is None and self.jwt_secret is None:
            raise InvalidValueError(
                "AGENT_MEMORY_OAUTH_ISSUER: names who gives tokens, and there is nothing to check them with",
                hint="Set AGENT_MEMORY_JWKS_URL to the keys of the authorization server.",
            )
        if self.mcp_url is None and not is_loopback(self.host):
            raise InvalidValueError(
                "AGENT_MEMORY_MCP_URL: is missing, and hosts do not call the address that is listened on",
                hint="Set it to the URL that hosts have, such as https://memory.example.com/mcp.",
            )


def keys_of_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str | None]:
    """Return the keys and what is checked in tokens, as arguments of ``Settings``. An empty variable is none."""
    names = {
        "api_key": "AGENT_MEMORY_API_KEY",
        "jwt_secret": "AGENT_MEMORY_JWT_SECRET",
        "jwks_url": "AGENT_MEMORY_JWKS_URL",
        "jwt_audience": "AGENT_MEMORY_JWT_AUDIENCE",
        "jwt_issuer": "AGENT_MEMORY_JWT_ISSUER",
        "oauth_issuer": "AGENT_MEMORY_OAUTH_ISSUER",
        "mcp_url": "AGENT_MEMORY_MCP_URL",
    }
    return {name: environment.get(variable) or None for name, variable in names.items()}


def is_loopback(host: str) -> bool:
    """Tell whether a host, as an address or a name, is this machine's own and no other's."""
    import ipaddress

    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
