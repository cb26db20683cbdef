"""Users who are forgotten while the file is installed are forgotten as a whole, and no call fails."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier, Event

import pytest

from tests.install.upgrades import PART, Build
from tests.support.installer import install, open_as
from tests.support.runners import PATIENCE
from tests.support.sqlapi import Api

SESSIONS = 2
# A column in the first and in the last of the tables that an erasure changes.
COLUMNS = "alter table memory.messages add column more int; alter table memory.receipts add column more int;"


@pytest.mark.feature("F13")
def test_users_who_are_forgotten_meanwhile_leave_nothing(dsn: str, build: Build) -> None:
    version = build({PART: COLUMNS})
    installed = Event()
    ready = Barrier(SESSIONS + 1)

    def forget(session: int) -> int:
        """Store and forget one user after the other until the file is installed, and say how many."""
        with open_as(dsn) as connection:
            api = Api(connection)
            for number in count(1):
                user = f"{session}/{number}"
                api.talk(user, "t", 5)
                api.add_memory(user_id=user, content="Likes tea")
                tables = api.forget_user(user_id=user)["tables"]
                assert (tables["messages"], tables["memories"]) == (10, 1)
                if number == 1:
                    ready.wait(PATIENCE)
                if installed.is_set():
                    break
        return number

    with ThreadPoolExecutor(SESSIONS) as pool:
        sessions = [pool.submit(forget, session) for session in range(SESSIONS)]
        ready.wait(PATIENCE)
        try:
            install(dsn, version)
        finally:
            installed.set()
        forgotten = sum(session.result() for session in sessions)
    with open_as(dsn) as connection:
        api = Api(connection)
        assert (
            api.list_users() == api.query("select from memory.messages") == api.query("select from memory.jobs") == []
        )
        assert api.query("select count(*) from memory.receipts where tables <> '{}'") == [(forgotten,)]
