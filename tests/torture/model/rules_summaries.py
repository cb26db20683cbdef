"""Rules of summaries: what a summary reads, what compression takes out of a thread, and what brings it back."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.torture.model.base import picks, threads, users
from tests.torture.model.messages import NOTICE, Thread
from tests.torture.model.rules_jobs import JobRules
from tests.torture.model.summaries import Summary, to_profile, to_roll
from tests.torture.model.values import RefusedError
from tests.torture.model.world import KEPT, MARKERS, check

KINDS = ["compress_thread", "summarize_thread"]
MOST_OF_A_PROFILE = 190
"""Messages; 200 are given at once."""


class SummaryRules(JobRules):
    """Summaries of threads and profiles of users, made by a worker whose model always says the same."""

    @rule(user_id=users, thread_id=threads, number=picks, kind=st.sampled_from(["compress_thread", "summarize_thread"]))
    def summarize(self, user_id: str, thread_id: str, number: int, kind: str) -> None:
        if not self.request_summary(user_id, thread_id, kind, {} if kind == "compress_thread" else {"kind": "thread"}):
            return
        talk = self.world.talks[user_id]
        thread = talk.threads[thread_id]
        given, first_kept = talk.to_summarize(thread_id, KEPT if kind == "compress_thread" else None)
        done = self.do_summaries(user_id, f"Summary {number} of the {MARKERS[user_id]} note")
        check(done, int(bool(given)), f"jobs of {kind}({user_id}, {thread_id})")
        if not given and thread.summaries and kind == "compress_thread":
            # Nothing is new: what the summary covers already is put away without a model.
            thread.put_away(thread.summaries[-1], first_kept)
        self.touched = user_id

    @rule(user_id=users, thread_id=threads, number=picks, recent_k=st.none() | st.integers(1, 6))
    def roll(self, user_id: str, thread_id: str, number: int, recent_k: int | None) -> None:
        """A rolling summary."""
        options = {"kind": "rolling", "recent_k": recent_k}
        if self.request_summary(user_id, thread_id, "summarize_thread", options):
            given = to_roll(self.world.talks[user_id].threads[thread_id], recent_k)[0]
            done = self.do_summaries(user_id, f"Rolling summary {number} of the {MARKERS[user_id]} note", recent_k)
            check(done, int(bool(given)), f"jobs of summarize_thread({user_id}, {thread_id}, {options})")
            self.touched = user_id

    @rule(user_id=users, number=picks)
    def summarize_user(self, user_id: str, number: int) -> None:
        """A profile."""
        talk = self.world.talks[user_id]
        given, through = to_profile(talk.threads)
        if len(given) > MOST_OF_A_PROFILE or self.has_no_room(user_id):
            return
        self.world.call("summarize_user", user_id=user_id)
        claimed = self.world.call("claim_jobs", worker="w", kinds=["summarize_user"], user_id=user_id)
        made_at = self.world.clock.now
        for thread_id, thread in talk.threads.items():
            if thread_id not in through and thread.next_seq > (thread.profiled_to or -1) + 1:
                thread.profiled_to = thread.next_seq - 1  # nothing in it for a model, so it counts as read
        check(len(claimed), int(bool(given)), f"jobs of summarize_user({user_id})")
        if not claimed:
            return
        found = sorted(m["content"] for m in claimed[0].payload["messages"])
        check(found, sorted(m.content for m in given), f"messages of summarize_user({user_id})")
        text = told(claimed[0], f"Profile {number} of the {MARKERS[user_id]} note")
        self.complete(user_id, claimed[0], text)
        for thread_id, seq in through.items():
            talk.threads[thread_id].profiled_to = seq
        [row] = self.world.call("get_user_summary", user_id=user_id)
        base = talk.profiles.made[-1] if talk.profiles.made else None
        end_seq = (base.end_seq if base else -1) + len(given)
        talk.profiles.made.append(
            Summary(row.summary_id, text, end_seq, base.summary_id if base else None, made_at=made_at)
        )
        self.touched = user_id

    def request_summary(self, user_id: str, thread_id: str, function: str, options: dict[str, Any]) -> bool:
        if self.has_no_room(user_id):
            return False
        self.do_summaries(user_id)  # those that quarantine and forgetting have asked for
        try:
            self.world.call(function, user_id=user_id, thread_id=thread_id, **options)
        except RefusedError as refused:
            check((refused.code, thread_id in self.world.talks[user_id].threads), ("P0002", False), function)
            return False
        return True

    def do_summaries(self, user_id: str, text: str | None = None, recent_k: int | None = None) -> int:
        """Do all jobs that make summaries of the user's threads; how many there were."""
        text = text or f"What {MARKERS[user_id]} said"
        done = 0
        while claimed := self.world.call("claim_jobs", worker="w", kinds=KINDS, user_id=user_id, max_jobs=1):
            if claimed[0].payload.get("kind") == "rolling":
                self.finish_rolling(user_id, claimed[0], text, recent_k)
            else:
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
        text = told(job, text)
        self.complete(user_id, job, text)
        [row] = self.world.call("get_thread_summary", user_id=user_id, thread_id=thread_id)
        base = thread.summaries[-1] if thread.summaries else None
        start = base.start_seq if base else thread.after_opening
        thread.summaries.append(made_of(thread, given, base, row.summary_id, text, start, given[-1]))
        if keep is not None:
            thread.put_away(thread.summaries[-1], kept_from(thread, given[-1] + 1))

    def finish_rolling(self, user_id: str, job: Any, text: str, recent_k: int | None) -> None:
        thread_id = job.payload["thread_id"]
        thread = self.world.talks[user_id].threads[thread_id]
        given, start, end, base = to_roll(thread, recent_k)
        found = [message["seq"] for message in job.payload["messages"]]
        check(
            (found, job.payload["start_seq"], job.payload["end_seq"], job.payload["previous_summary"]),
            (given, start, end, base.text if base else None),
            f"rolling summary of {thread_id} of {user_id}",
        )
        text = told(job, text)
        self.complete(user_id, job, text)
        [row] = self.world.call("get_thread_summary", user_id=user_id, thread_id=thread_id, kind="rolling")
        thread.rolling.append(made_of(thread, given, base, row.summary_id, text, start, end))

    def complete(self, user_id: str, job: Any, text: str) -> None:
        held = {"user_id": user_id, "job_id": job.job_id, "lease_token": job.lease_token}
        self.world.call("complete_job", **held, result={"summary": text})

    def compare_summaries(self, user_id: str) -> None:
        api, talk = self.world.session(user_id), self.world.talks[user_id]
        for thread_id, thread in talk.threads.items():
            whole, rolling = thread.summaries[-1:], thread.rolling[-1:]
            for kind, expected in (("rolling", rolling), (None, whole or rolling)):
                rows = api.get_thread_summary(user_id=user_id, thread_id=thread_id, kind=kind)
                compare(rows, expected, f"get_thread_summary({user_id}, {thread_id}, {kind})")
        compare(api.get_user_summary(user_id=user_id), talk.profiles.made[-1:], f"get_user_summary({user_id})")


