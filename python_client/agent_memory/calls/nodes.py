"""The map of a cluster, and how the answers of its nodes become one; see docs/cluster.md."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import PoolTimeout

from ..errors import NotConnectedError, RetryableError
from ..types import Check

CONNECT_SECONDS = 5
"""Seconds within which a node must accept a connection, unless its address says otherwise."""
_LIVELY = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
"""Settings by which libpq gives up a machine that has stopped answering within 25 seconds, and not after two hours."""
NO_MAP = (
    psycopg.errors.UndefinedFunction,
    psycopg.errors.UndefinedTable,
    psycopg.errors.InvalidSchemaName,
    psycopg.errors.InsufficientPrivilege,
)
"""What a database answers that has no agent_memory, one of an earlier version, or a role that may not call it."""
PLACE = ("host", "hostaddr", "port", "dbname", "service")
"""The parameters of a connection string that say where a database is."""

CHANGES_OF_ALL = {
    "activate_model",
    "bind_role",
    "deactivate_model",
    "drop_model",
    "register_model",
    "reset_prompt",
    "set_policy",
    "set_prompt",
    "set_token_key",
    "trust_claims",
    "unbind_role",
}
"""What is the same on all nodes: changed on all, or on none. A policy of a user belongs to the user's node."""

IN_TURN = {"claim_jobs"}
"""What asks one node after the other until it has enough: ``max_jobs`` of all of them."""
DIAGNOSES = {"doctor", "status"}
"""What names nodes that are out of reach, instead of being an error."""

_PAGE = 50
"""How many users ``list_users`` returns unless told."""

Answers = Mapping[str, Any]
"""What a method returned, by the name of the node."""
Missing = Mapping[str, Exception]
"""Why a node is out of reach, by its name."""
_HELP = "Start the node, or see: agent-memory cluster status"


def partition_of(user_id: str, partitions: int = 64) -> int:
    """Return the partition that a user belongs to, from 0 to ``partitions`` - 1, as ``memory.partition_of`` does.

    The first 32 bits of the MD5 of the id in UTF-8, read as a big-endian number, modulo the number of partitions.
    """
    return int(user_hash(user_id)[:8], 16) % partitions


def user_hash(user_id: str) -> str:
    """Return what the map knows a user by: the MD5 of the id in UTF-8, as hex digits."""
    return hashlib.md5(user_id.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True)
class ClusterMap:
    """Which node serves which partition.

    Attributes:
        version: grows by each change.
        node: the node that the map was read from.
        partitions: the name of the node of each partition, from 0 on.
        users: the nodes of users who were moved by themselves, by the MD5 of their ids.
        moving: numbers of partitions and hashes of users that are being moved, so that no node serves them.
        nodes: of each node by name ``dsn``, where it is, and ``number``.
    """

    version: int
    node: str
    partitions: Sequence[str]
    users: Mapping[str, str]
    moving: Sequence[str]
    nodes: Mapping[str, Mapping[str, Any]]

    def node_of(self, user_id: str) -> str:
        """Return the name of the node that serves a user."""
        if self.users and (node := self.users.get(user_hash(user_id))) is not None:
            return node
        return self.partitions[partition_of(user_id, len(self.partitions))]

    def is_in(self, user_id: str, partitions: Container[int]) -> bool:
        """Whether a user belongs to one of these partitions, and was not moved without it."""
        return user_hash(user_id) not in self.users and partition_of(user_id, len(self.partitions)) in partitions

    def moving_partitions(self) -> set[int]:
        """Return the partitions that are being moved; the other elements of ``moving`` are hashes of 32 digits."""
        return {int(each) for each in self.moving if len(each) < 32}

    def address(self, node: str, conninfo: str) -> str:
        """Return a connection string that leads to a node, as the role and with the settings of another one."""
        kept: dict[str, Any] = {name: value for name, value in conninfo_to_dict(conninfo).items() if name not in PLACE}
        return make_conninfo(**{**_LIVELY, **conninfo_to_dict(self.nodes[node]["dsn"]), **kept})


class named:  # noqa: N801  # a context manager; a generator would take three times as long, in each call
    """Have the errors of a node that is out of reach, or not up to date, name the node; what it says itself stays."""

    __slots__ = ("_node",)

    def __init__(self, node: str) -> None:
        self._node = node

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, PoolTimeout):
            raise PoolTimeout(f'node "{self._node}": {error}') from None
        if type(error) is NotConnectedError or (
            type(error) is RetryableError and not isinstance(error.__cause__, psycopg.Error)
        ):
            raise type(error)(f'node "{self._node}": {error.message}', hint=error.hint) from error
        if isinstance(error, psycopg.OperationalError) and (error.sqlstate or "57P01")[:4] == "57P0":  # it broke off
            raise NotConnectedError(
                f'node "{self._node}": {str(error).partition(chr(10))[0]}',
                hint="The call may have been done. With idempotency_key or memory_id a repetition stores once.",
            ) from error


