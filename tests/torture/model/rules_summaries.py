"""Rules of summaries: what a summary reads, what compression takes out of a thread, and what brings it back."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.torture.model.base import picks, threads, users
from tests.torture.model.messages import Summary, Thread
from tests.torture.model.rules_jobs import ROOM, JobRules
from tests.torture.model.values import RefusedError
from tests.torture.model.world import KEPT, MARKERS, check

KINDS = ["compress_thread", "summarize_thread"]


class SummaryRules(JobRules):
    """Summaries of whole threads, made by a worker whose model always says the same."""

    @rule(user_id=users, thread_id=threads, number=picks, kind=st.sampled_from(KINDS))
    def summarize(self, user_id: str, thread_id: str, number: int, kind: str) -> None:
        talk = self.world.talks[user_id]
        self.expire_leases()
        self.learn_ids()
        if len(talk.running()) >= ROOM:
            return
        self.do_summaries(user_id)  # those that quarantine and forgetting have asked for
        options = {} if kind == "compress_thread" else {"kind": "thread"}
        try:
            self.world.call(kind, user_id=user_id, thread_id=thread_id, **options)
        except RefusedError as refused:
            check((refused.code, thread_id in talk.threads), ("P0002", False), kind)
            return
        thread = talk.threads[thread_id]
        given, first_kept = talk.to_summarize(thread_id, KEPT if kind == "compress_thread" else None)
        done = self.do_summaries(user_id, f"Summary {number} of {MARKERS[user_id]}")
        check(done, int(bool(given)), f"jobs of {kind}({user_id}, {thread_id})")
        if not given and thread.summaries and kind == "compress_thread":
            # Nothing is new: what the summary covers already is put away without a model.
            thread.put_away(thread.summaries[-1], first_kept)
        self.touched = user_id
        for name in talk.threads:
            self.compare_summary(user_id, name)

    def do_summaries(self, user_id: str, text: str = "What was said") -> int:
        """Do all jobs that make summaries of the user's threads; how many there were."""
        done = 0
        while claimed := self.world.call("claim_jobs", worker="w", kinds=KINDS, user_id=user_id, max_jobs=1):
            self.finish(user_id, claimed[0], text)
            done += 1
        return done

    def finish(self, user_id: str, job: Any, text: str) -> None:
        thread_id = job.payload["thread_id"]
        thread = self.world.talks[user_id].threads[thread_id]
        keep = KEPT if job.kind == "compress_thread" else None
        given, _ = self.world.talks[user_id].to_summarize(thread_id, keep)
        what = f"{job.kind}({user_id}, {thread_id})"
        check([message["seq"] for message in job.payload["messages"]], given, what)
        held = {"user_id": user_id, "job_id": job.job_id, "lease_token": job.lease_token}
        self.world.call("complete_job", **held, result={"summary": text})
        [row] = self.world.call("get_thread_summary", user_id=user_id, thread_id=thread_id)
        base = thread.summaries[-1].summary_id if thread.summaries else None
        thread.summaries.append(Summary(row.summary_id, text, given[-1], base))
        if keep is not None:
            thread.put_away(thread.summaries[-1], kept_from(thread, given[-1] + 1))

    def compare_summary(self, user_id: str, thread_id: str) -> None:
        rows = self.world.session(user_id).get_thread_summary(user_id=user_id, thread_id=thread_id)
        thread = self.world.talks[user_id].threads[thread_id]
        check(
            [(s.summary_id, s.summary, s.start_seq, s.end_seq, s.base_summary_id) for s in rows],
            [(s.summary_id, s.text, 0, s.end_seq, s.base_id) for s in thread.summaries[-1:]],
            f"get_thread_summary({user_id}, {thread_id})",
        )


def kept_from(thread: Thread, read_before: int) -> int:
    """Where a compression ends: a call is kept until a job has read its results."""
    active = [m.seq for m in thread.messages.values() if m.is_active and m.seq >= read_before]
    call = thread.call_of(active[0]) if active else None
    return read_before if call is None else call
