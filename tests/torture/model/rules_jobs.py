"""Rules of the job protocol: leases are exclusive, end once, and nothing that was asked for is left undone."""

from __future__ import annotations

import time
from typing import Any
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.support.sqlapi import result_of
from tests.torture.model.base import Rules, numbers, pick, picks, threads, users
from tests.torture.model.jobs import Job
from tests.torture.model.messages import Conversations, Said
from tests.torture.model.values import RefusedError
from tests.torture.model.world import Difference, check

KIND = "extract_memories"
OTHER_KINDS = ["chunk_documents", "parse_artifacts"]
ROOM = 4
"""Jobs of one user that may run at once, by the built-in policy."""
SLOW_SECONDS = 1.5
"""A claim that took as long may have left jobs to the next one."""


class JobRules(Rules):
    """Requests, claims, and the ends of leases."""

    @rule(
        user_id=users, thread_id=threads, recent_k=st.none() | st.integers(1, 5),
        says=st.sampled_from([False, True, True]),
    )  # fmt: skip
    def extract_memories(self, user_id: str, thread_id: str, recent_k: Any, says: bool) -> None:
        """``says``: there is something new to read."""
        talk = self.world.talks[user_id]
        if says:
            self.say(user_id, thread_id)
        with self.world.same_refusal(lambda: talk.request(thread_id, recent_k), "extract_memories") as open_job:
            job_id = self.world.call("extract_memories", user_id=user_id, thread_id=thread_id, recent_k=recent_k)
            if open_job and open_job[0] is not None:
                check(job_id, open_job[0].job_id, "a request that meets an open job")
            elif open_job:
                talk.jobs[job_id] = Job(job_id, thread_id, recent_k)
        self.touched = user_id

    @rule(max_jobs=st.integers(1, 6), dies=st.booleans(), user_id=st.none() | users)
    def claim_jobs(self, max_jobs: int, dies: bool, user_id: Any) -> None:
        """``dies``: the leases run out at once, as those of a worker that dies."""
        self.expire_leases()
        due = {user: talk.due() for user, talk in self.world.talks.items() if user_id in (None, user)}
        room = {user: ROOM - len(self.world.talks[user].running()) for user in due}
        has_empty = any(self.world.talks[user].has_empty_jobs() for user in due)
        began = time.monotonic()
        claimed = self.world.call(
            "claim_jobs", worker="w", kinds=[KIND], max_jobs=max_jobs, user_id=user_id,
            lease="1 microsecond" if dies else "1 hour",
        )  # fmt: skip
        is_slow = time.monotonic() - began > SLOW_SECONDS
        self.learn_ids()
        self.take(claimed, dies)
        expected = min(max_jobs, sum(min(len(jobs), max(0, room[user])) for user, jobs in due.items()))
        # A claim that has jobs ends with a round over the users that finds only jobs with nothing to read, and any
        # claim ends after two seconds.
        enough = (is_slow or (has_empty and claimed)) and len(claimed) <= expected
        check(len(claimed), len(claimed) if enough else expected, f"jobs claimed of {due}")

    @rule()
    def many_workers_claim(self) -> None:
        """No job is handed out twice."""
        self.expire_leases()
        answers = self.at_once(lambda api: api.claim_jobs(worker="w", kinds=[KIND], max_jobs=3, lease="1 hour"))
        claimed = [job for answer in answers for job in answer]
        check(len({job.job_id for job in claimed}), len(claimed), "jobs claimed at once")
        self.learn_ids()
        self.take(claimed, False)

    def take(self, claimed: list[Any], dies: bool) -> None:
        for job in claimed:
            talk = self.world.talks[job.user_id]
            known = talk.jobs[job.job_id]
            expected = talk.input_of(known)
            if known not in talk.due():
                raise Difference(f"{job} was handed out, but was not due")
            known.begin()
            known.lease_token, known.is_lease_over = job.lease_token, dies
            known.given = expected
            thread = talk.threads[known.thread_id]
            known.reads_to = thread.unread(known.recent_k)[1]
            known.reads_from = max(thread.read_to + 1, thread.next_seq - (known.recent_k or thread.next_seq))
            check(
                ([message["seq"] for message in job.payload["messages"]], job.attempt),
                (expected, known.attempts),
                f"payload of {job.job_id}",
            )
        for user_id, talk in self.world.talks.items():
            for known in talk.jobs.values():
                if known.status == "pending" and not known.is_delayed and not talk.input_of(known):
                    self.note_if_skipped(user_id, known)

    def note_if_skipped(self, user_id: str, job: Job) -> None:
        """A job with nothing to read ends with the claim that comes across it, which may be a later one."""
        if self.world.api.get_job(user_id=user_id, job_id=job.job_id).status == "completed":
            job.begin()
            job.end("completed")
            thread = self.world.talks[user_id].threads[job.thread_id]
            thread.read_to = max(thread.read_to, thread.unread(job.recent_k)[1])

    def expire_leases(self) -> None:
        """What the next claim does first."""
        for talk in self.world.talks.values():
            for job in talk.running():
                if job.is_lease_over and job.fail(is_delayed=False) == "dead" and job.has_next:
                    self.follow(talk, job)

    def has_no_room(self, user_id: str) -> bool:
        """Whether no further job of the user may be handed out now."""
        self.expire_leases()
        self.learn_ids()
        return len(self.world.talks[user_id].running()) >= ROOM

    def follow(self, talk: Conversations, job: Job) -> None:
        """Requests that came while a job ran are a job of their own once it has ended; its id is the database's."""
        follower = Job(min([0, *talk.jobs]) - 1, job.thread_id, job.next_recent_k)
        job.has_next = False
        talk.jobs[follower.job_id] = follower

    def learn_ids(self) -> None:
        """Look up the ids of the jobs that follow others."""
        for user_id, talk in self.world.talks.items():
            for job in [j for j in talk.jobs.values() if j.job_id < 0]:
                rows = self.world.api.query(
                    "select max(job_id) as job_id from memory.jobs"
                    " where user_id = %(user_id)s and kind = %(kind)s and scope = %(scope)s",
                    user_id=user_id, kind=KIND, scope=job.thread_id,
                )  # fmt: skip
                del talk.jobs[job.job_id]
                job.job_id = rows[0].job_id
                if job.job_id in talk.jobs:
                    raise Difference(f"no job follows {talk.jobs[job.job_id]}")
                talk.jobs[job.job_id] = job

    @rule(
        user_id=users, number=picks, is_stranger=st.sampled_from([False] * 4 + [True]), learned=st.none() | numbers,
        how=st.sampled_from(["complete", "complete", "fail", "fail_late", "release", "extend"]),
    )  # fmt: skip
    def end_lease(self, user_id: str, number: int, how: str, is_stranger: bool, learned: int | None) -> None:
        """``learned``: what a completed extraction has drawn from the first messages that it was given."""
        talk = self.world.talks[user_id]
        job = pick(talk.running(), number) or pick(list(talk.jobs.values()), number)
        if job is None:
            return
        token = job.lease_token if job.lease_token and not is_stranger else UUID(int=number)
        held = {"user_id": user_id, "job_id": job.job_id, "lease_token": token}
        is_held = token == job.lease_token
        content = None if learned is None else self.text(user_id, learned)
        thread = talk.threads.get(job.thread_id)
        messages = thread.messages if thread else {}
        heard = [seq for seq in job.given if seq in messages and messages[seq].quarantined is None]
        told = heard[: 1 + number % 2] if content else []
        found = [{"content": content, "memory_type": "fact", "seqs": told}] if told else []
        calls: dict[str, tuple[str, dict[str, Any]]] = {
            "complete": ("complete_job", {"result": {"memories": found}}),
            "fail": ("fail_job", {"error": "no luck", "retry_after": "0"}),
            "fail_late": ("fail_job", {"error": "no luck", "retry_after": "1 hour"}),
            "release": ("release_job", {"retry_after": "0"}),
            "extend": ("extend_job", {"lease": "1 hour"}),
        }
        function, arguments = calls[how]
        try:
            answer = self.world.call(function, **held, **arguments)
        except RefusedError as refused:
            check((refused.code, is_held), ("AM001", False), f"{function} of {job}")
            return
        check(is_held, True, f"{function} of {job}")
        if how == "extend":
            job.is_lease_over = False
        elif how == "release":
            job.end("pending", is_counted=False)
        elif how == "complete":
            job.end("completed")
            result = self.world.api.get_job(user_id=user_id, job_id=job.job_id).result
            job.stored = {UUID(memory_id) for memory_id in result["memory_ids"]}
            check(len(job.stored) <= len(found), True, f"memory_ids of {job}")
            thread = talk.threads[job.thread_id]
            thread.read_to = max(thread.read_to, job.reads_to)
            if content and told:
                self.learn(user_id, job.thread_id, content, [thread.messages[seq] for seq in told])
        else:
            check(answer, job.fail(is_delayed=how == "fail_late"), "status after fail_job")
        if not job.is_open and job.has_next:
            self.follow(talk, job)
            self.learn_ids()
        self.touched = user_id

    @rule(user_id=users, thread_id=threads, learned=numbers)
    def say_and_learn(self, user_id: str, thread_id: str, learned: int) -> None:
        """A message, and at once a memory that an extraction draws from it, if a job may be claimed now."""
        self.extract_memories(user_id=user_id, thread_id=thread_id, recent_k=1, says=True)
        self.claim_jobs(max_jobs=ROOM, dies=False, user_id=user_id)
        running = [job.thread_id for job in self.world.talks[user_id].running()]
        if thread_id in running:
            place = running.index(thread_id)
            self.end_lease(user_id=user_id, number=place, how="complete", is_stranger=False, learned=learned)

    def learn(self, user_id: str, thread_id: str, content: str, said: list[Said]) -> None:
        """Store in the model what an extraction has stored; the id is the database's."""
        memories = self.world.memories[user_id]
        new = self.world.api.query(
            "select memory_id from memory.memories where user_id = %(user_id)s and memory_id <> all(%(known)s::uuid[])",
            user_id=user_id, known=[str(memory_id) for memory_id in memories.rows],
        )  # fmt: skip
        memory_id = new[0].memory_id if new else UUID(int=0)
        is_stored = memories.extract(memory_id, content, said[0].agent_id, thread_id, said)
        check(len(new), int(is_stored), f"memories extracted from {said} of {user_id}: {content}")

    @rule(user_id=users, number=picks)
    def retry_job(self, user_id: str, number: int) -> None:
        talk = self.world.talks[user_id]
        job = pick([j for j in talk.jobs.values() if j.status != "completed"], number) or pick(
            list(talk.jobs.values()), number
        )
        if job is None:
            return

        def expected() -> str:
            if job.status in ("running", "completed"):
                raise RefusedError("22023")
            if job.status == "dead" and any(j.is_open for j in talk.jobs_of(job.thread_id)):
                raise RefusedError("23505")
            job.status, job.attempts, job.is_delayed = "pending", 0, False
            return ""

        self.world.both(expected, "retry_job", user_id=user_id, job_id=job.job_id)
        self.touched = user_id

    @rule()
    def do_other_jobs(self) -> None:
        """With those that parse texts in another language."""
        self.expire_leases()
        for job in self.world.call("claim_jobs", worker="w", kinds=OTHER_KINDS, max_jobs=100):
            held = {"user_id": job.user_id, "job_id": job.job_id, "lease_token": job.lease_token}
            self.world.call("complete_job", **held, result=result_of(job))
        self.learn_ids()

    def compare_jobs(self, user_id: str) -> None:
        api = self.world.session(user_id)
        for job in self.world.talks[user_id].jobs.values():
            row = api.get_job(user_id=user_id, job_id=job.job_id)
            check((row.status, row.attempts), (job.status, job.attempts), f"get_job({job})")
