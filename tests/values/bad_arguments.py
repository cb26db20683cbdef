"""Tables of calls: one of each public function that works, and the arguments that spoil it."""

from __future__ import annotations

import base64
import random
import uuid
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.support.sqlapi import wide_text

MEMORY_ID = uuid.UUID(int=1)
OTHER_MEMORY_ID = uuid.UUID(int=2)
QUARANTINED_ID = uuid.UUID(int=3)
LEASE_TOKEN = uuid.UUID(int=3)
DOCUMENT_ID = uuid.UUID(int=4)

ANA = {"user_id": "ana"}
THREAD = {**ANA, "thread_id": "t1"}
MEMORY: dict[str, Any] = {**ANA, "memory_id": MEMORY_ID}
JOB: dict[str, Any] = {**ANA, "job_id": 1, "lease_token": LEASE_TOKEN}

VALID: dict[str, dict[str, Any]] = {
    "activate_model": {"name": "local"},
    "add_artifact_piece": {**ANA, "content": "Tea is a drink."},
    "add_document": {**ANA, "content": "Tea is a drink."},
    "add_memories": {**ANA, "memories": [{"content": "Likes tea"}]},
    "add_memory": {**ANA, "content": "Likes tea"},
    "add_message": {**THREAD, "role": "user", "content": "Hello"},
    "add_messages": {**THREAD, "messages": [{"role": "user", "content": "Hello"}]},
    "backfill_status": {},
    "bind_role": {"role_name": "tenant_to_bind", **ANA},
    "claim_jobs": {"worker": "w"},
    "clear_thread": THREAD,
    "complete_job": {**JOB, "result": {"memories": []}, "calls": [{"tokens_in": 1}]},
    "compress_thread": THREAD,
    "consolidate": ANA,
    "deactivate_model": {"name": "local"},
    "delete_artifact": {**ANA, "key": "log"},
    "delete_document": {**ANA, "document_id": DOCUMENT_ID},
    "delete_message": {**THREAD, "seq": 0},
    "delete_memory": MEMORY,
    "delete_secret": {**ANA, "name": "mail"},
    "delete_thread": THREAD,
    "doctor": {},
    "status": {},
    "drop_model": {"name": "spare"},
    "expand_refs": {**ANA, "content": "Output: [MemoryRef: log]"},
    "extend_job": {**JOB, "lease": "1 minute"},
    "extract_memories": THREAD,
    "fail_job": {**JOB, "error": "no answer", "calls": [{"tokens_in": 1}]},
    "export_user": ANA,
    "forget_memory": MEMORY,
    "forget_user": {"user_id": "nobody"},
    "get_context": THREAD,
    "get_job": {**ANA, "job_id": 2},
    "get_memory": MEMORY,
    "get_memory_history": MEMORY,
    "get_messages": THREAD,
    "get_policy": {},
    "get_secret": {**ANA, "name": "mail"},
    "get_thread_summary": THREAD,
    "get_user_summary": ANA,
    "keep_query_embedding": {
        **ANA,
        "query": "tea",
        "embedding_model": {"name": "vectors"},
        "embedding": "[1,0]",
        "calls": [{"tokens_in": 1}],
    },
    "import_user": {
        "user_id": "newcomer",
        "export": {"format": "agent_memory user", "format_version": 1, "user_id": "newcomer"},
    },
    "list_artifacts": ANA,
    "list_documents": ANA,
    "count_memories": ANA,
    "list_memories": ANA,
    "list_quarantined": ANA,
    "list_secrets": ANA,
    "list_threads": ANA,
    "list_users": {},
    "load_user": ANA,
    "needs_memory": {**THREAD, "query": "Connect to the DB"},
    "partition_of": ANA,
    "quarantine_memory": {**MEMORY, "reason": "planted"},
    "quarantine_source": {**ANA, "source": "memory", "id": str(MEMORY_ID), "reason": "planted"},
    "query_to_embed": {**ANA, "query": "tea"},
    "reconcile_memories": ANA,
    "reencrypt_secrets": {},
    "record_calls": {**ANA, "job_id": 1, "calls": [{"tokens_in": 1}]},
    "register_model": {"name": "m", "kind": "chat", "provider": "openai", "model": "gpt"},
    "release_job": JOB,
    "release_memory": {**ANA, "memory_id": QUARANTINED_ID},
    "release_source": {**ANA, "source": "memory", "id": str(MEMORY_ID)},
    "render_memories": ANA,
    "reset_prompt": {"name": "consolidate"},
    "restore_memory": MEMORY,
    "retrieve_artifact": {**ANA, "key": "log"},
    "retry_job": {**ANA, "job_id": 2},
    "search": {**ANA, "query": "tea"},
    "set_token_key": {"key": base64.b64encode(bytes(32)).decode()},
    "set_policy": {"settings": {"messages": {"expires_after": "1 day"}}},
    "set_secret": {**ANA, "name": "mail", "value": "letmein"},
    "set_prompt": {"name": "consolidate", "template": "Sort these:\n---\n{{memories}}"},
    "store_artifact": {**ANA, "content": "Tea is a drink."},
    "summarize_thread": THREAD,
    "summarize_user": ANA,
    "supersede_memory": {**ANA, "old_memory_id": MEMORY_ID, "new_memory_id": OTHER_MEMORY_ID, "reason": "newer"},
    "sweep": {},
    "tenant_user": {},
    "unbind_role": {"role_name": "tenant_that_is_bound"},
    "update_memory": {**MEMORY, "content": "Likes green tea"},
    "was_forgotten": {**ANA, "messages": [{"content": "Tea"}]},
    "vector_index": {"model": "vectors"},
    "version": {},
}

