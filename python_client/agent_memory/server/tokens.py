"""Whom a bearer token names: the administrator by the key, a user by a signed token (JWT)."""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
import warnings
from typing import Any

import jwt
from jwt.jwk_set_cache import JWKSetCache
from jwt.warnings import InsecureKeyLengthWarning

from .problems import ProblemError
from .settings import Settings

logger = logging.getLogger("agent_memory.server")

_SIGNED_BY_SECRET = ("HS256",)
_SIGNED_BY_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_SIGNED_BY_KEY_PAIR = (*_SIGNED_BY_RSA, "ES256", "ES384", "ES512", "EdDSA")
_LEEWAY = 10
"""Seconds by which the clocks of two machines may differ."""
_KEYS_LIVE = 300.0
"""Seconds after which public keys are fetched anew, so that a key that was withdrawn is accepted no longer."""
_KEYS_END = 3600.0
"""Seconds after which keys that cannot be fetched anew are accepted no longer: one of them may have been withdrawn."""
_PAUSE = 10.0
"""Seconds between two fetches, whatever keys tokens name: anybody can make up names of keys."""
_PATIENCE = 5.0
"""Seconds that a fetch may take, and that a token of an unknown key waits for one."""

_SHORTEST_SECRET = 32
"""Bytes of a secret of HS256, by RFC 7518."""


def warn_of_short_secret(settings: Settings) -> None:
    """Say once in the log that a secret is short, in place of PyJWT's warning with each token."""
    warnings.simplefilter("ignore", InsecureKeyLengthWarning)
    if settings.jwt_secret is not None and len(settings.jwt_secret.encode()) < _SHORTEST_SECRET:
        logger.warning(
            "AGENT_MEMORY_JWT_SECRET has fewer than %d bytes: a holder of one token may guess the secret."
            " Take openssl rand -base64 32",
            _SHORTEST_SECRET,
        )


class TokenError(Exception):
    """A token is not accepted; the text says why, for the caller."""


class Tokens:
    """Checks tokens."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._keys = None if settings.jwks_url is None else PublicKeys(settings.jwks_url)

    def is_key(self, token: str) -> bool:
        """Tell whether a token is the administrator's key, in a time that does not tell how much of it is right."""
        key = self._settings.administrators_key
        return key is not None and hmac.compare_digest(token.encode("utf-8", "replace"), key.encode())

    async def user_of(self, token: str) -> str:
        """Return the user that a signed token names in ``sub``."""
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError:
            raise TokenError("the bearer token is neither the administrator's key nor a JWT") from None
        key = await self._key(header)
        settings = self._settings
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=[header["alg"]],
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
        if user_id.startswith("space:"):  # an identity provider may let people choose their names
            raise TokenError("sub of the token is the id of a space, not of a user")
        return user_id

    async def _key(self, header: dict[str, Any]) -> Any:
        """Return the key that verifies a token, of the right kind for its ``alg``."""
        algorithm = header.get("alg")
        if algorithm in _SIGNED_BY_SECRET and self._settings.jwt_secret is not None:
            return self._settings.jwt_secret
        if algorithm in _SIGNED_BY_KEY_PAIR and self._keys is not None:
            return await self._keys.get(header.get("kid"), algorithm)
        raise TokenError("alg of the token is none that this server accepts")


class PublicKeys:
    """The public keys that a URL gives as a JSON Web Key Set, fetched beside the requests.

    A token whose key is known never waits for the URL, whatever other tokens name and however old the keys are.
    """

    def __init__(self, url: str) -> None:
        self._client = _Client(url, cache_jwk_set=False, timeout=_PATIENCE)
        self._fresh, self._known = JWKSetCache(_KEYS_LIVE), JWKSetCache(_KEYS_END)
        self._tried_at = float("-inf")
        self._fetching: asyncio.Task[None] | None = None
        self._renewal: asyncio.TimerHandle | None = None

    async def get(self, name: str | None, algorithm: str) -> jwt.PyJWK:
        """Return the key of a name for an algorithm; a token that names none takes the only key there is."""
        found = self._named(name)
        if (not found or self._fresh.get() is None) and time.monotonic() > self._tried_at + _PAUSE:
            self._begin()
        if not found and self._fetching is not None:
            await asyncio.wait([self._fetching], timeout=_PATIENCE)
            found = self._named(name)
        for key in found:
            if key.algorithm_name == algorithm:
                return key
        if found:
            raise TokenError("alg of the token is not that of its key")
        if self._known.get() is None:
            raise ProblemError(
                503, "the public keys of tokens cannot be had at the moment", headers={"Retry-After": f"{_PAUSE:.0f}"}
            )
        raise TokenError("kid of the token names no key of AGENT_MEMORY_JWKS_URL")

    def _named(self, name: str | None) -> list[jwt.PyJWK]:
        keys = [key for key in self._known.get() or () if key.public_key_use in ("sig", None)]
        if name is None and all(key.key_id == keys[0].key_id for key in keys):
            return keys
        return [key for key in keys if key.key_id == name]

    def _begin(self) -> None:
        """Begin to fetch the keys, unless that is under way, and do so again in time, also where nobody calls."""
        if self._fetching is None or self._fetching.done():
            self._tried_at = time.monotonic()
            self._fetching = asyncio.create_task(self._fetch())
        if self._renewal is not None:
            self._renewal.cancel()
        self._renewal = asyncio.get_running_loop().call_later(_KEYS_LIVE, self._begin)

    async def _fetch(self) -> None:
        """Fetch the keys; where that fails, those of the last time serve on for an hour."""
        try:
            found = await asyncio.to_thread(self._client.get_jwk_set)
        except Exception as error:  # whatever the URL gives: a task that fails tells nobody, and every token waits
            logger.warning("the public keys of tokens cannot be fetched: %s", error)
        else:
            self._fresh.put(found)
            self._known.put(found)


class _Client(jwt.PyJWKClient):
    def fetch_data(self) -> Any:
        """Fetch the keys, those of RSA without "alg" once for each algorithm of RSA, all of which they verify."""
        keys: list[Any] = super().fetch_data()["keys"]
        for key in [key for key in keys if isinstance(key, dict) and key.get("kty") == "RSA" and not key.get("alg")]:
            keys += [{**key, "alg": name} for name in _SIGNED_BY_RSA[1:]]  # PyJWT takes the first itself
        return {"keys": keys}
