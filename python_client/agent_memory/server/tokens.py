"""Whom a bearer token names: the administrator by the key, a user by a signed token (JWT)."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import time
import warnings
from typing import Any

import jwt
from jwt.warnings import InsecureKeyLengthWarning

from .problems import ProblemError
from .settings import Settings

logger = logging.getLogger("agent_memory.server")

_SIGNED_BY_SECRET = ("HS256",)
_SIGNED_BY_KEY_PAIR = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
_LEEWAY = 10
"""Seconds by which the clocks of two machines may differ."""
_KEYS_LIVE = 300.0
"""Seconds after which public keys are fetched anew, so that a withdrawn key is not accepted for longer."""
_PAUSE = 10.0
"""Seconds between two fetches, whatever keys tokens name: anybody can make up names of keys."""

_SHORTEST_SECRET = 32
"""Bytes of a secret of HS256, by RFC 7518."""


def warn_of_short_secret(settings: Settings) -> None:
    """Say once in the log that a secret is short, in place of PyJWT's warning with each token."""
    warnings.simplefilter("ignore", InsecureKeyLengthWarning)
    if settings.jwt_secret is not None and len(settings.jwt_secret.encode()) < _SHORTEST_SECRET:
        logger.warning(
            "AGENT_MEMORY_JWT_SECRET has fewer than %d bytes: whoever has one token may guess the secret."
            " Take openssl rand -base64 32",
            _SHORTEST_SECRET,
        )


class TokenError(Exception):
    """A token is not accepted; the text says why, for the caller."""


class Tokens:
    """Checks tokens.

    Args:
        settings: the key, the secret, where the public keys are, and what tokens must say.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._keys = None if settings.jwks_url is None else PublicKeys(settings.jwks_url)

    def is_key(self, token: str) -> bool:
        """Tell whether a token is the administrator's key, in a time that does not tell how much of it is right."""
        key = self._settings.administrators_key
        return key is not None and hmac.compare_digest(token.encode("utf-8", "replace"), key.encode())

    async def user_of(self, token: str) -> str:
        """Return the user that a signed token names in ``sub``.

        Raises:
            TokenError: the token is not accepted.
            ProblemError: the public keys cannot be had (503).
        """
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError:
            raise TokenError("the bearer token is neither the administrator's key nor a JWT") from None
        key, algorithms = await self._key(header)
        settings = self._settings
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=list(algorithms),
                audience=settings.jwt_audience,
                issuer=settings.jwt_issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "sub"] + (["aud"] if settings.jwt_audience else [])},
            )
        except jwt.InvalidAudienceError:
            raise TokenError("aud of the token is another service's, see AGENT_MEMORY_JWT_AUDIENCE") from None
        except (jwt.PyJWTError, ValueError, OverflowError) as error:
            raise TokenError(f"the token is refused: {error}") from None
        user_id: Any = claims["sub"]
        if not isinstance(user_id, str) or not 1 <= len(user_id) <= 255 or not user_id.strip() or "\0" in user_id:
            raise TokenError("sub of the token is no id of a user, a text of 1 to 255 characters")
        return user_id

    async def _key(self, header: dict[str, Any]) -> tuple[Any, tuple[str, ...]]:
        """Return what verifies a token, and the algorithms for which that is the right kind of key."""
        algorithm = header.get("alg")
        if algorithm in _SIGNED_BY_SECRET and self._settings.jwt_secret is not None:
            return self._settings.jwt_secret, _SIGNED_BY_SECRET
        if algorithm in _SIGNED_BY_KEY_PAIR and self._keys is not None:
            return await self._keys.get(header.get("kid")), _SIGNED_BY_KEY_PAIR
        raise TokenError("alg of the token is none that this server accepts")


class PublicKeys:
    """The public keys that a URL gives as a JSON Web Key Set.

    Args:
        url: the URL.
    """

    def __init__(self, url: str) -> None:
        self._client = jwt.PyJWKClient(url, cache_jwk_set=False, timeout=5, cooldown_duration=0)
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._fetched_at = self._tried_at = float("-inf")
        self._lock = asyncio.Lock()

    async def get(self, name: str | None) -> jwt.PyJWK:
        """Return the key of a name; a token that names none takes the only key there is.

        Raises:
            TokenError: there is no such key.
            ProblemError: no keys could be fetched (503).
        """
        async with self._lock:
            now = time.monotonic()
            is_old = now > self._fetched_at + _KEYS_LIVE
            if (is_old or self._named(name) is None) and now > self._tried_at + _PAUSE:
                self._tried_at = now
                await self._fetch()
        key = self._named(name)
        if key is not None:
            return key
        if not self._keys:
            raise ProblemError(
                503, "the public keys of tokens cannot be had at the moment", headers={"Retry-After": f"{_PAUSE:.0f}"}
            )
        raise TokenError("kid of the token names no key of AGENT_MEMORY_JWKS_URL")

    def _named(self, name: str | None) -> jwt.PyJWK | None:
        if name is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(name)

    async def _fetch(self) -> None:
        """Fetch the keys; where that fails, those of the last time serve on."""
        try:
            found = await asyncio.to_thread(self._client.fetch_data)
            keys = jwt.PyJWKSet.from_dict(found).keys
        except (jwt.PyJWTError, json.JSONDecodeError, OSError, ValueError, AttributeError, TypeError) as error:
            logger.warning("the public keys of tokens cannot be fetched: %s", error)
            return
        self._keys = {key.key_id: key for key in keys if key.public_key_use in ("sig", None)}
        self._fetched_at = time.monotonic()
