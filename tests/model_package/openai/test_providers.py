"""Providers and packages that are missing, and the copy of the package inside the database."""

from __future__ import annotations

import ast
import json
import os
import runpy
import subprocess
import sys

import pytest
from agent_memory_models import ModelError

from tests.model_package.openai.steps import every_kind
from tests.support.fake_model_server import FakeModelServer
from tests.support.model_payloads import LOCAL, PLPYTHON, extract, extraction, run, users


# Providers
def test_azure_is_called_by_its_own_path_and_version(fake: FakeModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_MEMORY_KEY_AZURE", "secret")
    settings = {"base_url": fake.url, "api_version": "2024-10-21", "api_key_env": "AGENT_MEMORY_KEY_AZURE"}
    model = {"name": "az", "provider": "azure", "model": "my-deployment", "settings": settings}
    for kind, payload in every_kind(model).items():
        run(kind, payload)
        path = "embeddings" if kind == "embed" else "chat/completions"
        assert fake.requests[-1].headers["api-key"] == "secret"
        assert fake.requests[-1].path.endswith(f"/deployments/my-deployment/{path}?api-version=2024-10-21")


@pytest.mark.parametrize("settings", [{"base_url": "http://127.0.0.1:9"}, {"api_version": "2024-10-21"}])
def test_azure_needs_endpoint_and_version(monkeypatch: pytest.MonkeyPatch, settings: dict[str, str]) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    with pytest.raises(ModelError, match=r"base_url .* and api_version"):
        extract(users("Tea"), {"name": "az", "provider": "azure", "model": "m", "settings": settings})


def test_missing_packages_are_named() -> None:
    code = f"""
import asyncio, json, sys
sys.modules["openai"] = None
from agent_memory_models import ModelError, Models
model = {{"name": "m", "provider": "openai", "model": "m", "settings": {{}}}}
payload = {{**json.loads({json.dumps(extraction(users("I enjoy jazz.")))!r}), "model": model}}
try:
    asyncio.run(Models().run("extract_memories", payload, []))
except ModelError as error:
    assert "needs the Python packages openai and pydantic" in str(error), error
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": str(PLPYTHON)})


@pytest.mark.parametrize(
    ("kind", "provider", "reason"),
    [("extract_memories", "pigeon", "unknown provider: pigeon"), ("dream", "local", "unknown kind of job: dream")],
)
def test_unknown_work_is_refused(kind: str, provider: str, reason: str) -> None:
    with pytest.raises(ModelError, match=reason):
        run(kind, extraction([], {**LOCAL, "provider": provider}))


# The copy inside the database
def test_the_embedded_sources_are_the_files() -> None:
    embed = runpy.run_path(str(PLPYTHON / "embed.py"))["embed"]
    packages = (PLPYTHON / "agent_memory_models", PLPYTHON / "agent_memory_server")
    literal = embed(*packages)
    assert literal.isascii()
    assert "$" not in literal
    files = {
        ".".join(path.relative_to(PLPYTHON).with_suffix("").parts).removesuffix(".__init__"): path.read_text()
        for package in packages
        for path in package.rglob("*.py")
    }
    assert ast.literal_eval(literal) == files
