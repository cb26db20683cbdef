"""What it costs to delete threads with plain SQL follows their number, however many one statement deletes."""

from __future__ import annotations

from tests.support.sqlapi import Api

PAGES = """
select sum(pg_stat_get_xact_blocks_fetched(oid))::bigint
from pg_class where relnamespace = 'memory'::regnamespace and relkind in ('r', 'i')
"""


def pages_of_deleting(api: Api, user: str, threads: int) -> int:
    """The pages that one statement reads which deletes so many threads, each with a message."""
    api.connection.execute(
        "select memory.add_message(%s, 't' || n, 'user', 'I like tea') from generate_series(1, %s) as n",
        [user, threads],
    )
    with api.connection.transaction():
        before: int = api.value(PAGES)
        api.connection.execute("delete from memory.threads where user_id = %s", [user])
        after: int = api.value(PAGES)
    assert api.value("select count(*) from memory.messages where user_id = %(user)s", user=user) == 0
    assert api.value("select count(*) from memory.whole_user_changes") == 0
    return after - before


def test_a_statement_deletes_many_threads_at_the_price_of_each(api: Api) -> None:
    few = pages_of_deleting(api, "ana", 100)
    assert pages_of_deleting(api, "ben", 800) < 1.3 * 8 * few
