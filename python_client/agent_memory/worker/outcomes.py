"""What became of the jobs of a worker: counts, lines in the log, and the last error."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from .._text import counted
from ..jobs.job import Outcome
from ..types import ClaimedJob

logger = logging.getLogger("agent_memory.worker")

SUMMARY_INTERVAL = 30.0
"""Seconds between lines in the log about jobs done."""
MAX_ERROR_CHARACTERS = 500


@dataclass
class WorkerCounts:
    """What became of the jobs a worker claimed.

    Attributes:
        completed: the result was applied.
        failed: the attempt failed; the queue retries it later or has given it up.
        released: given back uncounted, because of a rate limit or because the worker stopped.
        lost: the worker could report nothing, usually because the lease had run out; the queue hands the job out again.
    """

    completed: int = 0
    failed: int = 0
    released: int = 0
    lost: int = 0

    @property
    def settled(self) -> int:
        """How many jobs the worker is done with: the sum of the four counts."""
        return self.completed + self.failed + self.released + self.lost

    def __str__(self) -> str:
        lost = f", {self.lost} lost" if self.lost else ""
        return f"{counted(self.completed, 'job')} completed, {self.failed} failed, {self.released} released{lost}"


class Outcomes:
    """Counts the jobs that are done with, and logs them."""

    def __init__(self) -> None:
        self.counts = WorkerCounts()
        self.last_error: str | None = None
        self._next_summary = time.monotonic() + SUMMARY_INTERVAL
        self._summarized = 0
        self._said: set[tuple[str, str, str]] = set()

    def enter(self, outcome: Outcome, job: ClaimedJob, detail: str) -> None:
        """Count a job, and log it: completed jobs for debugging only, and the same trouble once per summary."""
        setattr(self.counts, outcome, getattr(self.counts, outcome) + 1)
        level = {"completed": logging.DEBUG, "released": logging.INFO}.get(outcome, logging.WARNING)
        # When a provider is down, hundreds of jobs say the same.
        if (job.kind, outcome, detail) in self._said:
            level = logging.DEBUG
        self._said.add((job.kind, outcome, detail))
        logger.log(level, "job %s (%s, attempt %s) %s%s", job.job_id, job.kind, job.attempt, outcome, detail)
        if outcome != "completed":
            self.last_error = f"job {job.job_id} ({job.kind}) {outcome}{detail}"

    def summarize(self, in_flight: int) -> None:
        """Log the counts every SUMMARY_INTERVAL seconds, unless they are those of the line before."""
        if self.counts.settled > self._summarized and time.monotonic() >= self._next_summary:
            self._next_summary = time.monotonic() + SUMMARY_INTERVAL
            self._summarized = self.counts.settled
            self._said.clear()
            logger.info("%s, %d in flight", str(self.counts), in_flight)

    def shortened_error(self) -> str | None:
        """The last error in at most MAX_ERROR_CHARACTERS; None if there was no error."""
        return self.last_error and self.last_error[:MAX_ERROR_CHARACTERS]
