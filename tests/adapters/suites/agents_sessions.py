"""A plugin of pytest: the adapter stands in for the SQLite session of the OpenAI Agents SDK, which its tests import."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from uuid import uuid4

import agents.memory.sqlite_session
import pytest
from agent_memory import Memory
from agent_memory.adapters.openai_agents import AgentMemorySession

MEMORY = Memory(os.environ["SUITE_URI"])
CONNECTIONS = "looks at SQLite's connections and threads"
LOCKS = "looks at the locks of SQLite's file"
CORRUPT = "writes what is no JSON into SQLite's table; a column of type jsonb cannot hold it"
OWN_HOOK = "needs _get_compaction_snapshot, a hook that the SDK keeps to its own sessions"
OWN_CONNECTION = "replaces SQLite's connection; test_openai_agents.py cancels calls of ours"
LEFT_OUT = {
    "test_await_mutation_cancellation_hides_later_failure_without_loop_error": "calls an internal function",
    "test_sqlite_session_close_closes_worker_thread_connections": CONNECTIONS,
    "test_sqlite_session_close_retries_quarantined_connection": CONNECTIONS,
    "test_sqlite_session_closes_retired_connections_before_the_next_allocation": CONNECTIONS,
    "test_sqlite_session_keeps_connections_of_live_worker_threads": CONNECTIONS,
    "test_sqlite_session_reaps_connections_from_exited_worker_threads": CONNECTIONS,
    "test_sqlite_session_rollback_failure_evicts_connection": CONNECTIONS,
    "test_sqlite_session_closed_rejects_empty_add_items": "closes the session; here the client is closed instead",
    "test_sqlite_session_failed_add_items_releases_write_lock": LOCKS,
    "test_sqlite_session_failed_clear_session_rolls_back": LOCKS,
    "test_sqlite_session_failed_pop_item_releases_write_lock": LOCKS,
    "test_sqlite_session_file_lock_is_shared_across_instances": LOCKS,
    "test_sqlite_session_get_items_limit_skips_corrupt_newest_rows": CORRUPT,
    "test_sqlite_session_get_items_session_settings_limit_skips_corrupt_rows": CORRUPT,
    "test_sqlite_session_pop_item_returns_none_after_dropping_only_corrupt_rows": CORRUPT,
    "test_sqlite_session_pop_item_skips_corrupt_most_recent": CORRUPT,
    "test_sqlite_session_post_commit_cancellation_propagates_after_known_outcome": OWN_CONNECTION,
    "test_settled_clear_failure_invalidates_response_chain": OWN_CONNECTION,
    "test_settled_pop_failure_invalidates_response_chain": OWN_CONNECTION,
    "test_automatic_compaction_rollback_budget": OWN_HOOK,
    "test_automatic_compaction_does_not_reload_unbounded_hidden_history": OWN_HOOK,
    "test_backend_read_limit_cannot_hide_retained_history_from_compaction": OWN_HOOK,
    "test_expired_read_overhead_does_not_authorize_hidden_history": OWN_HOOK,
}


class SQLiteSession(AgentMemorySession):
    """A session of the user that is named after the file; a session in memory has a user of its own."""

    def __init__(
        self, session_id: str, db_path: str | Path = ":memory:", *, session_settings: Any = None, **_: str
    ) -> None:
        user_id = uuid4().hex if db_path == ":memory:" else str(db_path)
        super().__init__(MEMORY, user_id, session_id, session_settings=session_settings)

    def close(self) -> None:
        """Do nothing: the client has the connections."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what LEFT_OUT names."""
    left_out = [item for item in items if getattr(item, "originalname", "") in LEFT_OUT]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


for module in (agents, agents.memory, agents.memory.sqlite_session):
    module.SQLiteSession = SQLiteSession  # type: ignore[attr-defined]
