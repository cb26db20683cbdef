"""What it costs to delete threads follows their number, however many one statement or transaction deletes."""

from __future__ import annotations

import psycopg
import pytest

from tests.support.sqlapi import Api

PAGES = """
select sum(pg_stat_get_xact_blocks_fetched(oid))::bigint
from pg_class where relnamespace = 'memory'::regnamespace and relkind in ('r', 'i')
"""


BY_SQL = "delete from memory.threads where user_id = %(user)s"
BY_CALLS = """
do $$
begin
  for number in 1 .. %(threads)s loop
    perform memory.delete_thread(%(user)s, 't' || number);
  end loop;
end;
$$
"""


def pages_of_deleting(api: Api, statement: str, user: str, threads: int) -> int:
    """The pages that a statement reads which deletes so many threads, each with a message."""
    api.connection.execute(
        "select memory.add_message(%s, 't' || n, 'user', 'I like tea') from generate_series(1, %s) as n",
        [user, threads],
    )
    with api.connection.transaction():
        before: int = api.value(PAGES)
        psycopg.ClientCursor(api.connection).execute(statement, {"user": user, "threads": threads})
        after: int = api.value(PAGES)
    assert api.value("select count(*) from memory.messages where user_id = %(user)s", user=user) == 0
    assert api.value("select count(*) from memory.whole_user_changes") == 0
    return after - before


@pytest.mark.parametrize("statement", [BY_SQL, BY_CALLS], ids=["one statement", "calls of one transaction"])
def test_many_threads_are_deleted_at_the_price_of_each(api: Api, statement: str) -> None:
    few = pages_of_deleting(api, statement, "ana", 100)
    assert pages_of_deleting(api, statement, "ben", 800) < 1.3 * 8 * few
