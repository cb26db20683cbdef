"""The external worker: runs queued model work beside the database, over the same protocol as the in-database runner.

Claim, call the model with no transaction open, hand in the result (docs/jobs.md). A job whose worker dies is claimed
again once its lease has run out, and a result that arrives too late is refused, so its effect appears once.

- nodes.py: a worker for each node of a cluster; room.py: their turns for model calls.
- worker.py: claims jobs and runs several at a time; jobs/job.py: one job, from the model's call to its hand-in.
- database.py: the worker's connections; listening.py: notifications that wake the worker.
- outcomes.py, queue.py, health.py: what was done, what is left, and the file that shows that the worker is alive.
"""

from ..jobs.job import ModelRunner
from .listening import CHANNEL
from .nodes import NodeWorkers
from .outcomes import WorkerCounts
from .worker import Worker

__all__ = ["CHANNEL", "ModelRunner", "NodeWorkers", "Worker", "WorkerCounts"]