NEED_PGCRYPTO = ("get_secret", "reencrypt_secrets", "set_secret")

LONG = "é" * 256
UNKNOWN_ID = uuid.UUID(int=404)
MIB = 2**20

COUNTS = ("tokens_in", "tokens_out", "duration_ms", "prompt_version")
BAD_COUNTS: tuple[Any, ...] = (-1, 2**31, 10**400, "1", [1], {}, True)


# Everywhere: what names something has 1 to 255 characters, the rest is within its bounds.
NAMES = (
    "user_id",
    "thread_id",
    "agent_id",
    "exclude_thread_id",
    "idempotency_key",
    "key",
    "source",
    "worker",
    "model",
    "reason",
)
BAD_VALUES: dict[str, list[Any]] = {
    **{name: ["", LONG] for name in NAMES},
    "memory_type": ["", "nonsense"],
    "metadata": [[1], Jsonb("text"), Jsonb(1), Jsonb([]), Jsonb(None)],
    "tags": ["{a,null}"],
    "confidence": [-0.1, 1.1, "NaN"],
    "importance": [-0.1, 1.1, "NaN"],
    "row_limit": [None, 0, -1, 10_001],
    "row_offset": [None, -1],
    "recent_k": [0, -1],
    "max_tokens": [-1],
    "lease": [None, "0", "-1 minute"],
    "calls": [
        Jsonb(None),
        {},
        Jsonb("text"),
        [1],
        [None],
        [[]],
        *([{count: value}] for count in COUNTS for value in BAD_COUNTS),
    ],
}

