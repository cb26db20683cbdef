"""PostgreSQL keeps nothing of a forgotten user: no statistics of texts, no place among the turns."""

from __future__ import annotations

import pytest

from tests.erasure.conftest import ANA, NEEDLE
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F5")

OWN_WORDS = {"function", "kind", "memory_type", "model", "operation", "role", "status", "variant"}
"""Columns with a few words of our own, of administrators, or names of roles."""

PLAIN_TYPES = {
    "bigint", "bigint[]", "boolean", "date", "double precision", "integer", "interval", "numeric", "oid", "real",
    "smallint", "timestamp with time zone", "uuid", "xid8",
}  # fmt: skip


def test_no_statistics_of_what_may_name_or_quote_a_user(api: Api) -> None:
    """A new column needs a "set statistics 0", or a word in one of the lists above."""
    kept = api.query(
        """
        select c.relname, a.attname, format_type(a.atttypid, null) as kind
        from pg_class as c join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p', 'm') and a.attstattarget <> 0
        union all
        select c.relname, a.attname, 'expression'
        from pg_index as i join pg_class as c on c.oid = i.indexrelid join pg_attribute as a on a.attrelid = c.oid
        where c.relnamespace = 'memory'::regnamespace and i.indkey[a.attnum - 1] = 0 and a.attstattarget <> 0
        """
    )
    assert [tuple(row) for row in kept if row.kind not in PLAIN_TYPES and row.attname not in OWN_WORDS] == []
    assert api.query("select stxname from pg_statistic_ext where stxnamespace = 'memory'::regnamespace") == []


def test_statistics_have_neither_a_text_nor_an_id_of_a_user(filled: Api) -> None:
    """ANALYZE leaves out their columns, also when autovacuum runs it."""
    place = filled.value("select (hashtextextended(%(ana)s, 0) / 2)::text", ana=ANA)
    for _ in range(2):
        filled.connection.execute("analyze")
        kept = [row for [row] in filled.query("select s::text from pg_statistic as s")]
        assert any("extract_memories" in row for row in kept)
        assert [row for row in kept if NEEDLE in row or place in row] == []
        filled.forget_user(user_id=ANA)


def test_the_turn_of_a_forgotten_user_is_not_kept(filled: Api) -> None:
    place = filled.value("select hashtextextended(%(ana)s, 0) / 2", ana=ANA)
    turns = "select relname from pg_class where relname like 'turn\\_of\\_%%' and relkind = 'S' order by relname"
    names = [name for [name] in filled.query(turns)]

    def last_values() -> list[int]:
        return [filled.value(f"select last_value from memory.{name}") for name in names]

    for name in names[:-1]:
        filled.value("select setval(%(name)s::regclass, %(place)s)", name=f"memory.{name}", place=place)
    filled.value("select setval(%(name)s::regclass, 5)", name=f"memory.{names[-1]}")
    filled.forget_user(user_id=ANA)
    assert place not in last_values()
    assert last_values()[-1] == 5, "the turn of others"
    filled.add_message(user_id="cy", thread_id="t", role="user", content="Hello")
    filled.extract_memories(user_id="cy", thread_id="t")
    claimed = filled.claim_jobs(worker="w", max_jobs=100)
    assert {"cy", "bo"} <= {job.user_id for job in claimed}
