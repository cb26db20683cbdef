"""The file that names the nodes of a cluster, nodes.toml."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Conninfo

from ..errors import InvalidValueError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DEFAULT_PARTITIONS = 64
_SECRET = {option.keyword.decode() for option in Conninfo.get_defaults() if option.dispchar == b"*"}
"""The parameters of libpq that hold secrets, such as password and sslpassword."""
_EXAMPLE = 'See docs/cluster.md: [cluster] partitions = 64, and for each node [nodes.NAME] dsn = "host=... dbname=...".'


@dataclass(frozen=True)
class NodesFile:
    """What the file says.

    Attributes:
        partitions: how many partitions the cluster has.
        dsn: where each node is, by its name, without role and password.
        owned: the partitions that the file gives to nodes, by name; a node that names none is missing.
    """

    partitions: int
    dsn: Mapping[str, str]
    owned: Mapping[str, Sequence[int]]

    def assignment(self) -> list[str]:
        """Return the node of each partition: as the file says, or evenly where it says nothing."""
        names = list(self.dsn)
        if not self.owned:
            return [names[place * len(names) // self.partitions] for place in range(self.partitions)]
        given = [""] * self.partitions
        for name, places in self.owned.items():
            for place in places:
                if given[place]:
                    raise InvalidValueError(f"partition {place} belongs to {given[place]} and to {name}", hint=_EXAMPLE)
                given[place] = name
        if "" in given:
            raise InvalidValueError(f"partition {given.index('')} belongs to no node", hint=_EXAMPLE)
        return given


def read(path: str | os.PathLike[str]) -> NodesFile:
    """Read nodes.toml."""
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidValueError(f"{os.fspath(path)}: {error}", hint=_EXAMPLE) from None
    if unknown := content.keys() - {"cluster", "nodes"}:
        raise _wrong(path, f"{sorted(unknown)[0]} is unknown")
    partitions = content.get("cluster", {}).get("partitions", DEFAULT_PARTITIONS)
    if type(partitions) is not int or not 1 <= partitions <= 65536:
        raise _wrong(path, "cluster.partitions must be a number from 1 to 65536")
    nodes = content.get("nodes")
    if not isinstance(nodes, dict) or not nodes or not all(isinstance(node, dict) for node in nodes.values()):
        raise _wrong(path, "it names no nodes")
    dsn, owned = {}, {}
    for name, node in nodes.items():
        if unknown := node.keys() - {"dsn", "partitions"}:
            raise _wrong(path, f"nodes.{name}.{sorted(unknown)[0]} is unknown")
        dsn[name] = _place(path, name, node.get("dsn"))
        if "partitions" in node:
            owned[name] = _numbers(path, name, node["partitions"], partitions)
    return NodesFile(partitions, dsn, owned)


def _place(path: str | os.PathLike[str], name: str, dsn: Any) -> str:
    """Return a connection string without role and password: those of the caller are used everywhere."""
    try:
        known = conninfo_to_dict(dsn) if isinstance(dsn, str) else {}
    except ProgrammingError:  # whose text may repeat a password
        known = {}
    if not known:
        raise _wrong(path, f"nodes.{name}.dsn is no connection string")
    return make_conninfo(**{key: str(value) for key, value in known.items() if key != "user" and key not in _SECRET})


def _numbers(path: str | os.PathLike[str], name: str, text: Any, partitions: int) -> list[int]:
    """Return the numbers in a text such as "0-31,40"."""
    numbers: list[int] = []
    for part in str(text).split(",") if text != "" else []:
        first, _, last = part.strip().partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()):
            raise _wrong(path, f'nodes.{name}.partitions must look like "0-31,40"')
        numbers += range(int(first), int(last or first) + 1)
    if numbers and max(numbers) >= partitions:
        raise _wrong(path, f"nodes.{name}.partitions: the last partition is {partitions - 1}")
    return numbers


def _wrong(path: str | os.PathLike[str], problem: str) -> InvalidValueError:
    return InvalidValueError(f"{os.fspath(path)}: {problem}", hint=_EXAMPLE)
