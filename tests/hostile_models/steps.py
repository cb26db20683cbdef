"""Models that misbehave in every way a network and a machine allow, against both runners of their jobs.

Whatever the model does, nothing is lost, nothing of anyone else is touched, the job says what happened, and the ledger
has every call. These are the parts that its tests share: the server, the jobs, and what is looked at afterwards.
"""

from __future__ import annotations

from typing import Any

from tests.support.fake_model_server import FakeModelServer
from tests.support.runners import Runner
from tests.support.sqlapi import TABLES, Api

Body = dict[str, Any]
SECRET = "4711-is-the-pin-of-bob"
LEDGER = "select tokens_in, tokens_out, error from memory.model_calls order by called_at, call_id"
JOBS = "select kind, status, attempts, error, result from memory.jobs order by job_id"


class HostileServer(FakeModelServer):
    """A fake model server with vectors of 32 dimensions, which many may call at once."""

    def __init__(self) -> None:
        super().__init__(dimensions=32)
        self._server.socket.listen(128)  # http.server lets five connections wait; others try again after a second


def use(api: Api, fake: FakeModelServer, **settings: Any) -> None:
    """Make the fake server the chat model."""
    settings = {"base_url": fake.url, "max_concurrency": 100, **settings}
    api.register_model(name="fake", kind="chat", provider="openai", model="gpt-fake", settings=settings)
    api.activate_model(name="fake")


def work(runner: Runner) -> None:
    runner.start()
    runner.join()


def work_again(api: Api, runner: Runner) -> None:
    """Do the queued jobs without waiting for their backoff."""
    api.connection.execute("update memory.jobs set run_after = now() where status = 'pending'")
    work(runner)


def bystanders(api: Api) -> dict[str, Any]:
    """A digest of everything that is Bob's, of Ana's other thread or nobody's."""
    digest = """
        select md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) from memory.{} as t
        where coalesce(to_jsonb(t) ->> 'user_id', '') in ('', 'bob')
          or 'ana' = to_jsonb(t) ->> 'user_id' and 'other' in (to_jsonb(t) ->> 'thread_id', to_jsonb(t) ->> 'scope')
    """
    return {table: api.value(digest.format(table)) for [table] in api.query(TABLES)}


def memories(api: Api) -> list[str]:
    return [row.content for row in api.query("select content from memory.memories where user_id = 'ana' order by 1")]


def tokens_entered(api: Api) -> Any:
    [row] = api.query(
        "select coalesce(sum(tokens_in), 0)::int as i, coalesce(sum(tokens_out), 0)::int as o from memory.model_calls"
    )
    return tuple(row)


# A reply to each prompt, in an order in which none passes for its neighbour's.
REPLIES: dict[str, Body] = {
    "extract_memories": {
        "memories": [{"content": "x", "memory_type": "fact", "confidence": 1, "importance": 1, "seqs": [0]}]
    },
    "compress_thread": {"summary": "x", "topics": [], "entities": [], "decisions": [], "questions": []},
    "summarize_thread": {"points": [{"text": "x", "seqs": [0]}]},
    "summarize_user": {"summary": "x", "topics": []},
    "reconcile_memories": {"duplicates": [], "contradictions": []},
    "consolidate": {"articles": [{"title": "x", "content": "x", "numbers": [1, 2]}]},
    "describe_artifact": {"description": "x"},
}


def name_of_prompt(body: Body) -> str:
    name: str = body["response_format"]["json_schema"]["name"]
    return name


def queue_every_kind(api: Api) -> None:
    """One job of each kind that asks a chat model, all of Ana's."""
    for content in ("drink is tea", "drink is coffee"):
        api.add_memory(user_id="ana", content=content)
    add_old_memories(api, "ana", "trip to Rome", "trip to Oslo")
    api.extract_memories(user_id="ana", thread_id="t")
    api.compress_thread(user_id="ana", thread_id="t")
    api.summarize_thread(user_id="ana", thread_id="t")
    api.summarize_user(user_id="ana")
    api.reconcile_memories(user_id="ana")
    api.consolidate(user_id="ana")
    api.add_message(user_id="ana", thread_id="t", role="tool", content="fetched a page of the log\n" * 100)
    api.connection.execute("delete from memory.jobs where kind = 'parse_artifacts'")  # asks no model


def add_old_memories(api: Api, user_id: str, *contents: str) -> None:
    """Short-term memories that are old enough to be consolidated."""
    for content in contents:
        api.connection.execute(
            "insert into memory.memories (user_id, memory_type, content, source, created_at)"
            " values (%s, 'episodic', %s, 'extraction', now() - interval '8 days')",
            (user_id, content),
        )


def own_state(api: Api, user_id: str = "ana") -> dict[str, Any]:
    """A digest of the rows of a user that models may change: all but jobs and the ledger."""
    tables = ("messages", "threads", "memories", "memory_scopes", "documents", "artifacts", "embeddings")
    digest = "select md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) from memory.{} as t where {}"
    where = "user_id = %(user_id)s"
    return {
        "summaries": api.value(digest.format("summaries", f"{where} and status = 'completed'"), user_id=user_id),
        "marks": api.value(digest.format("marks", f"{where} and kind <> 'claims'"), user_id=user_id),
        **{table: api.value(digest.format(table, where), user_id=user_id) for table in tables},
    }
