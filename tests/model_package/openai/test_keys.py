"""Keys of providers: where they come from, and to which servers they are sent."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import openai
import pytest
from agent_memory_models import ModelError, Models
from agent_memory_models.providers.keys import is_own_server

from tests.model_package.openai.steps import chat
from tests.support.fake_model_server import Behaviour, FakeModelServer
from tests.support.model_payloads import Json, extract, extraction, run, run_all, users


# Keys
def test_the_key_comes_from_the_named_variable(fake: FakeModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_MEMORY_KEY_OTHER", " sk-other\n")
    monkeypatch.setenv("LISTED", "sk-listed")
    monkeypatch.setenv("AGENT_MEMORY_KEY_VARIABLES", "SOME, LISTED")
    variables = ("OPENAI_API_KEY", "AGENT_MEMORY_KEY_OTHER", "LISTED")
    run_all("extract_memories", *(extraction(users("Hi."), chat(fake, api_key_env=name)) for name in variables))
    assert {request.authorization for request in fake.requests} == {
        "Bearer sk-secret",
        "Bearer sk-other",
        "Bearer sk-listed",
    }


@pytest.mark.feature("F20")
@pytest.mark.parametrize("name", ["PGPASSWORD", "AGENT_MEMORY_KEY_DIR", "agent_memory_key_x"])
def test_no_other_variable_is_read_for_a_key(fake: FakeModelServer, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "another secret")
    with pytest.raises(ModelError, match=f"{name} may not be read for a key: .* AGENT_MEMORY_KEY_VARIABLES"):
        extract(users("I enjoy jazz."), chat(fake, api_key_env=name))
    assert not fake.requests


@pytest.mark.feature("F20")
@pytest.mark.parametrize("provider", ["openai", "azure"])
def test_no_key_goes_to_a_server_that_it_was_not_named_for(
    fake: FakeModelServer, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    for name in ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID"):
        monkeypatch.setenv(name, "sk-secret")
    model = {**chat(fake, api_version="2024-10-21"), "provider": provider}
    assert extract(users("I enjoy jazz."), model)
    assert "sk-secret" not in str(fake.requests[-1].headers)
    fake.behaviour = Behaviour(status=401)
    with pytest.raises(ModelError, match=r"answered 401 \(fake\); no key was sent: name its source"):
        extract(users("I enjoy jazz."), model)
    monkeypatch.delenv("AZURE_OPENAI_AD_TOKEN")
    with pytest.raises(ModelError, match="the key is that of the environment variable OPENAI_API_KEY"):
        extract(users("I enjoy jazz."), chat(fake, api_key_env="OPENAI_API_KEY"))


@pytest.mark.feature("F20")
def test_the_provider_s_own_servers_are_known_by_scheme_host_and_port() -> None:
    def is_own(provider: str, address: str) -> bool:
        url = openai.AsyncOpenAI(base_url=address, api_key="none").base_url
        return is_own_server(provider, url.scheme, url.host, url.port)

    for address in ("https://api.openai.com/v1", "https://API.OpenAI.com:443/v1"):
        assert is_own("openai", address)
        assert not is_own("azure", address)
    for host in ("a-1.openai.azure.com", "eu.cognitiveservices.azure.com", "x.services.ai.azure.com"):
        assert is_own("azure", f"https://{host}/")
        assert not is_own("openai", f"https://{host}/")
    for address in (
        "http://api.openai.com/v1",
        "https://api.openai.com:8443/v1",
        "https://api.openai.com.evil.example/v1",
        "https://api.openai.com@evil.example/v1",
        "https://evil.example/api.openai.com",
        "https://evil.example#@api.openai.com",
        "https://evil.openai.azure.com.evil.example/",
        "https://openai.azure.com/",
    ):
        assert not is_own("openai", address), address
        assert not is_own("azure", address), address


@pytest.mark.feature("F20")
def test_a_redirect_is_not_followed(fake: FakeModelServer) -> None:
    with FakeModelServer() as other:
        fake.behaviour = Behaviour(status=307, location=f"{other.url}/chat/completions")
        with pytest.raises(ModelError, match=r"answered 307.*; redirects are not followed"):
            extract(users("I enjoy jazz."), chat(fake, api_key_env="OPENAI_API_KEY"))
        assert not other.requests


def test_a_password_in_the_address_is_refused(fake: FakeModelServer) -> None:
    model = chat(fake, base_url=fake.url.replace("http://", "http://user:pw@"), api_key_env="OPENAI_API_KEY")
    with pytest.raises(ModelError, match="base_url holds a user or a password") as caught:
        extract(users("I enjoy jazz."), model)
    assert "pw" not in str(caught.value)
    assert not fake.requests


def test_a_missing_key_is_named() -> None:
    settings = {"api_key_env": "AGENT_MEMORY_KEY_NONE"}
    with pytest.raises(ModelError, match="AGENT_MEMORY_KEY_NONE is not set"):
        extract(users("I enjoy jazz."), {"name": "m", "provider": "openai", "model": "m", "settings": settings})


def test_the_key_of_another_provider_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.delenv("AZURE_OPENAI_API_KEY", raising=False)
    settings = {"base_url": "https://a.openai.azure.com", "api_version": "2024-10-21"}
    with pytest.raises(ModelError, match="AZURE_OPENAI_API_KEY is not set"):
        extract(users("I enjoy jazz."), {"name": "m", "provider": "azure", "model": "m", "settings": settings})


def test_no_error_shows_the_key(fake: FakeModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    model = chat(fake, api_key_env="OPENAI_API_KEY")
    fake.behaviour = Behaviour(status=401, body='{"error": {"message": "Not sk-secret", "code": "sk-secret"}}')
    calls: list[Json] = []
    with pytest.raises(ModelError, match="the server answered 401; the key is that of") as caught:
        run("extract_memories", extraction(users("I enjoy jazz."), model), calls)
    assert caught.value.__suppress_context__
    assert "sk-secret" not in json.dumps(calls)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-sec\nret")
    with pytest.raises(ModelError, match="OPENAI_API_KEY holds characters") as caught:
        extract(users("I enjoy jazz."), model)
    assert "ret" not in str(caught.value).replace("characters", "")


@pytest.fixture
def key_dir(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    folder = tmp_path / "keys"
    folder.mkdir()
    monkeypatch.setenv("AGENT_MEMORY_KEY_DIR", str(folder))
    return folder


def key_file(folder: Path, content: bytes, mode: int = 0o600) -> None:
    (folder / "openai.key").write_bytes(content)
    (folder / "openai.key").chmod(mode)


def test_a_key_file_wins_and_is_read_anew(fake: FakeModelServer, key_dir: Path) -> None:
    model = chat(fake, api_key_file="openai.key", api_key_env="OPENAI_API_KEY")

    async def jobs() -> None:
        async with Models() as models:
            for key in (b"sk-one\n", b"  sk-two"):
                key_file(key_dir, key)
                await models.run("extract_memories", extraction(users("a"), model), [])

    asyncio.run(jobs())
    assert [request.authorization for request in fake.requests] == ["Bearer sk-one", "Bearer sk-two"]


@pytest.mark.parametrize(
    ("content", "mode", "reason"),
    [
        (b"sk-one", 0o620, r"openai\.key can be read or written by others"),
        (b" \n", 0o600, r"openai\.key holds no key"),
        (b"sk-one\nsk-two", 0o600, r"openai\.key holds characters that no API key has"),
    ],
)
def test_a_bad_key_file_is_refused(
    fake: FakeModelServer, key_dir: Path, content: bytes, mode: int, reason: str
) -> None:
    key_file(key_dir, content, mode)
    with pytest.raises(ModelError, match=reason) as caught:
        extract(users("a"), chat(fake, api_key_file="openai.key"))
    assert "sk-" not in str(caught.value)
    assert not fake.requests


@pytest.mark.usefixtures("key_dir")
@pytest.mark.parametrize("name", ["../openai.key", "/etc/passwd"])
def test_a_key_file_is_a_bare_name(fake: FakeModelServer, name: str) -> None:
    with pytest.raises(ModelError, match="must be a bare file name"):
        extract(users("a"), chat(fake, api_key_file=name))


@pytest.mark.usefixtures("key_dir")
def test_a_missing_key_file_or_folder_is_named(fake: FakeModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match=r"key file openai\.key cannot be read: No such file"):
        extract(users("a"), chat(fake, api_key_file="openai.key"))
    monkeypatch.delenv("AGENT_MEMORY_KEY_DIR")
    with pytest.raises(ModelError, match="AGENT_MEMORY_KEY_DIR is not set"):
        extract(users("a"), chat(fake, api_key_file="openai.key"))
