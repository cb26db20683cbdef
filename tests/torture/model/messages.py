"""The contract of conversations and of the jobs that read them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from tests.torture.model.jobs import Job, wider
from tests.torture.model.summaries import Profiles, Summary
from tests.torture.model.values import AGED, Clock, Expiry, RefusedError, plain

if TYPE_CHECKING:
    from tests.torture.model.remembered import Remembered

ROLES = ("user", "assistant", "tool", "system", "developer")
INSTRUCTING = ("system", "developer")
"""Roles that begin a thread with instructions."""
HEARD = ("user", "assistant")
"""Roles that an extraction reads."""
MAX_DEATHS = 7
"""Extractions of the same messages that may die before nothing waits for them any more."""
NOTICE = "(This message is in quarantine.)"


@dataclass
class Said:
    """One message as it is stored; ``is_active`` is false once it was cleared."""

    seq: int
    role: str
    content: str
    agent_id: str
    metadata: dict[str, Any]
    token_count: int
    expires: Expiry
    idempotency_key: str | None
    at: int = 0
    """When it was said, by the clock of statements."""
    is_active: bool = True
    summary_id: UUID | None = None
    """The summary for which compression has put the message away."""
    quarantined: str | None = None
    """What a message in quarantine said."""

    @property
    def is_current(self) -> bool:
        return self.is_active and self.is_alive

    @property
    def is_alive(self) -> bool:
        return self.expires in (None, "future")

    @property
    def is_kept(self) -> bool:
        return self.is_active or self.summary_id is not None

    @property
    def is_readable(self) -> bool:
        """Search finds it and jobs may read it."""
        return self.is_kept and self.is_alive

    @property
    def may_be_extracted(self) -> bool:
        """Extraction also reads what nobody else sees any more."""
        return self.is_kept and self.expires != "past"

    @property
    def said(self) -> str:
        return self.content if self.quarantined is None else self.quarantined

    @property
    def trust(self) -> float:
        return {"assistant": 0.8, "tool": 0.4}.get(self.role, 1.0)


@dataclass
class Thread:
    """One thread: its messages by seq, the keys of those that are gone, and how far extraction has read."""

    next_seq: int = 0
    messages: dict[int, Said] = field(default_factory=dict)
    gone_keys: dict[str, tuple[int, str | None, str | None]] = field(default_factory=dict)
    read_to: int = -1
    summaries: list[Summary] = field(default_factory=list)
    """Of the whole thread, each made from the one before."""
    rolling: list[Summary] = field(default_factory=list)
    profiled_to: int | None = None
    """Up to which message a profile has read the thread."""
    last_at: int = 0

    def stored_under(self, key: str | None) -> tuple[int, str | None, str | None] | None:
        """Seq, role and content of the message with an idempotency key; no role and content of a forgotten one."""
        if key is None:
            return None
        found = next((m for m in self.messages.values() if m.idempotency_key == key), None)
        return (found.seq, found.role, found.said) if found else self.gone_keys.get(key)

    def current(self) -> list[Said]:
        return [m for m in self.messages.values() if m.is_current]

    def opening(self) -> list[Said]:
        """The instructions that begin the thread, which no summary takes away."""
        kept = [m for m in self.messages.values() if m.is_kept]
        begins = itertools.takewhile(lambda m: m.role in INSTRUCTING and m.is_active, kept)
        return [m for m in begins if m.is_current]

    @property
    def after_opening(self) -> int:
        return max((m.seq + 1 for m in self.opening()), default=0)

    def clear(self, agent_id: str | None) -> int:
        """Take the messages of an agent, or all, out of the thread, and drop the summaries that were made of them."""
        of_agent = [m for m in self.messages.values() if agent_id in (None, m.agent_id)]
        cleared = sum(m.is_current for m in of_agent)
        for message in of_agent:
            message.is_active, message.summary_id = False, None
        self.summaries = [s for s in self.summaries if agent_id is not None and agent_id not in s.agents]
        self.rolling = [s for s in self.rolling if agent_id is not None and agent_id not in s.agents]
        return cleared

    def sweep(self, has_deaths_left: bool) -> None:
        for message in list(self.messages.values()):
            waits = (
                message.may_be_extracted and message.seq > self.read_to and message.role in HEARD and has_deaths_left
            )
            if not (message.is_readable or waits):
                self.remove(message)

    def expires_unread(self) -> bool:
        """Whether a message waits for its extraction."""
        unread = [m for m in self.messages.values() if m.seq > self.read_to and m.role in HEARD and m.may_be_extracted]
        return any(m.expires == "waiting" for m in unread)

    def remove(self, message: Said, is_forgotten: bool = False) -> None:
        """Its key stays, so that a repeated call does not store it again; of a forgotten one any text counts as it."""
        del self.messages[message.seq]
        if message.idempotency_key is not None:
            said = (None, None) if is_forgotten else (message.role, message.said)
            self.gone_keys[message.idempotency_key] = (message.seq, *said)

    def drop_summaries(self, first_seq: int) -> None:
        """Those that cover a message that was forgotten; what compression put away for them is in the thread again."""
        dropped = {s.summary_id for s in self.summaries if s.end_seq >= first_seq}
        self.summaries = [s for s in self.summaries if s.summary_id not in dropped]
        self.rolling = [s for s in self.rolling if s.end_seq < first_seq]
        for message in self.messages.values():
            if message.summary_id in dropped and not message.is_active:
                message.is_active, message.summary_id = True, None

    def put_away(self, summary: Summary, first_kept: int) -> None:
        """Compression takes what a summary covers out of the thread."""
        begin = self.after_opening
        for message in self.messages.values():
            if message.is_active and message.seq <= summary.end_seq and begin <= message.seq < first_kept:
                message.is_active, message.summary_id = False, summary.summary_id

    def call_of(self, seq: int) -> int | None:
        """The message that called the tools, for a message with a result of a tool; else its own number."""
        spoken = [m.seq for m in self.messages.values() if m.is_active and m.seq <= seq and m.role != "tool"]
        return max(spoken, default=None)

    def unread(self, recent_k: int | None) -> tuple[list[int], int]:
        """What an extraction is given, as seqs, and how far it has read then."""
        start = self.read_to + 1
        if recent_k is not None:
            start = max(start, self.next_seq - recent_k)
        rows = [m for m in self.messages.values() if m.seq >= start]
        given = [m.seq for m in rows if m.may_be_extracted and m.role in HEARD]
        return given, max((m.seq for m in rows), default=-1) if given else self.next_seq - 1


@dataclass
class Conversations:
    """The threads and jobs of one user."""

    clock: Clock
    threads: dict[str, Thread] = field(default_factory=dict)
    jobs: dict[int, Job] = field(default_factory=dict)
    profiles: Profiles = field(default_factory=Profiles)

    def check(self, thread_id: str, role: str, content: str, key: str | None) -> tuple[int, str] | None:
        """Seq and content of a message that is stored already; refuses what must not be stored."""
        thread = self.threads.get(thread_id)
        stored = thread.stored_under(key) if thread else None
        role = "assistant" if role == "agent" else role
        if stored:
            if stored[1:] not in ((role, content), (None, None)):
                raise RefusedError("23505")
            return stored[0], content
        if role not in ROLES:
            raise RefusedError("22023")
        return None

    def append(self, thread_id: str, **message: Any) -> Said:
        thread = self.threads.setdefault(thread_id, Thread())
        message["role"] = "assistant" if message["role"] == "agent" else message["role"]
        said = Said(seq=thread.next_seq, at=self.clock.now, **message)
        thread.messages[said.seq] = said
        thread.next_seq += 1
        thread.last_at = self.clock.now
        return said

    def delete_message(self, thread_id: str, seq: int) -> bool:
        thread = self.threads.get(thread_id)
        message = thread.messages.get(seq) if thread else None
        if message is None or not message.is_readable:
            return False
        message.is_active, message.summary_id = False, None
        self.renew(thread_id, seq)
        return True

    def renew(self, thread_id: str, first_seq: int) -> int:
        """Drop the summaries that cover a message, and let jobs that have read it start again; how many summaries."""
        thread = self.threads[thread_id]
        for job in self.jobs_of(thread_id):
            if job.status == "running":
                job.end("pending", is_counted=False)
        before = len(thread.summaries) + len(thread.rolling)
        thread.summaries = [s for s in thread.summaries if s.end_seq < first_seq]
        thread.rolling = [s for s in thread.rolling if s.end_seq < first_seq]
        return before - len(thread.summaries) - len(thread.rolling)

    def quarantine(self, thread_id: str, seqs: list[int]) -> list[Said]:
        """Those that were not in quarantine yet."""
        gone = [m for m in self.threads[thread_id].messages.values() if m.seq in seqs and m.quarantined is None]
        for message in gone:
            message.quarantined, message.content = message.content, NOTICE
        return gone

    def release(self, thread_id: str, seqs: list[int]) -> list[Said]:
        back = [m for m in self.threads[thread_id].messages.values() if m.seq in seqs and m.quarantined is not None]
        for message in back:
            message.content, message.quarantined = message.said, None
        return back

    def to_summarize(self, thread_id: str, keep: int | None) -> tuple[list[int], int]:
        """What a summary of the whole thread reads, as seqs, and the first message that compression keeps.

        Without ``keep`` nothing is put away, and the summary ends with the last answer.
        """
        thread = self.threads[thread_id]
        active = [m.seq for m in thread.messages.values() if m.is_current]
        begin = thread.summaries[-1].end_seq + 1 if thread.summaries else thread.after_opening
        if not active:
            return [], 0
        if keep is not None:
            first_kept = thread.call_of(active[-keep:][0]) or 0
        else:
            answers = [seq for seq in active if thread.messages[seq].role == "assistant"]
            first_kept = (answers or active)[-1] + 1
        return [m.seq for m in thread.messages.values() if begin <= m.seq < first_kept and m.is_readable], first_kept

    def clear(self, thread_id: str, agent_id: str | None) -> int:
        if thread_id not in self.threads:
            return 0
        for job in self.jobs_of(thread_id):
            if agent_id is None and job.is_open:
                del self.jobs[job.job_id]
            elif job.status == "running":
                job.end("pending", is_counted=False)
        self.profiles.recall(thread_id, self.threads)
        return self.threads[thread_id].clear(agent_id)

    def delete(self, thread_id: str) -> int:
        if thread_id not in self.threads:
            return 0
        for job in self.jobs_of(thread_id):
            del self.jobs[job.job_id]
        self.profiles.recall(thread_id, self.threads)
        return len(self.threads.pop(thread_id).messages)

    def request(self, thread_id: str, recent_k: int | None) -> Job | None:
        """The open job that takes a request in; none when the database makes one."""
        if thread_id not in self.threads:
            raise RefusedError("P0002")
        job = next((j for j in self.jobs_of(thread_id) if j.is_open), None)
        if job is not None:
            job.take_in(recent_k)
        return job

    def expire(self, thread_id: str, seqs: list[int]) -> None:
        """Messages were said three days earlier from now on, and expired an hour ago."""
        for seq in seqs:
            message = self.threads[thread_id].messages[seq]
            message.at -= AGED
            message.expires = "waiting"

    def sweep(self) -> list[str]:
        """Remove what has gone; the threads of which an extraction is queued, lest they expire unread."""
        queued = [
            thread_id
            for thread_id, thread in self.threads.items()
            if thread.expires_unread()
            and not self.deaths_of(thread_id)
            and not any(j.is_open for j in self.jobs_of(thread_id))
        ]
        for thread_id, thread in self.threads.items():
            thread.sweep(self.deaths_of(thread_id) < MAX_DEATHS)
        return queued

    def drop_expired(self) -> None:
        """What has expired is in no export, and neither are its keys."""
        for thread in self.threads.values():
            thread.messages = {seq: m for seq, m in thread.messages.items() if m.is_alive}

    def deaths_of(self, thread_id: str) -> int:
        """How many extractions died with what is still unread."""
        read_to = self.threads[thread_id].read_to
        return sum(j.status == "dead" and j.reads_from > read_to for j in self.jobs_of(thread_id))

    def jobs_of(self, thread_id: str) -> list[Job]:
        return [j for j in self.jobs.values() if j.thread_id == thread_id]

    def forget(self, gone: list[Remembered], statements: set[str]) -> set[str]:
        """Remove the messages that state what was forgotten; jobs that may have read them start again.

        Returns what these messages said.
        """
        said = set()
        for thread_id, thread in self.threads.items():
            before = set(thread.messages)
            sources = {seq for m in gone if m.thread_id == thread_id for seq in m.source_seqs or ()}
            for message in list(thread.messages.values()):
                if message.seq in sources or any(s in plain(message.said) for s in statements):
                    thread.remove(message, is_forgotten=True)
                    said.add(plain(message.said))
            if before != set(thread.messages):
                thread.drop_summaries(min(before - set(thread.messages)))
        for job in self.running():
            job.end("pending", is_counted=False)
        named = {m.memory_id for m in gone}
        self.jobs = {number: job for number, job in self.jobs.items() if job.is_open or not job.stored & named}
        if said:
            self.profiles.forget(self.threads)
        return said

    def leave_out(self, statements: set[str], is_any: bool) -> bool:
        """What an import does to messages that say what was forgotten; whether there were any, or memories."""
        for thread in self.threads.values():
            gone = [m for m in thread.messages.values() if plain(m.said) in statements]
            for message in gone:
                del thread.messages[message.seq]
            if gone:
                thread.drop_summaries(min(m.seq for m in gone))
            is_any |= bool(gone)
        if is_any:
            self.profiles.forget(self.threads)
        return is_any

    def running(self) -> list[Job]:
        return [j for j in self.jobs.values() if j.status == "running"]

    def due(self) -> list[Job]:
        """Jobs that a claim may hand out: due, and with something to read."""
        return [j for j in self.jobs.values() if j.status == "pending" and not j.is_delayed and self.input_of(j)]

    def has_empty_jobs(self) -> bool:
        return any(j.status == "pending" and not j.is_delayed and not self.input_of(j) for j in self.jobs.values())

    def input_of(self, job: Job) -> list[int]:
        recent_k = wider(job.recent_k, job.next_recent_k) if job.has_next else job.recent_k
        return self.threads[job.thread_id].unread(recent_k)[0]
