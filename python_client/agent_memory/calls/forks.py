"""Clients in a process that was forked: two processes on one connection would read each other's answers."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class _Client(Protocol):
    def begin_anew(self) -> None:
        """Use nothing of the parent process any more: no connection, no lock that one of its threads may hold."""


_clients: weakref.WeakSet[_Client] = weakref.WeakSet()
_of_parents: list[object] = []


def begin_anew_in_children(client: _Client) -> None:
    """Have a client begin anew in each process that is forked from this one, as long as the client exists."""
    _clients.add(client)


def abandon(of_parent: object) -> None:
    """Leave alone what belongs to the process that this one was forked from.

    A pool or an event loop that nobody refers to any more closes itself: it waits for its threads, and takes locks that
    threads may have held during the fork. Those threads exist in the parent process only, so that both could last for
    ever. Here it stays referred to.
    """
    _of_parents.append(of_parent)


def _tell_clients() -> None:
    for client in list(_clients):
        client.begin_anew()


os.register_at_fork(after_in_child=_tell_clients)