def made_of(
    thread: Thread, given: list[int], base: Summary | None, summary_id: UUID, text: str, start: int, end: int
) -> Summary:
    """A summary of the messages with these seqs, which continues another one."""
    agents = {thread.messages[seq].agent_id for seq in given} | (base.agents if base else set())
    return Summary(summary_id, text, end, base.summary_id if base else None, start, frozenset(agents))


def compare(rows: list[Any], expected: list[Summary], what: str) -> None:
    """Summaries as the database shows them, and those of the model."""
    check(
        [(s.summary_id, s.summary, s.start_seq, s.end_seq, s.base_summary_id) for s in rows],
        [(s.summary_id, s.text, s.start_seq, s.end_seq, s.base_id) for s in expected],
        what,
    )


def kept_from(thread: Thread, read_before: int) -> int:
    """Where a compression ends: a call is kept until a job has read its results."""
    active = [m.seq for m in thread.messages.values() if m.is_active and m.seq >= read_before]
    call = thread.call_of(active[0]) if active else None
    return read_before if call is None else call


def told(job: Any, text: str) -> str:
    """The text, or the notice where the model was given nothing but messages in quarantine.

    A summary without a word of what it rests on is refused.
    """
    given = [message["content"] for message in job.payload["messages"]]
    given.append(job.payload.get("previous_summary") or "")
    return NOTICE if {*given} <= {NOTICE, ""} else text
