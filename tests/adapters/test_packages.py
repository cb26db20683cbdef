"""Adapters without their frameworks, and the weight of the package without its adapters."""

from __future__ import annotations

import importlib
import subprocess
import sys
from types import ModuleType

import pytest
from agent_memory import AgentMemoryError

EXTRAS = {
    "adk": ("google", "adk"),
    "agent_framework": ("agent_framework", "agent-framework"),
    "anthropic": ("anthropic", "anthropic"),
    "autogen": ("autogen_core", "autogen"),
    "langgraph": ("langgraph", "langgraph"),
    "llama_index": ("llama_index", "llama-index"),
    "openai_agents": ("agents", "openai-agents"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai"),
}
"""For each adapter the package that it imports, and the extra."""


def forget(monkeypatch: pytest.MonkeyPatch, adapter: str, package: str) -> str:
    """Have the adapter and its framework imported anew, and return the adapter's name."""
    name = f"agent_memory.adapters.{adapter}"
    for module in list(sys.modules):
        if module.startswith((name, f"{package}.")) or module == package:
            monkeypatch.delitem(sys.modules, module)
    return name


@pytest.mark.parametrize("adapter", EXTRAS)
@pytest.mark.feature("F15")
def test_a_missing_framework_is_named_with_the_pip_command(adapter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package, extra = EXTRAS[adapter]
    name = forget(monkeypatch, adapter, package)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"needs the package {package}") as refusal:
        importlib.import_module(name)
    assert isinstance(refusal.value, AgentMemoryError)
    assert refusal.value.hint == f"Run: pip install --upgrade 'pg-agent-memory[{extra}]'"


def test_a_framework_of_another_version_is_named_too(monkeypatch: pytest.MonkeyPatch) -> None:
    name = forget(monkeypatch, "autogen", "autogen_core")
    monkeypatch.setitem(sys.modules, "autogen_core", ModuleType("autogen_core"))
    with pytest.raises(ImportError, match=r"cannot use the installed version of the package autogen_core .*Function"):
        importlib.import_module(name)


def test_the_package_imports_neither_frameworks_nor_openai() -> None:
    code = "import sys, agent_memory.adapters.mem0, agent_memory.adapters.openai; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {module.partition(".")[0] for module in done.stdout.split()}
    assert not loaded & {"openai", "pydantic", "tiktoken", *(package for package, _ in EXTRAS.values())}


def test_the_import_of_the_package_loads_nothing_before_it_is_used() -> None:
    code = """
import sys, agent_memory
assert not {"psycopg", "asyncio"} & set(sys.modules), sys.modules
assert agent_memory.errors.NotFoundError is agent_memory.NotFoundError
assert set(agent_memory.__all__) <= set(dir(agent_memory))
from agent_memory import *
assert Memory is agent_memory.client.Memory
try:
    agent_memory.Memroy
except AttributeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "module 'agent_memory' has no attribute 'Memroy'\n"
