"""Who is let through: the administrator's key, users' tokens, and programs of this machine where there is neither."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import time

import httpx
import jwt
import pytest
from agent_memory.server.settings import Settings, is_loopback

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


def test_loopback_is_told_by_address_or_name() -> None:
    for host in ("127.0.0.1", "[::1]", "LOCALHOST", "localhost."):
        assert is_loopback(host), host
    for host in ("0.0.0.0", "10.0.0.1", "localhost.example", ""):
        assert not is_loopback(host), host


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