def user_of(given: Mapping[str, Any]) -> Any:
    """Return the user whose node a call goes to, or None.

    Of two users who are merged it is the one who stays; what is about a space goes to the node of the space.
    """
    if isinstance(given.get("space"), str):
        return f"space:{given['space']}"
    return given.get("user_id", given.get("into_user_id"))


def is_for_all(function: str, given: Mapping[str, Any]) -> bool:
    """Whether a call changes what is the same on all nodes."""
    return function in CHANGES_OF_ALL and (function == "bind_role" or given.get("user_id") is None)


def merger_of(function: str, given: Mapping[str, Any]) -> Callable[[Answers], Any] | None:
    """Return how the answers of all nodes become one, or None where one node can answer for all."""
    if function == "list_users":
        offset, limit = given.get("row_offset") or 0, given.get("row_limit", _PAGE)
        return lambda answers: _users(answers, offset, limit)
    return _MERGERS.get(function)


def asked_of_each(function: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that each node gets, so that the page of all can be made of theirs."""
    if function != "list_users" or not given.get("row_offset"):
        return dict(given)
    limit = given.get("row_limit", _PAGE)
    return {**given, "row_offset": 0, "row_limit": None if limit is None else limit + given["row_offset"]}


def _sums(answers: Answers) -> Any:
    """Add up numbers, and objects of numbers."""
    values = list(answers.values())
    if not isinstance(values[0], Mapping):
        return sum(values)
    return {name: sum(value.get(name, 0) for value in values) for name in {name: None for v in values for name in v}}


def _lists(answers: Answers) -> list[Any]:
    """Put lists together."""
    return [each for answer in answers.values() for each in answer]


def _users(answers: Answers, offset: int, limit: int | None) -> list[Any]:
    never = datetime.min.replace(tzinfo=timezone.utc)
    rows = sorted((row for rows in answers.values() for row in rows), key=lambda row: row.user_id)
    rows.sort(key=lambda row: row.last_at or never, reverse=True)
    total = sum(rows[0].total_count for rows in answers.values() if rows)
    page = rows[offset:] if limit is None else rows[offset : offset + limit]
    return [replace(row, total_count=total) for row in page]


def _spaces(answers: Answers) -> list[Any]:
    rows = sorted(_lists(answers), key=lambda row: row.space)
    return [replace(row, total_count=len(rows)) for row in rows]


def _backfills(answers: Answers) -> list[Any]:
    found: dict[str, Any] = {}
    for row in (row for rows in answers.values() for row in rows):
        known = found.get(row.model)
        found[row.model] = (
            row
            if known is None
            else replace(
                row,
                done=known.done + row.done,
                total=known.total + row.total,
                is_active=known.is_active and row.is_active,
            )
        )
    return list(found.values())


def with_missing(function: str, answer: Any, missing: Missing) -> Any:
    """Return the answer of a diagnosis with the nodes that are out of reach as problems."""
    said = {node: str(error).partition("\n")[0] for node, error in missing.items()}
    if function == "doctor":
        return [*answer, *(Check("nodes", False, problem) for problem in said.values())]
    problems = [{"name": "nodes", "is_broken": True, "detail": problem, "help": _HELP} for problem in said.values()]
    return {**answer, "problems": [*problems, *answer["problems"]]}


def _checks(answers: Answers) -> list[Any]:
    """Return the lines of all nodes, those of one check together; each names its node."""
    rows = [replace(row, detail=f"{node}: {row.detail}") for node, rows in answers.items() for row in rows]
    order = {name: place for place, name in enumerate(dict.fromkeys(row.check_name for row in rows))}
    return sorted(rows, key=lambda row: order[row.check_name])


def _status(answers: Answers) -> dict[str, Any]:
    """Return the state of the cluster in the form of that of one server, and the state of each node in ``nodes``."""
    states = list(answers.values())
    queues = [state["queue"] for state in states]
    embedded = [state["embedded"] for state in states if state["embedded"] is not None]
    oldest = [queue["oldest_due_seconds"] for queue in queues if queue["oldest_due_seconds"] is not None]
    return {
        **states[0],
        "queue": {
            **{name: sum(queue[name] for queue in queues) for name in ("pending", "due", "running", "dead")},
            "oldest_due_seconds": max(oldest, default=None),
            "last_error": next((queue["last_error"] for queue in queues if queue["last_error"]), None),
            "workers": [worker for queue in queues for worker in queue["workers"]],
        },
        "embedded": {
            **embedded[0],
            "done": sum(state["done"] for state in embedded),
            "total": sum(state["total"] for state in embedded),
            "is_estimate": any(state["is_estimate"] for state in embedded),
        }
        if embedded
        else None,
        "problems": [
            {**problem, "detail": f"{node}: {problem['detail']}"}
            for node, state in answers.items()
            for problem in state["problems"]
        ],
        "nodes": dict(answers),
    }


_MERGERS: dict[str, Callable[[Answers], Any]] = {
    "backfill_status": _backfills,
    "doctor": _checks,
    "list_spaces": _spaces,
    "reencrypt_secrets": _sums,
    "schedule_jobs": _lists,
    "status": _status,
    "sweep": _sums,
}
