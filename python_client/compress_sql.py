"""Compresses the SQL files in the wheel: 0.6 MB instead of 4.2, both together, as most lines are in both (2026-11)."""

from __future__ import annotations

import lzma
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompressedSql(BuildHookInterface[Any]):
    """Puts the install files of build/ into the wheel as install.xz. An editable installation reads the files."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the compressed file beside the others: the file with all add-ons, a zero byte, that of the core alone.

        The file takes its name when it is whole, because two wheels may be built at once.
        """
        if version != "editable":
            build = Path(self.root, "build")
            compressed = build / "install.xz"
            files = (build / "agent_memory.sql", build / "agent_memory_core.sql")
            with tempfile.NamedTemporaryFile(dir=build, delete=False) as written:
                written.write(lzma.compress(b"\0".join(file.read_bytes() for file in files)))
            Path(written.name).chmod(0o644)
            Path(written.name).replace(compressed)
            build_data["force_include"][str(compressed)] = "agent_memory/install.xz"
