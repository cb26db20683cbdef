"""Which tests the embedded server repeats.

It differs from the system's server in its version of PostgreSQL (18 instead of 15: other plans, other stemmers, other
refusals), and it has no PL/Python, so that a worker runs the jobs instead of run_jobs(). So the modules of EVERY_CASE,
whose values meet what differs, run on both, and one case of each test in the modules of ONE_CASE: those of jobs and
workers. What rooms answer does not depend on the server; attacks/test_plans.py
calls every function on both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]


def paths_of(modules: Mapping[str, Sequence[str]]) -> set[Path]:
    """The files of the modules of folders."""
    return {TESTS / folder / f"test_{name}.py" for folder, names in modules.items() for name in names}


EVERY_CASE = {
    # plans
    "attacks": ["plans"],
    "queue/fair_queue": ["cost"],
    "search/memories_alone": ["approximate_index"],
    "search/vector": ["cost"],
    # words, classes of characters and pgvector's own types
    "embeddings": ["vectors"],
    "memories": ["exact_duplicates"],
    "search/keyword": ["queries", "words"],
    # what a new version of PostgreSQL may refuse
    "install": ["install", "rights", "dump_restore", "upgrade"],
    "upgrade": ["schema", "rows"],
}
ONE_CASE = {
    "client": ["due_jobs", "setup"],
    "install": ["migrations"],
    "masking": ["masking"],
    "operate": ["doctor"],
    "queue": ["protocol"],
    "search/keyword": ["languages"],
    "search/vector": ["hybrid"],
    "server": ["call_model"],
    "worker": ["jobs", "health", "process"],
}
WHOLE = paths_of(EVERY_CASE)
PATHS = WHOLE | paths_of(ONE_CASE)


def first_cases(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Choose the first case of each test."""
    return list({item.nodeid.partition("[")[0]: item for item in reversed(items)}.values())[::-1]


def repeated(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Choose the tests to repeat: in most modules the first case of each."""
    first = first_cases([item for item in items if item.path in PATHS])
    return {*first, *(item for item in items if item.path in WHOLE)}
