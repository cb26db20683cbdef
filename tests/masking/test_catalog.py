"""Each column with texts of users has marks in place of personal data and keys, or stands below with a reason."""

from __future__ import annotations

import psycopg
from psycopg.types.json import Jsonb

from tests.erasure.conftest import fill
from tests.support.sqlapi import TABLES, Api

EMAIL = "zq7n@example.org"
KEY = "AKIA" + "ZQ7NZQ7NZQ7NZQ7N"

NAMES = {
    "agent_id", "agent_ids", "artifact_type", "channel", "doc_type", "idempotency_key", "id", "member", "name",
    "namespace", "role_name", "scope", "tags", "task_id", "thread_id", "type",
}  # fmt: skip
"""Columns by which applications find rows again."""

KEPT = {
    ("artifact_parts", "content"): "pieces of an upload, which are masked when the artifact is made of them",
    ("audit", "details"): "names and settings",
    ("checkpoints", "checkpoint"): "the state of a graph, which must come back as it was",
    ("checkpoints", "metadata"): "as the state",
    ("jobs", "input"): "a part of a message that this test's data have put here",
    ("memories", "source"): "a name",
    ("spaces", "metadata"): "what administrators call a space",
    ("spaces", "title"): "what administrators call a space",
}


def test_each_column_with_texts_is_masked_or_named(db: psycopg.Connection) -> None:
    api = Api(db)
    api.set_policy(settings={"masking": {"classes": ["email"]}, "secrets": {"mask_in_threads": True}})
    fill(api, "ana", EMAIL)
    api.connection.execute("delete from memory.model_calls")
    api.connection.execute("update memory.jobs set error = null")
    said = f"says {EMAIL} with {KEY}"
    ana = {"user_id": "ana"}
    api.connection.execute("delete from memory.query_embeddings")
    job = api.claim_jobs(worker="test", max_jobs=1, **ana)[0]
    lease = {"job_id": job.job_id, "lease_token": job.lease_token}
    api.fail_job(**ana, **lease, error=said, calls=Jsonb([{"error": said, "duration_ms": 1}]))
    one, two, bad = (api.add_memory(content=f"Likes {tea}", **ana).memory_id for tea in ("oolong", "sencha", "mud"))
    api.supersede_memory(old_memory_id=one, new_memory_id=two, reason=said, **ana)
    api.quarantine_memory(memory_id=bad, reason=said, **ana)
    document = api.add_document(content="c", **ana)
    artifact = api.store_artifact(content="a", **ana).key
    api.add_message(thread_id="t", role="user", content="m", **ana)
    summary = api.value("select summary_id::text from memory.summaries limit 1")
    for source, key in (("document", document), ("artifact", artifact), ("thread", "t"), ("summary", summary)):
        api.quarantine_source(source=source, id=str(key), reason=said, **ana)

    found = {
        (table, column)
        for [table] in api.query(TABLES)
        for column, kind in api.query(
            "select attname::text, format_type(atttypid, null) from pg_attribute"
            " where attrelid = %(table)s::regclass and attnum > 0 and not attisdropped",
            table=f"memory.{table}",
        )
        if api.value(
            f"select exists (select from memory.{table} as t where "  # keys of JSON stay, because programs know them
            + (f"jsonb_path_query_array(t.{column}, 'strict $.** ? (@.type() == \"string\")')::text"
               if kind == "jsonb" else f"t.{column}::text")
            + " like any (%(said)s))",
            said=[f"%{EMAIL}%", f"%{KEY}%"],
        )
    }  # fmt: skip
    assert {place for place in found if place[1] not in NAMES} == KEPT.keys()
    marked = "says (masked: email) with (credential: AWS access key)"
    for table, column in (
        ("memories", "supersede_reason"), ("memories", "quarantine_reason"), ("documents", "quarantine_reason"),
        ("artifacts", "quarantine_reason"), ("quarantined_messages", "reason"), ("summaries", "quarantine_reason"),
        ("jobs", "error"), ("model_calls", "error"),
    ):  # fmt: skip
        assert api.value(f"select exists (select from memory.{table} where {column} = %(m)s)", m=marked), column
