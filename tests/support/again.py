"""Which tests the embedded server repeats.

It differs from the system's server in its version of PostgreSQL (18 instead of 15: other plans, other stemmers), and it
has no PL/Python, so that a worker runs the jobs instead of run_jobs(). So the modules below run on both: those that say
how each room behaves and how its statements are planned, and those of installation, upgrade and the worker. The others
attack, repeat with other values or race: none of that depends on the server. For the same reason one case of each
parametrised test is repeated, except in the modules of EVERY_CASE, whose values meet what differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]


def paths_of(modules: Mapping[str, Sequence[str]]) -> set[Path]:
    """The files of the modules of folders."""
    return {TESTS / folder / f"test_{name}.py" for folder, names in modules.items() for name in names}


AGAIN = {
    "artifacts": ["storing", "finding", "parts"],
    "artifacts/offload": ["intercepting", "lifetime"],
    "attacks": ["plans", "matrix"],
    "audit": ["audit"],
    "cli": ["demo"],
    "client": ["connections", "conversation", "due_jobs", "results", "setup"],
    "concurrency": ["one_after_the_other"],
    "cluster": ["places", "clients"],
    "context": ["choice", "opening", "recall", "fence", "loading", "standing_facts"],
    "documents": ["storing", "passages", "finding"],
    "embeddings": ["vectors", "near_duplicates", "changes", "jobs"],
    "embeddings/model_switch": ["switching"],
    "erasure": ["forget_user", "forget_memory", "deletions", "export", "catalog"],
    "hostile_models": ["failing_calls", "hanging_calls", "refused_replies"],
    "http": ["transfer"],
    "importer": ["langgraph"],
    "install": ["install", "rights", "dump_restore", "migrations", "locks", "upgrade", "readme"],
    "kinds": ["consolidate", "describe_artifact", "parse_artifacts", "summarize_user"],
    "kinds/compress_thread": ["archive", "when"],
    "kinds/extract_memories": ["stored", "cadence"],
    "kinds/reconcile_memories": ["jobs", "stated"],
    "kinds/summarize_thread": ["rolling"],
    "masking": ["masking"],
    "mcp": ["tools"],
    "memories": ["storing", "exact_duplicates", "updating", "listing", "limit", "expiry"],
    "messages": ["storing", "reading", "deleting", "idempotency_keys", "counters"],
    "models": ["budgets", "usage"],
    "move": ["move"],
    "operate": ["doctor", "status", "sweep", "views", "recovery"],
    "page": ["conversations"],
    "policy": ["policy", "resources"],
    "queue": ["queue", "protocol", "claim_races", "failures"],
    "queue/fair_queue": ["turns", "cost"],
    "quickstarts": ["quickstarts"],
    "search": ["defaults", "one_result"],
    "search/keyword": ["queries", "filters", "languages", "ranking", "words"],
    "search/memories_alone": ["results", "approximate_index", "cost"],
    "search/messages": ["unparsed"],
    "search/vector": ["hybrid", "callers", "cost"],
    "screening": ["corpus"],
    "secrets": ["secrets"],
    "server": ["call_model"],
    "spaces": ["reading", "erasure"],
    "summaries": ["reading"],
    "tenants": ["row_security", "bound_roles"],
    "trust": ["quarantine", "fence", "summaries"],
    "typescript": ["typescript"],
    "upgrade": ["schema", "rows"],
    "values": ["limits"],
    "worker": ["jobs", "health", "process"],
}
PATHS = paths_of(AGAIN)

EVERY_CASE = {
    # plans
    "attacks": ["plans"],
    "queue/fair_queue": ["cost"],
    "search/memories_alone": ["approximate_index", "cost"],
    "search/vector": ["cost"],
    # words, classes of characters and pgvector's own types
    "embeddings": ["vectors"],
    "masking": ["masking"],
    "memories": ["exact_duplicates"],
    "screening": ["corpus"],
    "search/keyword": ["queries", "filters", "languages", "ranking", "words"],
    # what a new version of PostgreSQL may refuse
    "install": ["install", "rights", "dump_restore", "migrations", "locks", "upgrade"],
    "upgrade": ["schema", "rows"],
    # jobs, which a worker runs instead of the server
    "hostile_models": ["failing_calls", "hanging_calls", "refused_replies"],
}
WHOLE = paths_of(EVERY_CASE)


def repeated(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Choose the tests to repeat: in most modules the first case of each."""
    first = {item.nodeid.partition("[")[0]: item for item in reversed(items) if item.path in PATHS}
    return {*first.values(), *(item for item in items if item.path in WHOLE)}
