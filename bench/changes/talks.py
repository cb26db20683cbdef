"""Has users say what the items hold, while extraction runs: by the built-in model, or by one that makes no mistakes."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent_memory import Memory
from agent_memory.worker import Worker
from agent_memory_models import Models

from bench.changes.items import Item, Statement, moment
from bench.quality.stored import POLICY, Database
from tests.support.sqlapi import Api

BUILT_IN, PERFECT = "built-in", "perfect"
MODELS = (BUILT_IN, PERFECT)


class Talk:
    """A user of a database, who says what an item holds.

    Args:
        database: where it is said.
        item: what is said.
        model: which of MODELS extracts memories.
    """

    def __init__(self, database: Database, item: Item, model: str) -> None:
        self.item = item
        self.user_id = item.id
        self.memory = Memory(database.connection)
        self.place: dict[tuple[str | None, int | None], int] = {}
        """The place in the item of each message, by its thread and number."""
        self.unknown: list[str] = []
        """Earlier statements that change, but which the perfect model was not told."""
        self._database = database
        self._extract = self._built_in if model == BUILT_IN else self._perfect
        if model == PERFECT:
            # Whether each attribute of the item holds one value or many.
            kinds = {each.attribute.partition("/")[0]: each.values for each in item.gold}
            self.memory.admin.set_policy({"memories": {"attributes": kinds}}, user_id=self.user_id)

    def hold(self, before_change: Callable[[], None]) -> None:
        """Says everything, and extracts after each batch.

        ``before_change`` is called before the batch by which the old statement holds no longer.
        """
        for batch in self.item.batches():
            if self.item.change_at in batch:
                before_change()
            said = [self.item.messages[place] for place in batch]
            thread_id = f"thread {said[0].thread}"
            given = [{"role": each.role, "content": each.content, "created_at": each.at} for each in said]
            stored = self.memory.add_messages(self.user_id, thread_id, given)
            self.place |= {(thread_id, each.seq): place for each, place in zip(stored, batch, strict=True)}
            self.memory.extract_memories(self.user_id, thread_id)
            self._extract()

    def _built_in(self) -> None:
        asyncio.run(_work(self._database.conninfo, None))

    def _perfect(self) -> None:
        api = Api(self._database.connection)
        while True:
            jobs = api.claim_jobs(worker="perfect", kinds=["extract_memories"], user_id=self.user_id)
            if not jobs:
                asyncio.run(_work(self._database.conninfo, ["embed"]))
                return
            for job in jobs:
                result, unknown = answer(self.item, job.payload, self.place)
                self.unknown += unknown
                api.complete_job(user_id=self.user_id, job_id=job.job_id, lease_token=job.lease_token, result=result)


async def _work(conninfo: str, kinds: Sequence[str] | None) -> None:
    """Runs all jobs of these kinds, also those that these jobs make due. Raises RuntimeError when one fails."""
    async with Models(may_download=False) as models:
        while True:
            counts = await Worker(conninfo, kinds=kinds, models=models, concurrency=1).run(once=True)
            if counts.settled != counts.completed:
                raise RuntimeError(f"the worker reports {counts}")
            if not counts.completed:
                return


def prepare(database: Database, model: str) -> None:
    """Sets up a new database: the built-in model is there already."""
    memory = Memory(database.connection)
    memory.admin.set_policy(POLICY)
    if model == PERFECT:
        memory.admin.register_model(PERFECT, "chat", "openai", PERFECT, {"base_url": "http://127.0.0.1:9/v1"})
        memory.admin.activate_model(PERFECT)


def answer(
    item: Item, payload: Mapping[str, Any], place: Mapping[tuple[str | None, int | None], int]
) -> tuple[dict[str, Any], list[str]]:
    """The result of a model that makes no mistakes, and the statements that change but are not among ``known``.

    A plan, a supposition, a quotation and what was taken back within the same messages are no memories.
    """
    seqs = {place[payload["thread_id"], each["seq"]]: each["seq"] for each in payload["messages"]}
    known = {each["content"]: each["number"] for each in payload["known"]}
    here = [each for each in item.gold if each.message in seqs]
    taken_back = [item.gold[each.corrects] for each in here if each.corrects is not None]
    memories, ends, unknown = [], [], []
    for each in here:
        changed = None if each.changes is None else item.gold[each.changes]
        number = known.get(changed.content) if changed else None
        if changed and number is None and changed not in here:
            unknown.append(changed.content)
        said_at = item.messages[each.message].at
        until = moment(each.valid_to, said_at, ends=True)
        if each.status == "ended" and number is not None:
            ends.append({"number": number, "seqs": [seqs[each.message]], **_times(ended_at=until)})
        elif each.status == "holds" and each not in taken_back:
            times = _times(valid_from=moment(each.valid_from, said_at), valid_to=until)
            memories.append(_memory(each, number) | {"seqs": [seqs[each.message]], **times})
    return {"memories": memories, "ends": ends}, unknown


def _memory(statement: Statement, number: int | None) -> dict[str, Any]:
    return {
        "content": statement.content,
        "memory_type": statement.memory_type,
        "subject": statement.subject,
        "attribute": statement.attribute,
        "replaces": [] if number is None else [number],
        "corrects": statement.corrects is not None and number is not None,
        "confidence": 0.9,
        "importance": 0.6,
    }


def _times(**times: datetime.datetime | None) -> dict[str, str]:
    """Those times that are known."""
    return {name: time.isoformat() for name, time in times.items() if time}
