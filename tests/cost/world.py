"""A user, and what may grow beside the call: the thread that it names, other rows of its user, other users' rows."""

from __future__ import annotations

from typing import Any

from psycopg import sql

from tests.support.sqlapi import Api
from tests.values.bad_arguments import MEMORY_ID, OTHER_MEMORY_ID
from tests.values.valid_calls import make_calls_work

MODEL = "vectors"
EMBEDDING = [1, 0, 0]
PARSED = 20_000  # characters, which are more than a document may have that needs no cutting

FINISHED = """
insert into memory.jobs (user_id, kind, scope, status, finished_at, worker, result)
values ('ana', 'extract_memories', 'done', 'completed', now(), 'w', '{"memory_ids": []}')
"""
CALLED = """
insert into memory.model_calls (user_id, call_id, kind, agent_id, model, tokens_in, tokens_out, called_at)
values ('ana', gen_random_uuid(), 'extract_memories', 'default', 'local', 10, 10, now())
"""
EMBEDDED = f"""
update memory.texts set model = '{MODEL}', embedding = '[1,0.5,0]',
  code = case source when 'message' then memory._code('[1,0.5,0]') end
where source in ('memory', 'message', 'document', 'summary')
"""
UNEMBEDDED = """
update memory.texts set model = null, embedding = null, code = null
where id in ('t1/0', '00000000-0000-0000-0000-000000000001')
"""
SUMMARISED = """
insert into memory.summaries (user_id, summary_id, kind, thread_id, summary, token_count, start_seq, end_seq, status)
values ('ana', gen_random_uuid(), 'user', '', 'Likes tea.', 3, 0, 0, 'completed'),
  ('ana', gen_random_uuid(), 'thread', 't2', 'They talked about tea.', 5, 0, 0, 'completed'),
  ('ana', gen_random_uuid(), 'rolling', 't2', 'They talked about tea.', 5, 0, 0, 'completed')
"""


