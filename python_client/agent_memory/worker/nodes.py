"""Serves the nodes of a cluster: a worker for each node, in one process."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psycopg
from agent_memory_models import Models
from agent_memory_models.jobs import import_job_modules

from ..calls import AsyncRoutedCaller
from ..calls.nodes import ClusterMap, named
from ..errors import AgentMemoryError, NotFoundError, client_version
from ..jobs.job import ModelRunner
from ..jobs.persistence import backoffs
from .health import write_health
from .outcomes import WorkerCounts
from .room import Room
from .worker import Worker, default_name

logger = logging.getLogger("agent_memory.worker")

MAP_SECONDS = 10.0
"""Seconds between looks at the map of the cluster."""
_READ_SECONDS = 10.0
"""Seconds that reading the map may take; after that the known map stays in use."""


class NodeWorkers:
    """A worker for each node of a cluster; for a single server the one worker of that.

    Users of a node take turns as its database hands out jobs, and nodes take turns for model calls. A node that cannot
    be reached holds up no other one. Nodes that come and go with the map get and lose their worker.

    Args:
        conninfo: the connection string of any node, or of a single server.
        node: the only node to serve; all when None.
        concurrency: how many model calls run at the same time, over all nodes.
        models: what runs a job; ``agent_memory_models.Models`` when None.
        health_file: a file to keep current with the state of all workers.
        on_settled: as in Worker, with the counts of all nodes.
        options: further arguments of each Worker.
    """

    def __init__(
        self,
        conninfo: str,
        *,
        node: str | None = None,
        concurrency: int = 10,
        models: ModelRunner | None = None,
        health_file: Path | None = None,
        on_settled: Callable[[WorkerCounts, int | None], None] | None = None,
        **options: Any,
    ) -> None:
        self._conninfo = conninfo
        self._node = node
        self._models = models
        self._health_file = health_file
        self._on_settled = on_settled
        self._options = {**options, "concurrency": concurrency}
        self._room = Room(concurrency)
        self._stopping = asyncio.Event()
        self._single: Worker | None = None
        self._workers: dict[str, Worker] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._totals: dict[str, int | None] = {}
        self._failures: dict[str, Exception] = {}

    @property
    def counts(self) -> WorkerCounts:
        """What became of the jobs of all nodes."""
        each = [asdict(worker.counts) for worker in self._workers.values()]
        return WorkerCounts(**{name: sum(counts[name] for counts in each) for name in asdict(WorkerCounts())})

    def report(self) -> list[str]:
        """Return in lines what was done, and what is left on each node."""
        if self._single is not None:
            return self._single.report()
        left = [f"{node}: {line}" for node, worker in self._workers.items() for line in worker.report()[1:]]
        return [f"{self.counts}.", *left]

    def stop(self) -> None:
        """Have all workers claim nothing more, let running calls finish within the grace period, release the rest."""
        self._stopping.set()
        for worker in [self._single, *self._workers.values()]:
            if worker is not None:
                worker.stop()

    async def run(self, *, once: bool = False) -> WorkerCounts:
        """Work until ``stop()`` is called, or with ``once`` until no node has a job that can be claimed.

        Raises:
            NotConnectedError: at the start, when the named database cannot be reached; with ``once``, at the end, when
                a node could not.
            NotFoundError: there is no such node.
            AgentMemoryError: there is no agent_memory, or this worker's role may not claim jobs.
            OSError: at the start, when the health file cannot be written.
        """
        async with AsyncExitStack() as stack:
            caller = AsyncRoutedCaller(self._conninfo, pool_size=1, schema=self._options.get("schema"))
            stack.push_async_callback(caller.close)
            cluster = await caller.cluster(is_fresh=False)
            if self._node is not None and (cluster is None or self._node not in cluster.nodes):
                known = "none: this is a single server" if cluster is None else ", ".join(cluster.nodes)
                raise NotFoundError(f'there is no node "{self._node}"', hint=f"The nodes are {known}.")
            if cluster is None:
                await caller.close()
                return await self._run_single(once)
            self._report()
            if self._models is None:
                self._models = await stack.enter_async_context(Models())
                import_job_modules()
            if self._health_file is not None:
                reporting = asyncio.create_task(self._keep_reporting())
                stack.callback(reporting.cancel)
            try:
                await self._follow(caller, cluster, once)
            finally:
                self.stop()
                await asyncio.gather(*self._tasks.values())
                self._report()
        if once and self._failures:
            raise next(iter(self._failures.values()))
        return self.counts

    async def _run_single(self, once: bool) -> WorkerCounts:
        self._single = Worker(
            self._conninfo,
            models=self._models,
            health_file=self._health_file,
            on_settled=self._on_settled,
            **self._options,
        )
        if self._stopping.is_set():
            self._single.stop()
        return await self._single.run(once=once)

    async def _follow(self, caller: AsyncRoutedCaller, cluster: ClusterMap, once: bool) -> None:
        """Give each node of the map a worker, until ``stop()``, or with ``once`` until all have ended."""
        while not self._stopping.is_set():
            wanted = [self._node] if self._node is not None else list(cluster.nodes)
            for node in wanted:
                if node not in self._tasks and node in cluster.nodes:
                    address = cluster.address(node, self._conninfo)
                    self._tasks[node] = asyncio.create_task(self._serve(caller, node, address, once))
            if once:
                await asyncio.gather(*self._tasks.values())
                return
            for node in self._tasks.keys() - cluster.nodes.keys():
                if node in self._workers:
                    self._workers[node].stop()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), MAP_SECONDS)
            if not self._stopping.is_set():
                with suppress(asyncio.TimeoutError, AgentMemoryError, psycopg.Error):  # the next round reads again
                    newest = await asyncio.wait_for(caller.cluster(), _READ_SECONDS)
                    cluster = newest or cluster

    async def _serve(self, caller: AsyncRoutedCaller, node: str, address: str, once: bool) -> None:
        """Run the worker of a node; one that cannot start, because the node is out of reach, is started again."""
        for pause in backoffs():
            self._workers[node] = worker = Worker(
                address,
                node=node,
                cluster=caller,
                room=self._room,
                models=self._models,
                on_settled=self._on_settled and (lambda _, total: self._settle(node, total)),
                **self._options,
            )
            if self._stopping.is_set():
                return
            try:
                with named(node):
                    await worker.run(once=once)
            except (AgentMemoryError, psycopg.Error) as error:
                if once or node not in self._failures:
                    logger.warning('node "%s" has no worker, until it can be reached: %s', node, error)
                self._failures[node] = error
            else:
                self._failures.pop(node, None)
                return
            if once:
                return
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)

    def _settle(self, node: str, total: int | None) -> None:
        assert self._on_settled is not None
        self._totals[node] = total
        known = [each for each in self._totals.values() if each is not None]
        self._on_settled(self.counts, sum(known) if len(known) == len(self._totals) else None)

    async def _keep_reporting(self) -> None:
        while True:
            await asyncio.sleep(min(1.0, self._options.get("poll_interval", 1.0)))
            try:
                self._report()
            except OSError as error:
                logger.warning("cannot write the health file: %s", error)

    def _report(self) -> None:
        """Write the health file, where one is wanted."""
        if self._health_file is None:
            return
        states = {node: worker.state() for node, worker in self._workers.items()}
        errors = [each["last_error"] for each in states.values() if each["last_error"]]
        claims = [each["last_claim_at"] for each in states.values() if each["last_claim_at"]]
        state = {
            "worker": self._options.get("name") or default_name(),
            "pid": os.getpid(),
            "version": client_version(),
            "state": "stopping" if self._stopping.is_set() else "polling",
            "in_flight": sum(each["in_flight"] for each in states.values()),
            "counts": asdict(self.counts),
            "last_error": errors[0] if errors else None,
            "last_claim_at": max(claims, default=None),
            "nodes": states,
        }
        write_health(self._health_file, state)
