"""Runs statements with queries of users, and raises where one is degraded: that is not what is to be measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import psycopg

Query = Mapping[str, str | None]
"""The parameters of a statement."""


def asking(connection: psycopg.Connection, statement: str) -> Callable[[Query], None]:
    """A function that runs a statement as a prepared one. It raises RuntimeError when the server gives a notice."""
    notices: list[str] = []
    connection.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))

    def ask(query: Query) -> None:
        found = connection.execute(statement.encode(), query, prepare=True).fetchall()
        if notices or not found:
            raise RuntimeError(f"{notices[:1] or 'nothing was found'}: {statement}")

    return ask