# One function each.
BAD_ARGUMENTS: list[tuple[str, str, list[Any]]] = [
    *((function, "memory_id", [None]) for function, valid in VALID.items() if "memory_id" in valid),
    *((function, "name", [None, "", LONG]) for function in ("set_secret", "get_secret", "delete_secret")),
    ("set_secret", "value", [None, ""]),
    ("reencrypt_secrets", "batch_size", [None, 0, -1]),
    ("add_message", "role", [None, "", "robot", "USER"]),
    ("add_message", "content", [None, ""]),
    ("add_message", "created_at", ["infinity", "-infinity", "10000-01-01", "0001-01-01 BC"]),
    ("add_message", "idempotency_key", [wide_text(64)]),  # 255 bytes, so that it fits into an index with wide names
    ("add_document", "content", [None, "", " \n"]),
    ("add_memories", "memories", [None, Jsonb(None), {"content": "Tea"}, Jsonb("text"), [1], [[]], [None]]),
    ("add_memories", "memories", [[{}], [{"content": ""}], [{"content": 1}], [{"content": "Tea", "typo": 1}]]),
    ("add_memories", "on_conflict", [None, "", "merge"]),
    ("add_memory", "content", [None, "", " \n"]),
    ("add_memory", "memory_type", [None]),
    ("add_memory", "confidence", [None]),
    ("add_memory", "on_conflict", [None, "", "merge"]),
    ("add_messages", "messages", [None, Jsonb(None), {"role": "user"}, Jsonb("text"), [1], [[]], [None]]),
    ("claim_jobs", "max_jobs", [None, 0, 1001]),
    ("claim_jobs", "kinds", [["nonsense"], "{extract_memories,null}"]),
    ("keep_query_embedding", "query", [None, "", " \n"]),
    ("keep_query_embedding", "embedding_model", [None, {}, [1], Jsonb("text"), {"name": 1}]),
    ("keep_query_embedding", "embedding", [None]),
    ("complete_job", "result", [None, Jsonb(None), Jsonb([]), {}, {"memories": {}}, {"memories": [1]}]),
    ("count_memories", "filter", [Jsonb([]), Jsonb("text"), Jsonb(1), Jsonb(None)]),
    ("get_context", "max_tokens", [0]),
    ("get_messages", "filter", [Jsonb([]), Jsonb("text"), Jsonb(1), Jsonb(None)]),
    ("get_messages", "roles", [[""], ["robot"], ["user", "USER"], "{user,null}", "{{user},{tool}}"]),
    ("get_thread_summary", "kind", ["", "user", "processing"]),
    ("list_memories", "filter", [Jsonb([]), Jsonb("text"), Jsonb(1), Jsonb(None)]),
    ("needs_memory", "query", [None, "", " \n"]),
    ("reconcile_memories", "n", [None, 1, 0, -1, 1001]),
    ("record_calls", "calls", [None]),
    ("register_model", "name", ["", LONG]),
    ("register_model", "kind", [None, "", "vision"]),
    ("register_model", "provider", [None, "", "acme"]),
    ("register_model", "settings", [None, Jsonb([]), Jsonb("text"), {"api_key": "sk-secret"}]),
    ("render_memories", "max_memories", [None, 0, -1]),
    ("render_memories", "max_tokens", [0]),
    ("retrieve_artifact", "from_token", [None, -1]),
    ("retrieve_artifact", "max_tokens", [0]),
    ("retrieve_artifact", "from_line", [0, -1]),
    ("retrieve_artifact", "max_lines", [0]),
    ("retrieve_artifact", "grep", ["", " \n"]),
    ("retrieve_artifact", "context_lines", [None, -1, 1001]),
    ("add_artifact_piece", "content", [None, ""]),
    ("expand_refs", "content", [None]),
    ("search", "query", [None, "", " \n"]),
    ("summarize_thread", "kind", ["", "user", "processing"]),
    ("search", "mode", [None, "", "fuzzy", "vector"]),
    ("search", "sources", [None, [], ["nonsense"], ["memory", "nonsense"], "{memory,null}"]),
    ("search", "memory_types", [["nonsense"], ["fact", "nonsense"]]),
    ("search", "filter", [Jsonb([]), Jsonb("text"), Jsonb(1), Jsonb(None)]),
    ("search", "min_score", [-1.1, 1.1, "NaN", "-Infinity"]),
    ("search", "min_confidence", [-0.1, 1.1, "NaN"]),
    ("search", "top_k", [None, 0, -1, 1001]),
    ("set_policy", "settings", [None, Jsonb(None), Jsonb([]), Jsonb("text")]),
    ("set_prompt", "template", [None, "", " \n", "Sort them!", "{{memories}} {{user_id}}", "{{memorie}}"]),
    ("store_artifact", "content", [None, "", " \n", " " * 2000]),
    ("store_artifact", "key", ["a b", "a\nb", "a\n", "a]", "[a", "é", "a\u200bb", "[MemoryRef: a - b - 3 tokens]"]),
    ("store_artifact", "artifact_type", [None, "", LONG]),
    ("supersede_memory", "old_memory_id", [None]),
    ("supersede_memory", "new_memory_id", [None, MEMORY_ID]),
    ("sweep", "batch_size", [None, 0, -1]),
    ("update_memory", "content", ["", " \n"]),
    ("vector_index", "model", [None]),
]  # fmt: skip

HELLO = {"role": "user", "content": "Hello"}
BAD_MESSAGES: list[tuple[str, dict[str, Any]]] = [
    ("role", {"content": "Hello"}),
    ("role", {**HELLO, "role": "robot"}),
    ("role", {**HELLO, "role": 1}),
    ("content", {"role": "user"}),
    ("content", {**HELLO, "content": None}),
    ("content", {**HELLO, "content": ""}),
    ("content", {**HELLO, "content": 1}),
    ("content", {**HELLO, "content": {"text": "Hello"}}),
    ("content", {**HELLO, "content": []}),
    ("content", {"role": "assistant", "content": None, "tool_calls": None}),
    ("metadata", {**HELLO, "metadata": []}),
    ("metadata", {**HELLO, "metadata": "text"}),
    ("metadata", {**HELLO, "metadata": 1, "name": "Ana"}),
    ("created_at", {**HELLO, "created_at": "yesterday-ish"}),
    ("created_at", {**HELLO, "created_at": "2026-02-30T10:00:00Z"}),
    ("created_at", {**HELLO, "created_at": "2026-02-03T10:00:00 Mars/Olympus"}),
    ("created_at", {**HELLO, "created_at": "2026-02-03T10:00:00+99:00"}),
    ("created_at", {**HELLO, "created_at": {"year": 2026}}),
    ("created_at", {**HELLO, "created_at": 1778000000}),
    ("created_at", {**HELLO, "created_at": "infinity"}),
    ("idempotency_key", {**HELLO, "idempotency_key": ""}),
    ("idempotency_key", {**HELLO, "idempotency_key": LONG}),
]


