"""Compresses the SQL file in the wheel: installed, the package takes 2.6 instead of 4.2 MB (2026-11)."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompressedSql(BuildHookInterface[Any]):
    """Puts build/agent_memory.sql into the wheel as agent_memory.sql.gz. An editable installation reads the file."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the compressed file beside the other one, without a time in it: the same SQL gives the same wheel.

        The file takes its name when it is whole, because two wheels may be built at once.
        """
        if version != "editable":
            sql = Path(self.root, "build", "agent_memory.sql")
            compressed = sql.with_suffix(".sql.gz")
            with tempfile.NamedTemporaryFile(dir=sql.parent, delete=False) as written:
                written.write(gzip.compress(sql.read_bytes(), mtime=0))
            Path(written.name).chmod(0o644)
            Path(written.name).replace(compressed)
            build_data["force_include"][str(compressed)] = "agent_memory/agent_memory.sql.gz"