def settle(api: Api) -> None:
    """Store one row of everything, so that each call works and each table has a row that can be copied."""
    make_calls_work(api)
    api.register_model(name="writer", kind="chat", provider="openai", model="gpt")
    api.register_model(name="guard", kind="screen", provider="openai", model="gpt")
    for model in (MODEL, "writer", "guard"):
        api.activate_model(name=model)
    api.set_policy(settings={"memories": {"max_per_agent": 1_000_000}, "compression": {"recent_messages_to_keep": 1}})
    api.talk("ana", "t1", rounds=2)
    for number in range(10):
        api.add_memory(user_id="ana", content=f"Bought tea of kind {number}", memory_type="episodic")
    api.connection.execute(
        "update memory.memories set created_at = now() - interval '8 days' where memory_type = 'episodic'"
    )
    api.add_message(user_id="ana", thread_id="t2", role="user", content="The theorbo is here", idempotency_key="k")
    api.add_document(user_id="ana", content="Tea is a drink.", title="Tea")
    api.add_document(user_id="ana", content="Tea is a drink. " * (PARSED // 16), title="Much of tea")
    api.update_memory(user_id="ana", memory_id=MEMORY_ID, content="Drinks tea often")
    api.keep_query_embedding(user_id="ana", query="coffee", embedding_model={"name": MODEL}, embedding=str(EMBEDDING))
    for statement in (FINISHED, CALLED, EMBEDDED, SUMMARISED, UNEMBEDDED):
        api.connection.execute(statement.encode())
    api.connection.execute(f"update memory.models set dimensions = {len(EMBEDDING)} where name = '{MODEL}'".encode())
    api.connection.execute("update memory.artifacts set awaits_description = true")
    api.connection.execute("delete from memory.jobs where status = 'pending' and kind <> 'summarize_thread'")
    while api.sweep()["checked"]:
        pass
    api.store_artifact(user_id="ana", key="unparsed", content="Tea")
    api.record_use(user_id="ana", memory_ids=[OTHER_MEMORY_ID])
    waiting = api.add_memory(user_id="ana", content="Drinks what the web says", source="web").memory_id
    api.quarantine_memory(user_id="ana", memory_id=waiting, reason="screen: waiting for a verdict")
    for step in "12":  # of which one is pruned
        state = {"user_id": "ana", "thread_id": "t1", "checkpoint_id": step, "channels": ["x"], "types": ["t"]}
        api.put_checkpoint(**state, checkpoint={"channel_versions": {"x": step}}, versions=[step], blobs="{1}")
        api.put_checkpoint_writes(**state, task_id="task", places="{0}", blobs="{1}")
    api.connection.execute("delete from memory.jobs where status = 'pending' and kind <> 'summarize_thread'")


def copies(api: Api, table: str, times: int, start: int = 1, where: str = "true", **changed: str) -> None:
    """Copy a row of ana's so many times; ``changed`` are SQL expressions of n, the number of the copy."""
    values = sql.SQL(", ").join(
        sql.SQL("{}, {}").format(sql.Literal(column), sql.SQL(value)) for column, value in changed.items()
    )
    api.connection.execute(
        sql.SQL(
            "insert into memory.{table} select (jsonb_populate_record(t, jsonb_build_object({values}))).*"
            " from memory.{table} as t, generate_series({start}::bigint, {end}) as n"
            " where t.ctid = (select ctid from memory.{table} where user_id = 'ana' and {where} limit 1)"
        ).format(
            table=sql.Identifier(table),
            values=values,
            where=sql.SQL(where),
            start=sql.Literal(start),
            end=sql.Literal(start + times - 1),
        )
    )


def grow_thread(api: Api, start: int, end: int) -> None:
    """Messages of the thread t1, of which one in ten is about tea."""
    rows: dict[str, Any] = {"times": end - start, "start": start}
    copies(api, "messages", **rows, where="thread_id = 't2'", thread_id="'t1'", seq="4 + n", content="'theorbo ' || n",
           idempotency_key="'i' || n")  # fmt: skip
    copies(api, "texts", **rows, where="id = 't2/0'", id="'t1/' || 4 + n", thread_id="'t1'", number="4 + n")
    mark = f"update memory.marks set position = {4 + end} where scope = 't1' and kind = 'words'"
    api.connection.execute(mark.encode())
    api.connection.execute(
        """
        update memory.threads as t set next_seq = m.rows, message_count = m.rows, active_tokens = m.tokens
        from (select count(*) as rows, sum(token_count) as tokens from memory.messages as m
              where m.user_id = 'ana' and m.thread_id = 't1') as m
        where t.user_id = 'ana' and t.thread_id = 't1'
        """
    )


def grow_users(api: Api, user: str, start: int, end: int) -> None:
    """Rows of users, whom an expression of n names: of each table one, or a tenth, for each n."""
    rows: dict[str, Any] = {"times": end - start, "start": start}
    tenth: dict[str, Any] = {"times": (end - start) // 10, "start": start // 10 + 1}
    u: dict[str, Any] = {"user_id": user}
    tenth_u: dict[str, Any] = {"user_id": user.replace("/ 10", "")}
    copies(api, "messages", **rows, where="thread_id = 't2'", **u, thread_id="'g' || n / 10", seq="n % 10",
           content="'theorbo ' || n", idempotency_key="'g' || n")  # fmt: skip
    copies(api, "threads", **tenth, **tenth_u, thread_id="'g' || n", next_seq="10", message_count="10",
           active_tokens="50")  # fmt: skip
    copies(api, "memories", **rows, where="memory_id = '00000000-0000-0000-0000-000000000002'", **u,
           memory_id="md5('m' || n)", content="'Likes tea ' || n", content_hash="md5('Likes tea ' || n)")  # fmt: skip
    copies(api, "memory_history", **rows, **u, memory_id="md5('m' || n)")
    copies(api, "memory_uses", **rows, **u, memory_id="md5('m' || n)")
    keys: dict[str, Any] = {} if user == "'ana'" else {"keys": "null"}  # these name the user
    copies(api, "texts", **rows, where="id = 't2/0'", **u, id="'g' || n / 10 || '/' || n % 10",
           thread_id="'g' || n / 10", number="n % 10", **keys)  # fmt: skip
    copies(api, "texts", **rows, where="source = 'memory' and model is not null", **u, id="md5('m' || n)::uuid")
    for kind in ("thread", "rolling"):
        copies(api, "texts", **tenth, where="source = 'summary'", **tenth_u, id=f"md5('{kind}' || n)::uuid",
               thread_id="'g' || n")  # fmt: skip
    copies(api, "texts", **tenth, where="source = 'document'", **tenth_u, id="md5('d' || n)::uuid || '/0'")
    api.connection.execute(EMBEDDED.encode())
    copies(api, "jobs", **rows, where="status = 'completed'", **u, job_id="1000000 + n", scope="'g' || n")
    copies(api, "model_calls", **rows, **u, call_id="md5('c' || n)")
    copies(api, "query_embeddings", **rows, **u, query_hash="md5('q' || n)")
    for kind in ("thread", "rolling"):
        copies(api, "summaries", **tenth, where=f"kind = '{kind}'", **tenth_u, summary_id=f"md5('{kind}' || n)",
               thread_id="'g' || n")  # fmt: skip
    copies(api, "artifacts", **tenth, **tenth_u, key="'g' || n", content_id="md5('a' || n)",
           awaits_description="false")  # fmt: skip
    copies(api, "artifact_parts", **tenth, where="is_parsed", **tenth_u, content_id="md5('a' || n)")
    copies(api, "documents", **tenth, where="title = 'Tea'", **tenth_u, document_id="md5('d' || n)")
    copies(api, "document_chunks", **tenth, where="token_count is not null", **tenth_u, document_id="md5('d' || n)")
    for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
        copies(api, table, **rows, **u, thread_id="'g' || n")
    copies(api, "secrets", **tenth, **tenth_u, name="'g' || n")
    copies(api, "marks", **tenth, where="kind = 'words'", **tenth_u, scope="'g' || n", position="9")
    api.connection.execute(
        """
        insert into memory.memory_scopes (user_id, agent_id, memory_count)
        select m.user_id, m.agent_id, count(*) from memory.memories as m
        where m.superseded_at is null and m.deleted_at is null group by 1, 2
        on conflict (user_id, agent_id) do update set memory_count = excluded.memory_count
        """
    )


def grow_flood(api: Api, start: int, end: int) -> None:
    """Threads of one user, for each of which two jobs wait."""
    rows: dict[str, Any] = {"times": end - start, "start": start}
    flood: dict[str, Any] = {"user_id": "'flood'"}
    copies(api, "threads", **rows, **flood, thread_id="'f' || n")
    copies(api, "messages", **rows, where="thread_id = 't2'", **flood, thread_id="'f' || n", seq="0")
    for number, kind in enumerate(("extract_memories", "summarize_thread")):
        copies(api, "jobs", **rows, where="status = 'pending'", **flood, job_id=f"2000000 + 2 * n + {number}",
               kind=f"'{kind}'", scope="'f' || n", variant="''" if number == 0 else "'thread'")  # fmt: skip


def grow(api: Api, what: str, start: int, end: int) -> None:
    """Let what there is of something grow from so many rows to so many."""
    with api.connection.transaction():
        # No trigger runs and no foreign key is checked, which would take minutes.
        api.connection.execute("set local session_replication_role = replica")
        match what:
            case "thread":
                grow_thread(api, start, end)
            case "user":
                grow_users(api, "'ana'", start, end)
            case "others":
                grow_users(api, "'u' || n / 10", start, end)
                grow_flood(api, start, end)
