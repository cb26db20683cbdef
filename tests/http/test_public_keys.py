"""Public keys of an identity provider: which algorithms they verify, and an endpoint that does not answer."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import jwt
import pytest
from agent_memory.server import tokens
from agent_memory.server.problems import ProblemError
from agent_memory.server.settings import Settings
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from tests.http.steps import Serving

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PRIVATE: dict[str, Any] = {
    "rsa": RSA,
    "only 512": RSA,
    "p256": ec.generate_private_key(ec.SECP256R1()),
    "p384": ec.generate_private_key(ec.SECP384R1()),
    "p521": ec.generate_private_key(ec.SECP521R1()),
    "ed": ed25519.Ed25519PrivateKey.generate(),
}
KINDS = {"rsa": "RSA", "only 512": "RSA", "p256": "EC", "p384": "EC", "p521": "EC", "ed": "OKP"}
CLASSES: dict[str, Any] = {
    "RSA": jwt.algorithms.RSAAlgorithm,
    "EC": jwt.algorithms.ECAlgorithm,
    "OKP": jwt.algorithms.OKPAlgorithm,
}


def public(name: str, **more: str) -> dict[str, Any]:
    """A public key without "alg", as many providers give it."""
    data: dict[str, Any] = json.loads(CLASSES[KINDS[name]].to_jwk(PRIVATE[name].public_key()))
    return {name: value for name, value in data.items() if name not in ("alg", "key_ops")} | {"kid": name} | more


class Provider:
    """What an identity provider does: gives keys, counts who asks, and hangs while its gate is closed."""

    def __init__(self) -> None:
        self.keys = [public(name) for name in PRIVATE if name != "only 512"] + [public("only 512", alg="RS512")]
        self.body: bytes | None = None
        self.moved_to: str | None = None
        self.asked = 0
        self.gate = threading.Event()
        self.gate.set()
        self.url = ""

    @contextmanager
    def serving(self) -> Iterator[Provider]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.asked += 1
                provider.gate.wait(300)
                body = json.dumps({"keys": provider.keys}).encode() if provider.body is None else provider.body
                self.send_response(200 if provider.moved_to is None else 302)
                if provider.moved_to is not None:
                    self.send_header("Location", provider.moved_to)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            server.daemon_threads, server.block_on_close = True, False
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.url = f"http://127.0.0.1:{server.server_port}/jwks.json"
            yield self
            self.gate.set()
            server.shutdown()


def bearer(name: str, algorithm: str, **headers: str) -> str:
    claims = {"sub": "ana", "exp": int(time.time()) + 86400}
    return jwt.encode(claims, PRIVATE[name], algorithm, headers={"kid": name} | headers)


class Unchecked(jwt.algorithms.HMACAlgorithm):
    """HMAC that takes any key, as an attacker's program does."""

    def __init__(self, hash_alg: Any) -> None:
        super().__init__(hash_alg)

    def prepare_key(self, key: Any) -> bytes:
        return bytes(key)


@pytest.mark.feature("B14")
def test_public_keys_check_tokens_of_an_identity_provider(dsn: str) -> None:
    claims = {"sub": "ana", "exp": int(time.time()) + 86400, "aud": "memory", "iss": "https://id.example"}

    def status(client: httpx.Client, sent: str) -> int:
        return client.post("/v1/list_memories", headers={"Authorization": f"Bearer {sent}"}).status_code

    with Provider().serving() as provider:
        provider.keys = [public("rsa")]
        environment = {
            "AGENT_MEMORY_JWKS_URL": provider.url,
            "AGENT_MEMORY_JWT_AUDIENCE": "memory",
            "AGENT_MEMORY_JWT_ISSUER": "https://id.example",
        }
        with Serving(dsn, with_mcp=False, **environment) as serving, serving.client(None) as client:
            assert "callers need a key or a token" in serving.announced
            assert status(client, jwt.encode(claims, RSA, "RS256", headers={"kid": "rsa"})) == 200
            assert status(client, jwt.encode(claims, RSA, "RS256")) == 200  # there is one key only
            for wrong in ({"aud": "other"}, {"iss": "https://evil.example"}, {"aud": None}, {"iss": None}):
                changed = {name: value for name, value in (claims | wrong).items() if value is not None}
                assert status(client, jwt.encode(changed, RSA, "RS256", headers={"kid": "rsa"})) == 401
            # The public key as the secret of HS256: the classic confusion of algorithms.
            pem = RSA.public_key().public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
            confused = jwt.api_jws.PyJWS()
            confused._algorithms["HS256"] = Unchecked(jwt.algorithms.HMACAlgorithm.SHA256)
            forged = confused.encode(json.dumps(claims).encode(), pem, "HS256", headers={"kid": "rsa"})
            assert status(client, forged) == 401
            # A key that is new is fetched, but made-up names do not make the server fetch for each token.
            assert provider.asked == 1
            for number in range(20):
                made_up = jwt.encode(claims, PRIVATE["p256"], "ES256", headers={"kid": f"made up {number}"})
                assert status(client, made_up) == 401
            assert provider.asked <= 2