# An argument, and what of it is too large.
INCOMPRESSIBLE = random.Random(1).randbytes(MIB).hex()
OVERSIZED: list[Any] = [
    ("add_message", "content", "content", "x" * (10 * MIB + 1)),
    ("add_message", "metadata", "metadata", {"a": INCOMPRESSIBLE}),
    ("add_messages", "messages", "content", [{**HELLO, "content": "é" * (5 * MIB + 1)}]),
    ("add_messages", "messages", "metadata", [{**HELLO, "metadata": {"a": INCOMPRESSIBLE}}]),
    ("add_memory", "content", "content", "x" * (MIB // 4 + 1)),
    ("set_secret", "value", "value", "x" * (MIB // 16 + 1)),
    ("add_memory", "embedding_text", "embedding_text", "x" * (MIB // 4 + 1)),
    ("add_memory", "metadata", "metadata", {"a": INCOMPRESSIBLE}),
    ("set_prompt", "template", "template", "{{memories}}" + "x" * 2**16),
    pytest.param("store_artifact", "content", "content", "x" * (200 * MIB + 1), marks=pytest.mark.nightly),
    ("store_artifact", "description", "description", "é" * 501),
    ("store_artifact", "metadata", "metadata", {"a": INCOMPRESSIBLE}),
    ("update_memory", "content", "content", "x" * (MIB // 4 + 1)),
]

WRONG_STATE: list[tuple[str, str, Any, str]] = [
    ("activate_model", "name", "m404", "P0002"),
    ("activate_model", "name", None, "P0002"),
    ("add_artifact_piece", "upload_id", UNKNOWN_ID, "P0002"),
    ("activate_model", "name", "", "P0002"),
    ("deactivate_model", "name", "m404", "P0002"),
    ("drop_model", "name", "m404", "P0002"),
    ("drop_model", "name", None, "P0002"),
    ("drop_model", "name", "local", "23505"),
    ("vector_index", "model", "m404", "P0002"),
    ("vector_index", "model", "spare", "P0002"),
    ("complete_job", "lease_token", UNKNOWN_ID, "AM001"),
    ("complete_job", "lease_token", None, "AM001"),
    ("compress_thread", "thread_id", "t404", "P0002"),
    ("extend_job", "lease_token", UNKNOWN_ID, "AM001"),
    ("extract_memories", "thread_id", "t404", "P0002"),
    ("fail_job", "lease_token", UNKNOWN_ID, "AM001"),
    ("get_job", "job_id", 404, "P0002"),
    ("get_job", "job_id", None, "P0002"),
    ("get_memory", "memory_id", UNKNOWN_ID, "P0002"),
    ("get_memory_history", "memory_id", UNKNOWN_ID, "P0002"),
    ("release_job", "lease_token", UNKNOWN_ID, "AM001"),
    ("reset_prompt", "name", "nonsense", "P0002"),
    ("reset_prompt", "name", None, "P0002"),
    ("restore_memory", "memory_id", UNKNOWN_ID, "P0002"),
    ("restore_memory", "version", 99, "P0002"),
    ("retrieve_artifact", "key", "k404", "P0002"),
    ("retry_job", "job_id", 404, "P0002"),
    ("retry_job", "job_id", None, "P0002"),
    ("set_prompt", "name", "nonsense", "P0002"),
    ("set_prompt", "name", None, "P0002"),
    ("store_artifact", "key", "log", "23505"),
    ("summarize_thread", "thread_id", "t404", "P0002"),
    ("supersede_memory", "old_memory_id", UNKNOWN_ID, "P0002"),
    ("supersede_memory", "new_memory_id", UNKNOWN_ID, "P0002"),
    ("update_memory", "memory_id", UNKNOWN_ID, "P0002"),
    ("update_memory", "expected_version", 99, "40001"),
]
