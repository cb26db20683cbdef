"""Who is let through: the administrator's key, users' tokens, and programs of this machine where there is neither."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import jwt
import pytest
from agent_memory.server.settings import Settings, is_loopback
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from tests.http.steps import KEY, SECRET, Serving, problem, token

PUBLIC = ("/healthz", "/openapi.json")
CLOSED = (("GET", "/metrics"), ("POST", "/v1/search"), ("GET", "/api/v1/agents/a/memories"), ("POST", "/mcp"))


@pytest.mark.feature("B14")
@pytest.mark.parametrize("header", [None, "Bearer", "Basic dTpw", f"Bearer {KEY[:-1]}", "Bearer kéy", KEY])
def test_without_a_key_only_what_is_public_answers(served: Serving, header: str | None) -> None:
    headers = {} if header is None else {b"Authorization": header.encode()}
    for path in PUBLIC:
        assert httpx.get(served.url + path, headers=headers).status_code == 200
    for method, path in (*CLOSED, ("GET", "/nothing/here"), ("POST", "/healthz/../v1/search")):
        response = httpx.request(method, served.url + path, headers=headers)
        problem(response, 401)
        assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.feature("B14")
def test_the_key_is_the_administrator(served: Serving) -> None:
    for scheme in ("Bearer", "bearer"):
        answer = httpx.post(served.url + "/v1/version", headers={"Authorization": f"{scheme} {KEY}"})
        assert answer.status_code == 200


def unsigned(user_id: str) -> str:
    """A token with the algorithm none."""
    parts = ({"alg": "none", "typ": "JWT"}, {"sub": user_id, "exp": int(time.time()) + 600})
    return ".".join(base64.urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=").decode() for each in parts) + "."


@pytest.mark.feature("B14")
@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (token("ana", exp=int(time.time()) - 60), "expired"),
        (token("ana", exp=None), '"exp"'),
        (token("ana", nbf=int(time.time()) + 86000), "not yet valid"),
        (token("ana", secret="another secret of thirty-two bytes"), "Signature"),
        (token(None), '"sub"'),
        (token(""), "sub"),
        (token("a\0b"), "sub"),
        (token("a" * 256), "sub"),
        (token(7), "Subject must be a string"),
        (token("ana", aud="another service"), "aud"),
        pytest.param(unsigned("ana"), "alg", id="unsigned"),  # its text would differ between the processes of a run
        (jwt.encode({"sub": "ana", "exp": int(time.time()) + 86400}, SECRET * 2, "HS512"), "alg"),
        (".".join((*token("eve").split(".")[:2], token("ana").split(".")[2])), "Signature"),
        ("a.b.c", "neither"),
    ],
)
def test_a_token_that_is_not_right_is_refused(served: Serving, bad: str, said: str) -> None:
    with served.client(bad) as client:
        assert said in problem(client.post("/v1/list_memories"), 401)["detail"]


@contextmanager
def key_server(keys: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Serve public keys; yields the URL and the paths that were asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = json.dumps({"keys": list(keys.values())}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/jwks.json", asked
        server.shutdown()


def public(name: str, private: Any) -> dict[str, Any]:
    kind = jwt.algorithms.RSAAlgorithm if isinstance(private, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
    return {**kind.to_jwk(private.public_key(), as_dict=True), "kid": name, "use": "sig"}


@pytest.mark.feature("B14")
def test_public_keys_check_tokens_of_an_identity_provider(dsn: str) -> None:
    first = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    second = ec.generate_private_key(ec.SECP256R1())
    keys = {"first": public("first", first)}
    claims = {"sub": "ana", "exp": int(time.time()) + 600, "aud": "memory", "iss": "https://id.example"}

    def status(client: httpx.Client, bearer: str) -> int:
        return client.post("/v1/list_memories", headers={"Authorization": f"Bearer {bearer}"}).status_code

    with key_server(keys) as (url, asked):
        environment = {
            "AGENT_MEMORY_JWKS_URL": url,
            "AGENT_MEMORY_JWT_AUDIENCE": "memory",
            "AGENT_MEMORY_JWT_ISSUER": "https://id.example",
        }
        with Serving(dsn, with_mcp=False, **environment) as serving, serving.client(None) as client:
            assert "callers need a key or a token" in serving.announced
            good = jwt.encode(claims, first, "RS256", headers={"kid": "first"})
            assert status(client, good) == 200
            assert status(client, jwt.encode(claims, first, "RS256")) == 200  # there is one key only
            for wrong in ({"aud": "other"}, {"iss": "https://evil.example"}, {"aud": None}, {"iss": None}):
                changed = {name: value for name, value in (claims | wrong).items() if value is not None}
                assert status(client, jwt.encode(changed, first, "RS256", headers={"kid": "first"})) == 401
            # The public key as the secret of HS256: the classic confusion of algorithms.
            pem = first.public_key().public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
            confused = jwt.api_jws.PyJWS()
            confused._algorithms["HS256"] = Unchecked(jwt.algorithms.HMACAlgorithm.SHA256)
            forged = confused.encode(json.dumps(claims).encode(), pem, "HS256", headers={"kid": "first"})
            assert status(client, forged) == 401
            # A key that is new is fetched, but made-up names do not make the server fetch for each token.
            assert len(asked) == 1
            for number in range(20):
                assert status(client, jwt.encode(claims, second, "ES256", headers={"kid": f"made up {number}"})) == 401
            assert len(asked) <= 2


class Unchecked(jwt.algorithms.HMACAlgorithm):
    """HMAC that takes any key, as an attacker's program does."""

    def __init__(self, hash_alg: Any) -> None:
        super().__init__(hash_alg)

    def prepare_key(self, key: Any) -> bytes:
        return bytes(key)


