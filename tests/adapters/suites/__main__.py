"""Run the frameworks' own tests against the adapters: ``python -m tests.adapters.suites langgraph openai-agents``.

The tests come with the source distributions of the installed versions, which pip downloads, and run unchanged: a plugin
of pytest (``langgraph_stores``, ``agents_sessions``) puts the adapter in the place of the class that they import. Its
LEFT_OUT names the tests that are not run, with the reasons. docs/adapters.md has the counts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote

from tests.support.servers import ROOT, install_agent_memory, running_server

PLUGINS = ("pytest-asyncio", "pytest-mock")
SUITES = {
    "langgraph": [
        ("langgraph-checkpoint", "langgraph_stores", ["test_store.py"]),
        ("langgraph-checkpoint-postgres", "langgraph_stores", ["test_store.py", "test_async_store.py"]),
        (
            "langgraph-checkpoint-postgres",
            "langgraph_savers",
            ["test_sync.py", "test_async.py", "test_prune.py", "test_conformance_delta.py"],
        ),
    ],
    "openai-agents": [
        (
            "openai-agents",
            "agents_sessions",
            [
                "memory/test_session.py",
                "memory/test_session_limit.py",
                "memory/test_session_context_wrapper.py",
                "memory/test_openai_responses_compaction_session.py",
                "memory/test_compaction_model_visibility.py",
            ],
        ),
    ],
}
"""For each framework: the packages whose tests are run, the plugin, and the files."""


def pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--quiet", *arguments], check=True)


def unpacked(package: str, folder: Path) -> Path:
    """The folder of the source distribution of the installed version of a package."""
    pip("download", "--no-deps", "--no-binary", ":all:", "--dest", str(folder), f"{package}=={version(package)}")
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    [root] = (entry for entry in folder.iterdir() if entry.is_dir())
    return root


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("frameworks", nargs="*", help="all, unless some are named")
    wanted, options = parser.parse_known_args()
    failed = 0
    with tempfile.TemporaryDirectory() as directory, running_server("system") as server:
        for name in ("template1", "postgres"):  # the databases that tests make, and the one for the others
            install_agent_memory(server, name)
        plugins = Path(directory, "plugins")
        pip("install", "--no-deps", "--target", str(plugins), *PLUGINS)
        paths = [plugins, ROOT / "python_client", ROOT / "plpython", Path(__file__).parent]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "SUITE_URI": f"postgresql://{server.user}@/postgres?host={quote(server.host, safe='')}&port={server.port}",
        }
        for framework in wanted.frameworks or SUITES:
            for package, plugin, files in SUITES[framework]:
                folder = Path(directory, f"{package}-{plugin}")
                folder.mkdir()
                root = unpacked(package, folder)
                command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", plugin, "-W", "ignore", *options]
                print(f"{package} {version(package)}", flush=True)
                failed += subprocess.run(
                    [*command, *(f"tests/{f}" for f in files)], cwd=root, env=environment
                ).returncode
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
