"""What a call reads follows the call, never the size of the table: measured in rows and pages, not by a clock."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator

import psycopg
import pytest

from tests.cost.cases import CASES, JOBS, LEFT_OUT, Case
from tests.cost.measure import Reading, call, job, least
from tests.cost.world import grow, settle
from tests.support.servers import Kind
from tests.support.sqlapi import Api

FUNCTIONS = """
select distinct proname from pg_proc
where pronamespace = 'memory'::regnamespace and not starts_with(proname, '_') and prorettype <> 'trigger'::regtype
"""
KINDS = """
select substr(relname, 9) from pg_class
where relnamespace = 'memory'::regnamespace and relkind = 'S' and relname ~ '^turn_of_' and relname !~ '(all|some)$'
"""


def test_each_function_and_each_kind_of_job_has_a_case(api: Api) -> None:
    functions = {function for [function] in api.query(FUNCTIONS)}
    missing = functions - {case.function for case in CASES.values()} - LEFT_OUT.keys()
    assert not missing, f"tests/cost/cases.py must say what the cost of these functions may follow: {sorted(missing)}"
    kinds = {kind for [kind] in api.query(KINDS)}
    assert JOBS.keys() == kinds, "JOBS of tests/cost/cases.py must have each kind of job, and no other"
    assert LEFT_OUT.keys() <= functions


Figures = dict[str, Reading]
Cases = dict[str, Case]


def all_cases() -> Cases:
    """Each case by the name under which its figures are kept."""
    jobs = {
        f"{part} a job: {kind}": case
        for kind, (_, *cases) in JOBS.items()
        for part, case in zip(("claim", "complete"), cases, strict=True)
    }
    return {**CASES, **jobs}


def figures(api: Api) -> Figures:
    """What each case reads now, without those that are refused because there is too much (54000: a whole export)."""
    read: Figures = {}
    for name, case in CASES.items():
        with contextlib.suppress(psycopg.errors.ProgramLimitExceeded):
            read[name] = least(api, functools.partial(call, api, case.function, case.given()))[""]
    for kind, (scope, *_) in JOBS.items():
        for part, reading in least(api, functools.partial(job, api, kind, scope)).items():
            read[f"{part} a job: {kind}"] = reading
    return read


def compare(what: str, before: Figures, after: Figures, growth: int, when: str) -> Iterator[tuple[str, str]]:
    """The cases that read more than they may: their names, and what they read."""
    for name, case in all_cases().items():
        may_follow = getattr(case, what)
        if name in after and after[name].exceeds(before[name], growth if may_follow else None):
            limit = f"not {growth} times as much" if may_follow else "and should read the same"
            yield name, f"{name}: {before[name]}, then {after[name]} {when}, {limit}"


@pytest.mark.parametrize(
    ("few", "many"),
    [(1000, 10_000), pytest.param(10_000, 100_000, marks=[pytest.mark.nightly, pytest.mark.timeout(3600)])],
)
@pytest.mark.parametrize("what", ["thread", "user", "others"])
def test_what_a_call_reads_follows_the_call(
    server_kind: Kind, connect: Callable[..., psycopg.Connection], what: str, few: int, many: int
) -> None:
    """One session makes its plans while the tables are almost empty and keeps them; statistics come at the end."""
    if server_kind != "system":
        pytest.skip("plans differ between versions of PostgreSQL, and the cases are of the system's")
    api = Api(connect())
    api.connection.execute("create extension if not exists pgcrypto")
    # Of a table that was vacuumed while it was empty PostgreSQL believes that it stays so, and plans to read all of it.
    api.connection.execute("vacuum analyze")
    settle(api)
    # PostgreSQL would keep a statement's plan after five calls.
    api.connection.execute("set plan_cache_mode = force_generic_plan")
    first = figures(api)
    grower = Api(connect())
    grow(grower, what, 1, few)
    some = figures(api)
    grow(grower, what, few, many)
    # Calls that were undone have left hundreds of entries in the indexes of these, all of the user who is forgotten.
    api.connection.execute("vacuum memory.model_calls, memory.jobs, memory.memory_uses, memory.new_changes")
    last = figures(api)
    api.connection.execute("vacuum analyze")
    analyzed = figures(api)

    found: list[tuple[str, str]] = []
    for when, now in (("with plans of an empty table", last), ("with statistics", analyzed)):
        found += compare(what, some, now, many // few, when)
        if what == "others":
            found += compare(what, first, now, many, when)
    later = {name: case.later[what] for name, case in all_cases().items() if what in case.later}
    assert "\n".join(text for name, text in found if name not in later) == ""
    assert later.keys() <= dict(found).keys(), "mended: remove what tests/cost/cases.py says of these for later"
