"""The commands of a cluster: many servers that share the users (docs/cluster.md)."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from rich.table import Table

from .._text import counted
from ..client import Memory
from ..errors import InvalidValueError
from ..install import install as install_into
from ..source import named_database
from .console import Dsn, Group, connected
from .printing import console, plain, stderr

cluster = typer.Typer(cls=Group, no_args_is_help=True, help="Many servers that share the users: docs/cluster.md.")

File = Annotated[Path, typer.Option("--file", metavar="FILE", help="nodes.toml, which names the nodes.")]


def _database(dsn: str | None) -> str:
    database = named_database(dsn)
    if database is None:
        raise InvalidValueError(
            "a cluster is made of databases, and none is named",
            hint="Name any node with --dsn or AGENT_MEMORY_DSN.",
        )
    return database


@cluster.command()
def init(file: File, dsn: Dsn = None) -> None:
    """Install agent_memory on all nodes of a file and write the map. --dsn says as which role; its place is unused."""
    from ..cluster import nodes, nodes_file

    wanted = nodes_file.read(file)
    made = nodes.begin(wanted.dsn, wanted.assignment(), named_database(dsn) or "")
    owned = Counter(made.partitions)
    for name in made.nodes:
        console.print(plain(f"{name}: {counted(owned[name], 'partition')}"))
    console.print(
        f"The cluster has {counted(len(made.nodes), 'node')} and {counted(len(made.partitions), 'partition')}."
    )


@cluster.command()
def add(file: File, dsn: Dsn = None) -> None:
    """Add the nodes of a file that the cluster lacks. They get users by agent-memory cluster move."""
    from ..cluster import nodes, nodes_file

    database = _database(dsn)
    with nodes.opened(database) as opened:
        new = nodes.add(opened, nodes_file.read(file).dsn, database)
    console.print(plain(f"Added {', '.join(new)}." if new else "The cluster has all of these nodes already."))


@cluster.command()
def install(dsn: Dsn = None) -> None:
    """Install this version of agent_memory on each node, one after the other; calls wait meanwhile, or go on."""
    from ..cluster import nodes

    with nodes.opened(_database(dsn)) as opened:
        for name, node in opened.nodes.items():
            before = Memory(node.connection).version()
            install_into(node.connection)
            after = Memory(node.connection).version()
            console.print(plain(f"{name}: {after} is current" if before == after else f"{name}: {before} -> {after}"))


cluster.command("upgrade")(install)


@cluster.command()
def status(dsn: Dsn = None) -> None:
    """Show the nodes: version, map, partitions and users. Status 1 when one is out of reach."""
    from ..cluster import nodes

    table = Table(box=None)
    for title in ("node", "version", "map", "partitions", "users", "due jobs", "problems"):
        table.add_column(title)
    with nodes.opened(_database(dsn), without=True) as opened:
        owned = Counter(opened.newest.partitions)
        for name, node in opened.nodes.items():
            memory = Memory(node.connection)
            state = memory.admin.status()
            users = memory.admin.list_users(row_limit=1)
            version = node.map.version if node.map else 0
            cells = (version, owned[name], users[0].total_count if users else 0, state["queue"]["due"])
            table.add_row(plain(name), state["version"], *map(str, cells), str(len(state["problems"])))
        for name in opened.unreachable:
            table.add_row(plain(name), "out of reach", "", str(owned[name]), "", "", "")
        moving, is_whole = opened.newest.moving, not opened.unreachable
    console.print(table)
    if moving:
        console.print(plain(f"Being moved: {', '.join(moving)}. Run the same move again if none is running."))
    if not is_whole:
        raise typer.Exit(1)


@cluster.command()
def doctor(
    repair: Annotated[
        bool, typer.Option("--repair", help="Give a node that missed a change what the majority of the nodes has.")
    ] = False,
    dsn: Dsn = None,
) -> None:
    """Check that all nodes have the same version, map and settings, and no users of other nodes; 1 if they do not."""
    from ..cluster import nodes
    from ..cluster.checks import check

    is_broken = False
    with nodes.opened(_database(dsn), only_look=True, without=True) as opened:
        for finding in check(opened, repair=repair):
            is_broken = is_broken or not finding.is_mended
            mark = "mended" if finding.is_mended else "broken"
            console.print(plain(f"{mark}  {finding.node}  {finding.what}: {finding.detail}"), soft_wrap=True)
        if not is_broken:
            console.print(f"All {len(opened.nodes)} nodes agree.")
    if is_broken:
        raise typer.Exit(1)


@cluster.command()
def move(
    to: Annotated[str, typer.Option("--to", metavar="NODE", help="The node that gets the users.")],
    partition: Annotated[
        list[int] | None,
        typer.Option(help="The number of a partition; may be given several times."),
    ] = None,
    user: Annotated[list[str] | None, typer.Option(help="The id of a user; may be given several times.")] = None,
    dsn: Dsn = None,
) -> None:
    """Move partitions or users to another node while others work; run again, it goes on where it was broken off.

    Calls for the users who are being moved get an error to retry meanwhile. --to the node that serves them takes a move
    back that was broken off, also while other nodes are out of reach.
    """
    from ..cluster import nodes
    from ..cluster.moving import move_partition, move_user

    if not partition and not user:
        raise InvalidValueError("name --partition or --user", hint="agent-memory cluster move --partition 7 --to b")

    def report(user_id: str, number: int, total: int) -> None:
        if stderr.is_terminal:
            stderr.print(plain(f"{number + 1} of {total}: {user_id}"))

    with nodes.opened(_database(dsn), without=True) as opened:
        for number in partition or []:
            moved = move_partition(opened, number, to, report)
            console.print(plain(f"Partition {number}: {counted(moved, 'user')} moved to {to}."))
        for user_id in user or []:
            moved = move_user(opened, user_id, to, report)
            console.print(plain(f"{user_id}: {'moved to' if moved else 'is served by'} {to}."))


@cluster.command()
def split(
    node: Annotated[str, typer.Argument(metavar="NODE", help="The node to split.")],
    to: Annotated[str, typer.Option("--to", metavar="NODE", help="Its streaming standby.")],
    partition: Annotated[
        list[int] | None, typer.Option(help="A partition to give; may be given several times.", show_default="half")
    ] = None,
    dsn: Dsn = None,
) -> None:
    """Promote a standby of a node, named by "add", and give it half of the partitions; run again, it goes on."""
    from ..cluster import nodes
    from ..cluster.splitting import split as split_node

    with nodes.opened(_database(dsn), only_look=True) as opened:
        given = split_node(opened, node, to, partition or None)
    console.print(plain(f"{to} serves the {counted(len(given), 'partition')} {', '.join(map(str, given))}."))


@cluster.command()
def proxy(
    dsn: Annotated[str, typer.Option("--dsn", help="The database of the proxy, as a superuser there.")],
    file: Annotated[
        Path | None, typer.Option("--file", help="nodes.toml.", show_default="the map of AGENT_MEMORY_DSN")
    ] = None,
) -> None:
    """Make a database a proxy, whose functions PL/Proxy runs on the nodes, or bring a proxy up to the newest map.

    The proxy has the role of AGENT_MEMORY_DSN on the nodes, and its password, if that is in the connection string.
    """
    from ..cluster import nodes, nodes_file
    from ..cluster.proxy import make_proxy

    known = {name: str(value) for name, value in conninfo_to_dict(os.environ.get("AGENT_MEMORY_DSN", "")).items()}
    place = known if file is None else conninfo_to_dict(next(iter(nodes_file.read(file).dsn.values())))
    node = make_conninfo(**known | {name: str(value) for name, value in place.items()})
    with nodes.opened(_database(node)) as opened, connected(dsn) as connection:
        role = next(iter(opened.nodes.values())).connection.info.user
        forwarded = make_proxy(opened, connection, role, known.get("password"))
    console.print(f"The proxy forwards {counted(forwarded, 'function')} to {counted(len(opened.nodes), 'node')}.")