@pytest.mark.feature("B14")
def test_every_algorithm_that_the_docs_name_works_without_alg_in_the_key() -> None:
    of_keys = {
        "rsa": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
        "only 512": ("RS512",),
        "p256": ("ES256",),
        "p384": ("ES384",),
        "p521": ("ES512",),
        "ed": ("EdDSA",),
    }
    wrong = [
        bearer("only 512", "RS256"),  # the key says what it is for
        bearer("rsa", "RS256", kid="p256"),
        bearer("p384", "ES384", kid="p256"),
        bearer("p256", "ES256", kid="rsa"),
    ]

    async def check(provider: Provider) -> None:
        checked = tokens.Tokens(Settings(jwks_url=provider.url))
        for name, algorithms in of_keys.items():
            for algorithm in algorithms:
                assert await checked.user_of(bearer(name, algorithm)) == "ana", (name, algorithm)
        for each in wrong:
            with pytest.raises(tokens.TokenError):
                await checked.user_of(each)
        assert provider.asked == 1

    with Provider().serving() as provider:
        asyncio.run(check(provider))


@pytest.mark.feature("B14")
def test_a_hanging_endpoint_holds_up_nobody_whose_key_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_PATIENCE", 0.5)

    async def check(provider: Provider) -> None:
        keys = tokens.PublicKeys(provider.url)
        await keys.get("rsa", "RS256")
        provider.gate.clear()
        with pytest.raises(tokens.TokenError):  # within the pause nothing is fetched
            await keys.get("made up", "RS256")
        assert provider.asked == 1
        monkeypatch.setattr(tokens, "_PAUSE", -1.0)
        unknown = [asyncio.create_task(keys.get(f"made up {number}", "RS256")) for number in range(3)]
        await asyncio.sleep(0.1)
        for _ in range(50):
            await keys.get("rsa", "RS256")
        assert not any(each.done() for each in unknown)  # the tokens of unknown keys wait alone
        assert {type(each) for each in await asyncio.gather(*unknown, return_exceptions=True)} == {tokens.TokenError}
        assert provider.asked == 2
        provider.gate.set()

    with Provider().serving() as provider:
        asyncio.run(check(provider))


@pytest.mark.parametrize("body", [b"[" * 1_000_000, b"[]", b'{"keys": [1, {}]}'])
def test_what_is_no_set_of_public_keys_leaves_tokens_unchecked(body: bytes) -> None:
    with Provider().serving() as provider:
        provider.body = body
        with pytest.raises(ProblemError) as refused:
            asyncio.run(tokens.PublicKeys(provider.url).get("rsa", "RS256"))
        assert refused.value.status == 503


def test_a_key_that_cannot_be_used_spoils_no_other() -> None:
    strange: list[Any] = [
        "no key",
        public("rsa", kid="encrypts", alg="RSA-OAEP"),
        public("p256", kid="of another curve", crv="P-1"),
        public("rsa", kid="of another kind", kty="AKP"),
        public("rsa", kid="p256", use="enc"),
    ]
    with Provider().serving() as provider:
        provider.keys = [*strange, public("p256")]
        found = asyncio.run(tokens.PublicKeys(provider.url).get("p256", "ES256"))
    assert (found.key_id, found.algorithm_name) == ("p256", "ES256")


def test_redirects_to_keys_are_not_followed() -> None:
    with Provider().serving() as provider, Provider().serving() as elsewhere:
        provider.moved_to = elsewhere.url
        with pytest.raises(ProblemError):
            asyncio.run(tokens.PublicKeys(provider.url).get("rsa", "RS256"))
        assert (provider.asked, elsewhere.asked) == (1, 0)


def age(cache: Any, seconds: float) -> None:
    """Make keys look older."""
    cache.jwk_set_with_timestamp.timestamp -= seconds


@pytest.mark.feature("B14")
def test_keys_that_cannot_be_fetched_for_an_hour_are_accepted_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_PAUSE", -1.0)

    async def use(provider: Provider) -> None:
        keys = tokens.PublicKeys(provider.url)
        await keys.get("rsa", "RS256")
        provider.body = b"no keys"
        age(keys._fresh, 301)
        await keys.get("rsa", "RS256")
        while keys._fetching is not None and not keys._fetching.done():
            await asyncio.sleep(0.01)
        assert provider.asked == 2
        await keys.get("rsa", "RS256")  # the URL fails, and the key serves on
        age(keys._known, 3601)
        with pytest.raises(ProblemError) as refused:
            await keys.get("rsa", "RS256")
        assert refused.value.status == 503
        provider.body = None
        await keys.get("rsa", "RS256")
        assert keys._renewal is not None
        keys._renewal.cancel()

    with Provider().serving() as provider:
        asyncio.run(use(provider))
