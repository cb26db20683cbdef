"""Rules of reconciliation: what a model calls duplicates or contradictions is hidden as far as the contract allows."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.torture.model.base import picks, users
from tests.torture.model.rules_jobs import JobRules
from tests.torture.model.world import check

KIND = "reconcile_memories"


class ReconcileRules(JobRules):
    """Reconciliations by a worker whose model names facts at random, mostly some that could be meant."""

    @rule(
        user_id=users, a=picks, distances=st.lists(st.integers(0, 4), min_size=1, max_size=2),
        is_duplicate=st.booleans(), is_alike=st.sampled_from([True, True, True, False]),
        changes=st.sampled_from([False] * 4 + [True]),
    )  # fmt: skip
    def reconcile(
        self, user_id: str, a: int, distances: list[int], is_duplicate: bool, is_alike: bool, changes: bool
    ) -> None:
        """One entry of a reply.

        ``is_alike``: of facts of one agent; ``changes``: one of the facts is changed while the job runs, so that the
        entry may hide nothing any more.
        """
        memories = self.world.memories[user_id]
        if self.has_no_room(user_id):
            return
        self.world.call("reconcile_memories", user_id=user_id)
        facts = memories.facts()
        jobs = self.world.call("claim_jobs", worker="w", kinds=[KIND], user_id=user_id)
        check(len(jobs), int(len(facts) >= 2), f"jobs of {KIND}({user_id})")
        if not jobs:
            return
        [job] = jobs
        given = [(fact["number"], fact["content"]) for fact in job.payload["facts"]]
        check(given, list(enumerate((m.content for m in facts), start=1)), f"facts of {KIND}({user_id})")

        first = facts[a % len(facts)]
        pool = [m for m in facts if not is_alike or m.agent_id == first.agent_id]
        chosen = {facts.index(pool[(pool.index(first) + distance) % len(pool)]) for distance in (0, *distances)}
        if changes:
            self.world.call("update_memory", user_id=user_id, memory_id=first.memory_id, metadata={"n": "changed"})
            first.change(self.world.clock.now, "update", metadata={"n": "changed"})
        numbers = [number + 1 for number in sorted(chosen)]
        result: dict[str, list[Any]] = {"duplicates": [], "contradictions": []}
        if len(numbers) > 1:
            result["duplicates" if is_duplicate else "contradictions"].append({"numbers": numbers})
        held = {"user_id": user_id, "job_id": job.job_id, "lease_token": job.lease_token}
        self.world.call("complete_job", **held, result=result)
        told = self.world.api.get_job(user_id=user_id, job_id=job.job_id).result

        entry = [] if changes else [facts[number - 1] for number in numbers]
        is_believed = told["contradicted"] > 0 and not any(
            self.world.api.get_memory(user_id=user_id, memory_id=m.memory_id).supersede_reason == "stated"
            for m in entry
        )
        losers = [] if is_duplicate else memories.contradict(entry, is_believed)
        check(
            told,
            {
                "kept": len(facts) - len(losers) - int(changes),
                "merged": 0,
                "contradicted": len(losers),
                "refused": int(len(numbers) > 1 and not losers),
            },
            f"result of {KIND}({user_id}): {result} of {facts}",
        )
        self.touched = user_id