@pytest.mark.feature("B14")
def test_without_keys_only_this_machine_is_served(dsn: str) -> None:
    with Serving(dsn, with_mcp=True) as serving:
        port = serving.url.rpartition(":")[2]
        with serving.client(None) as stranger:  # whoever has an account on this machine
            for method, path in (*CLOSED, ("POST", "/v1/sweep"), ("POST", "/mcp"), ("POST", "/v1/version?token=x")):
                said = problem(stranger.request(method, path), 401)
                assert "address with a token" in said["hint"]
                assert serving.token not in str(said)
            problem(stranger.post(f"/v1/version?token={serving.token}"), 401)  # addresses get into logs
            assert stranger.get("/healthz").status_code == 200
        with serving.client(serving.token) as client:
            assert client.post("/v1/version").status_code == 200
            assert client.get("/healthz", headers={"Host": f"localhost:{port}"}).status_code == 200
            # A name that resolves to this machine (DNS rebinding), and pages of other sites in a browser here.
            for headers in (
                {"Host": "evil.example"},
                {"Host": "127.0.0.1.evil.example"},
                {"Host": "[::1"},
                {"Origin": "https://evil.example"},
                {"Origin": "null"},
                {"Sec-Fetch-Site": "cross-site"},
            ):
                problem(client.get("/healthz", headers=headers), 403)
                problem(client.post("/v1/version", headers=headers), 403)
            assert client.get("/healthz", headers={"Origin": "http://localhost:5173"}).status_code == 200
            # Another account of this machine may serve a page on another port, which is the same site.
            for headers in ({"Sec-Fetch-Site": "same-site"}, {"Origin": "http://127.0.0.1:1"}):
                problem(client.post("/v1/sweep", headers=headers), 403)
                assert client.get("/healthz", headers=headers).status_code == 200
            for headers in ({"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "same-origin"}, {"Origin": serving.url}):
                assert client.post("/v1/sweep", headers=headers).status_code == 200
        if os.geteuid() == 0:  # who can be another user
            account = ["setpriv", "--reuid", "daemon", "--regid", "daemon", "--clear-groups"]
            arguments = [*account, "ps", "-o", "args=", "-p", str(serving.process.pid)]
            assert serving.token not in subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
        serving.stop()
        assert serving.token not in "".join(serving.errors)


@pytest.mark.feature("B14")
def test_without_keys_it_does_not_listen_for_other_machines() -> None:
    with pytest.raises(AssertionError, match=r"neither a key nor tokens\n.*AGENT_MEMORY_API_KEY"):
        Serving("host=/nonexistent", "--host", "0.0.0.0").__enter__()


@pytest.mark.parametrize(
    ("host", "is_local"),
    [
        ("127.0.0.1", True),
        ("[::1]", True),
        ("LOCALHOST", True),
        ("localhost.", True),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("", False),
    ],
)
def test_loopback_is_told_by_address_or_name(host: str, is_local: bool) -> None:
    assert is_loopback(host) is is_local


@pytest.mark.filterwarnings("ignore:The HMAC key")
def test_a_short_secret_is_warned_of_once(dsn: str) -> None:
    with Serving(dsn, AGENT_MEMORY_JWT_SECRET="short") as serving:
        with serving.client(token("ana", secret="short")) as ana:
            assert {ana.post("/v1/count_memories").status_code for _ in range(3)} == {200}
        serving.stop()
        [line] = serving.errors
        assert "AGENT_MEMORY_JWT_SECRET has fewer than 32 bytes" in line


def test_settings_do_not_show_keys() -> None:
    shown = repr(Settings(api_key=KEY, jwt_secret=SECRET))
    assert KEY not in shown
    assert SECRET not in shown
