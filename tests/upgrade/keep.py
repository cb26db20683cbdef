"""Keeps a version for the tests of upgrades: its wheel, and a dump of a filled database.

``python -m tests.upgrade.keep [--source FOLDER]`` reads the working tree, or another one such as a checked out tag. The
database belongs to a role without superuser rights and has neither PL/Python nor pgcrypto, so every server restores it.
"""

from __future__ import annotations

import argparse
import lzma
import re
import subprocess
import sys
from pathlib import Path

import psycopg

from tests.support import releases
from tests.support.servers import ROOT, Server, running_server
from tests.support.sqlapi import TABLES, Api
from tests.upgrade.fill import EMPTY, fill


def keep_wheel(source: Path) -> str:
    """Build the wheel of a working tree and return its version."""
    build = [
        str(Path(sys.executable).with_name("hatchling")),
        "build",
        "--target",
        "wheel",
        "--directory",
        str(releases.FOLDER),
    ]
    built = subprocess.run(build, cwd=source, check=True, capture_output=True, text=True).stderr
    return str(re.findall(r"pg_agent_memory-([\d.]+)-py3", built)[0])


def keep_dump(server: Server, version: str) -> None:
    """Install the version that was kept, fill it and dump it.

    Raises SystemExit when a table stays empty: tests.upgrade.fill has to say how that one gets a row.
    """
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute("drop database if exists kept with (force)")
        connection.execute("drop role if exists keeper")
        connection.execute("create role keeper login")
        connection.execute("create database kept owner keeper")
    with psycopg.connect(server.conninfo("kept"), autocommit=True) as connection:
        connection.execute("create extension vector; set session authorization keeper")
        connection.execute(releases.install_script(version).encode())
        api = Api(connection)
        fill(api)
        counts = {table: api.value(f"select count(*) from memory.{table}") for [table] in api.query(TABLES)}
        if empty := [table for table, count in counts.items() if count == 0 and table not in EMPTY]:
            raise SystemExit(f"tests/upgrade/fill.py leaves no row in {', '.join(empty)}")
        connection.execute("drop extension if exists pgcrypto")
    command = [str(server.bin_dir / "pg_dump"), "--no-owner", "--dbname", server.conninfo("kept")]
    dumped = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # Newer programs frame a dump in a command that older ones do not know.
    script = re.sub(r"^\\(un)?restrict .*\n", "", dumped, flags=re.MULTILINE)
    releases.dump(version).write_bytes(lzma.compress(script.encode(), preset=9))


def main() -> None:
    """Write both files and say which."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, default=ROOT, metavar="FOLDER", help="a working tree of the version")
    version = keep_wheel(parser.parse_args().source)
    with running_server("system") as server:
        keep_dump(server, version)
    print(f"tests/upgrade has the wheel and a dump of {version}: commit both")


if __name__ == "__main__":
    main()
