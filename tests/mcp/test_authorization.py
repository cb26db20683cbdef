"""MCP over HTTP says which authorization server gives tokens (RFC 9728), and hosts get theirs there by themselves."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
import pytest
from agent_memory import InvalidValueError
from agent_memory.mcp.http import announcing
from agent_memory.server.settings import Settings
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

from tests.http.steps import KEY, SECRET, Serving, problem, token, with_keys

pytestmark = pytest.mark.feature("F28", "C11")

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}
WELL_KNOWN = "/.well-known/oauth-protected-resource"


class AuthorizationServer(BaseHTTPRequestHandler):
    """Registers whoever asks, and gives a token of ana for the resource that is asked for."""

    def do_GET(self) -> None:
        """Describe the server (RFC 8414)."""
        issuer = f"http://127.0.0.1:{self.server.server_port}"  # type: ignore[attr-defined]
        self._answer(
            {
                "issuer": issuer,
                "authorization_endpoint": f"{issuer}/authorize",
                "token_endpoint": f"{issuer}/token",
                "registration_endpoint": f"{issuer}/register",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
            }
        )

    def do_POST(self) -> None:
        """Register a client, or give a token for a code."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        issuer = f"http://127.0.0.1:{self.server.server_port}"  # type: ignore[attr-defined]
        if self.path == "/register":
            self._answer({**json.loads(body), "client_id": "host"}, 201)
        else:
            [resource] = parse_qs(body.decode())["resource"]
            self.server.asked.append(resource)  # type: ignore[attr-defined]
            given = token("ana", iss=issuer, aud=resource)
            self._answer({"access_token": given, "token_type": "Bearer", "expires_in": 3600})

    def _answer(self, said: Any, status: int = 200) -> None:
        body = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def authorization() -> Iterator[ThreadingHTTPServer]:
    """An authorization server on loopback; ``asked`` lists for which resources it has given tokens."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), AuthorizationServer)
    server.asked = []  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


class _Storage:
    """What a host keeps."""

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}

    async def get_tokens(self) -> Any:
        return self._kept.get("tokens")

    async def set_tokens(self, tokens: Any) -> None:
        self._kept["tokens"] = tokens

    async def get_client_info(self) -> Any:
        return self._kept.get("client")

    async def set_client_info(self, client_info: Any) -> None:
        self._kept["client"] = client_info


def oauth(url: str) -> OAuthClientProvider:
    """The login of the official client, whose user agrees at once."""
    opened: list[str] = []

    async def redirected(address: str) -> None:
        opened.append(address)

    async def called_back() -> AuthorizationCodeResult:
        [state] = parse_qs(urlsplit(opened[-1]).query)["state"]
        return AuthorizationCodeResult(code="agreed", state=state)

    about = OAuthClientMetadata.model_validate(
        {"redirect_uris": ["http://127.0.0.1:9/callback"], "client_name": "host"}
    )
    return OAuthClientProvider(url, about, _Storage(), redirected, called_back)


def test_a_host_without_a_token_finds_the_authorization_server_and_gets_one(
    dsn: str, authorization: ThreadingHTTPServer
) -> None:
    issuer = f"http://127.0.0.1:{authorization.server_port}"
    environment = {"AGENT_MEMORY_JWT_SECRET": SECRET, "AGENT_MEMORY_OAUTH_ISSUER": issuer}
    with Serving(dsn, with_mcp=True, **environment) as serving:
        origin = serving.url
        url = f"{origin}/mcp"
        challenge = httpx.post(url, json=CALL, headers=ACCEPT)
        problem(challenge, 401)
        [metadata] = re.findall('^Bearer resource_metadata="(.*)"$', challenge.headers["www-authenticate"])
        assert metadata == f"{origin}{WELL_KNOWN}/mcp"
        for place in (metadata, origin + WELL_KNOWN):
            answer = httpx.get(place, headers={"Origin": "https://host.example"})
            assert answer.headers["access-control-allow-origin"] == "*"
            said = answer.json()
            assert said["resource"] == url
            assert said["authorization_servers"] == [issuer]
            assert said["bearer_methods_supported"] == ["header"]

        async def work() -> Any:
            async with (
                httpx2.AsyncClient(auth=oauth(url), timeout=180) as http_client,
                Client(streamable_http_client(url, http_client=http_client)) as client,
            ):
                await client.call_tool("add_memory", {"content": "Ana likes tea."})
                return await client.call_tool("list_memories", {})

        assert asyncio.run(work()).structured_content["total_count"] == 1
        assert authorization.asked == [url]  # type: ignore[attr-defined]
        for wrong in (
            token("ana"), token("ana", iss=issuer), token("ana", iss="https://other.example", aud=url),
            token("ana", iss=issuer, aud="https://other.example/mcp"),
        ):  # fmt: skip
            refused = httpx.post(url, json=CALL, headers=ACCEPT | {"Authorization": f"Bearer {wrong}"})
            assert (refused.status_code, refused.headers["www-authenticate"]) == (
                401, challenge.headers["www-authenticate"],
            )  # fmt: skip


def test_behind_a_proxy_the_url_is_that_of_hosts(dsn: str) -> None:
    environment = {
        "AGENT_MEMORY_OAUTH_ISSUER": "https://id.example",
        "AGENT_MEMORY_MCP_URL": "https://memory.example/team/mcp",
        "AGENT_MEMORY_JWT_AUDIENCE": "memory",
    }
    with with_keys(dsn, with_mcp=True, **environment) as serving, serving.client(None, **ACCEPT) as nobody:
        path = f"{WELL_KNOWN}/team/mcp"
        challenge = nobody.post("/mcp", json=CALL).headers["www-authenticate"]
        assert challenge == f'Bearer resource_metadata="https://memory.example{path}"'
        said = nobody.get(path).json()
        assert (said["resource"], said["authorization_servers"]) == (
            "https://memory.example/team/mcp", ["https://id.example"],
        )  # fmt: skip
        # The other endpoints have no hosts that would look for the server.
        assert nobody.post("/v1/version", json={}).headers["www-authenticate"] == "Bearer"
        with serving.client(KEY, **ACCEPT) as admin:
            assert admin.post("/mcp?user_id=ana", json=CALL).status_code == 200


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"oauth_issuer": "id.example", "jwt_secret": SECRET}, "AGENT_MEMORY_OAUTH_ISSUER: is not a URL"),
        ({"mcp_url": "memory.example", "jwt_secret": SECRET}, "AGENT_MEMORY_MCP_URL: is not a URL"),
        ({"oauth_issuer": "https://id.example"}, "nothing to check them with"),
        ({"oauth_issuer": "https://id.example", "api_key": KEY}, "nothing to check them with"),
        ({"oauth_issuer": "https://id.example", "jwt_secret": SECRET, "host": "0.0.0.0"}, "MCP_URL: is missing"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(given: dict[str, Any], said: str) -> None:
    def begin() -> None:
        settings = Settings(**given)
        settings.check()
        announcing(settings, "http://127.0.0.1:3002")

    with pytest.raises(InvalidValueError, match=said):
        begin()
