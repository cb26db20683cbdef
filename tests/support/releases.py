"""The versions that were released: what each installed, its Python package, and a filled database of each.

``python -m tests.upgrade.keep`` adds one.
"""

from __future__ import annotations

import lzma
import os
import sys
import zipfile
from pathlib import Path

from tests.support.servers import ROOT

FOLDER = ROOT / "tests" / "upgrade"
RELEASES = sorted(
    (path.name.split("-")[1] for path in FOLDER.glob("pg_agent_memory-*.whl")),
    key=lambda version: [int(number) for number in version.split(".")],
)
"""All versions, oldest first."""


def wheel(version: str) -> Path:
    """The Python package of a release. Python imports it as it is, because a wheel is a zip file."""
    return FOLDER / f"pg_agent_memory-{version}-py3-none-any.whl"


def dump(version: str) -> Path:
    """A database of a release with rows in all tables, as pg_dump writes it, compressed: 0.3 MB in place of 2.4."""
    return FOLDER / f"agent_memory-{version}.sql.xz"


def unpacked(version: str, folder: Path) -> Path:
    """The dump of a release as psql reads it, in a folder."""
    script = folder / dump(version).stem
    script.write_bytes(lzma.decompress(dump(version).read_bytes()))
    return script


def install_script(version: str) -> str:
    """The file that installed a release."""
    with zipfile.ZipFile(wheel(version)) as package:
        return lzma.decompress(package.read("agent_memory/install.xz")).split(b"\0")[0].decode()


def environment(version: str) -> dict[str, str]:
    """The environment in which Python imports the package of a release."""
    return {**os.environ, "PYTHONPATH": str(wheel(version)), "AGENT_MEMORY_KEY_TEST": "key-of-the-test-server"}


def command(*arguments: str) -> list[str]:
    """``agent-memory`` with arguments, of the release that ``environment`` names."""
    return [sys.executable, "-c", "from agent_memory.cli import app; app()", *arguments]
