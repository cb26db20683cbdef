"""Rules of articles: what a consolidation is given, what its articles hide, and what brings that back."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.torture.model.base import agents, numbers, picks, users
from tests.torture.model.rules_jobs import JobRules
from tests.torture.model.rules_memories import MemoryRules
from tests.torture.model.world import MARKERS, check

KIND = "consolidate"


class ArticleRules(JobRules, MemoryRules):
    """Consolidations by a worker whose model makes one article of some memories at random."""

    @rule(user_id=users, number=numbers, agent_id=agents, source=st.sampled_from(["extraction", "extraction", "user"]))
    def add_context(self, user_id: str, number: int, agent_id: str, source: str) -> None:
        """Something of the short term, so that there is enough of that."""
        self.add_memory(
            user_id=user_id, number=number, memory_type="context", agent_id=agent_id, thread_id=None, tags=[],
            importance=0.5, source=source, on_conflict="ignore", expires=None, is_over=False, is_loud=False,
        )  # fmt: skip

    @rule(
        user_id=users, number=picks, first=picks, count=st.integers(2, 4), changes=st.sampled_from([False] * 4 + [True])
    )
    def consolidate(self, user_id: str, number: int, first: int, count: int, changes: bool) -> None:
        """``changes``: one of the memories is changed while the job runs, so that nothing is made of it."""
        memories = self.world.memories[user_id]
        if self.has_no_room(user_id):
            return
        self.make_older(user_id)
        self.world.call("consolidate", user_id=user_id)
        given = memories.short_term()
        jobs = self.world.call("claim_jobs", worker="w", kinds=[KIND], user_id=user_id)
        check(len(jobs), int(len(given) >= 2), f"jobs of {KIND}({user_id})")
        if not jobs:
            return
        found = [memory["content"] for memory in jobs[0].payload["memories"]]
        check(found, [m.content for m in given], f"memories of {KIND}({user_id})")

        begin = first % (len(given) - 1)
        sources = given[begin : begin + count]
        if changes:
            row = sources[0]
            self.world.call("update_memory", user_id=user_id, memory_id=row.memory_id, metadata={"n": "changed"})
            row.change(self.world.clock.now, "update", metadata={"n": "changed"})
        content = f"The {MARKERS[user_id]} article {number}"
        article = {
            "title": f"Article {number}", "content": content,
            "numbers": [given.index(row) + 1 for row in sources],
        }  # fmt: skip
        told = self.complete_article(user_id, jobs[0], article)
        hidden = 0
        if not changes:
            rows = self.world.api.list_documents(user_id=user_id, row_limit=1000)
            [new] = [row for row in rows if row.document_id not in memories.documents]
            check((new.content, new.namespace), (content, "memories"), f"article of {KIND}({user_id})")
            hidden = memories.consolidate(new.document_id, content, sources)
        expected = {"articles": int(not changes), "consolidated": hidden, "refused": int(changes)}
        check(told, expected, f"result of {KIND}({user_id})")
        self.touched = user_id

    def make_older(self, user_id: str) -> None:
        """Have the memories of the short term been stored a week before; no call does that."""
        api = self.world.api
        aged = self.world.memories[user_id].age()
        with api.connection.transaction():
            api.connection.execute("set local session_replication_role = replica")
            for table, key in (("memories", "memory_id::text"), ("texts", "id")):
                api.connection.execute(
                    f"update memory.{table} set created_at = created_at - interval '8 days'"
                    f" where user_id = %s and {key} = any (%s::text[])",
                    [user_id, aged],
                )

    def complete_article(self, user_id: str, job: Any, article: dict[str, Any]) -> dict[str, Any]:
        held = {"user_id": user_id, "job_id": job.job_id, "lease_token": job.lease_token}
        self.world.call("complete_job", **held, result={"articles": [article]})
        told: dict[str, Any] = self.world.api.get_job(user_id=user_id, job_id=job.job_id).result
        return told
