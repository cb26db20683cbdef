"""Rules of embeddings: after the jobs, search by vector finds exactly the nearest of what may be shown."""

from __future__ import annotations

import json
import math
import random
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.torture.model.base import agents, picks, users
from tests.torture.model.rules_jobs import ROOM, JobRules
from tests.torture.model.world import Difference, check

KINDS = ["embed", "backfill"]
DIMENSIONS = 8
TOLERANCE = 1e-4
"""Of a cosine."""


class EmbeddingRules(JobRules):
    """Embeddings by a worker that makes a vector of its own for each text that it is given."""

    handed_in: dict[tuple[float, ...], str]
    """The text of each vector."""

    @rule(user_id=users)
    def embed(self, user_id: str) -> None:
        """Do all jobs of embeddings."""
        if not self.has_no_room(user_id):
            self.do_embeddings(user_id)
            self.touched = user_id

    @rule(
        user_id=users, number=picks, source=st.sampled_from(["memory", "message"]), agent_id=st.none() | agents,
        top_k=st.sampled_from([1, 3, 1000]),
    )  # fmt: skip
    def search_by_vector(self, user_id: str, number: int, source: str, agent_id: str | None, top_k: int) -> None:
        if self.has_no_room(user_id):
            return
        self.do_embeddings(user_id)
        texts = self.texts_of(user_id, source, agent_id)
        vectors = self.stored(user_id, source)
        target = vector(f"query {number}")
        what = f"search({user_id}, query {number}, {source}, {agent_id}, {top_k})"
        if missing := texts.keys() - vectors.keys():
            raise Difference(f"{what}: without an embedding are {missing}")
        for key, text in texts.items():
            embedded = self.handed_in.get(vectors[key], "")
            check(embedded.endswith(text), True, f"{what}: {key} says {text!r}, embedded was {embedded!r}")

        rows = self.world.call(
            "search", user_id=user_id, query_embedding=json.dumps(target), mode="vector", sources=[source],
            agent_id=agent_id, top_k=top_k,
        )  # fmt: skip
        scores = {key: cosine(target, vectors[key]) for key in texts}
        found = [row.id for row in rows]
        check(len(set(found)), min(top_k, len(texts)), f"{what}: how many")
        if strangers := set(found) - texts.keys():
            raise Difference(f"{what}: found but gone {strangers}")
        outdated = self.outdated(user_id, found) if source == "message" else set()
        nearest = sorted(sorted(scores, key=lambda key: -scores[key])[:top_k], key=lambda key: key in outdated)
        for row, key in zip(rows, nearest, strict=False):
            is_right = abs(scores[row.id] - scores[key]) < TOLERANCE and abs(row.score - scores[key]) < TOLERANCE
            check(is_right, True, f"{what}: {row.id} with {row.score}, in the model {nearest} of {scores}")

    def texts_of(self, user_id: str, source: str, agent_id: str | None) -> dict[str, str]:
        """What a search may show, by its ids."""
        if source == "memory":
            memories = self.world.memories[user_id].shown()
            return {str(m.memory_id): m.content for m in memories if agent_id in (None, m.agent_id)}
        return {
            f"{thread_id}/{m.seq}": m.content
            for thread_id, thread in self.world.talks[user_id].threads.items()
            for m in thread.messages.values()
            if m.is_readable and agent_id in (None, m.agent_id)
        }

    def outdated(self, user_id: str, ids: list[str]) -> set[str]:
        """Messages whose statement has ended: a search has them last."""
        rows = self.world.api.query(
            "select o.thread_id || '/' || o.seq as id from memory._outdated_messages(%(user_id)s,"
            " array(select split_part(i, '/', 1) from unnest(%(ids)s::text[]) as i),"
            " array(select split_part(i, '/', 2)::bigint from unnest(%(ids)s::text[]) as i)) as o",
            user_id=user_id, ids=ids,
        )  # fmt: skip
        return {row.id for row in rows}

    def stored(self, user_id: str, source: str) -> dict[str, tuple[float, ...]]:
        rows = self.world.api.query(
            "select id, embedding::text from memory.texts"
            " where model is not null and user_id = %(user_id)s and source = %(source)s",
            user_id=user_id, source=source,
        )  # fmt: skip
        return {row.id: tuple(json.loads(row.embedding)) for row in rows}

    def do_embeddings(self, user_id: str) -> None:
        while claimed := self.world.call(
            "claim_jobs", worker="w", kinds=KINDS, user_id=user_id, max_jobs=ROOM
        ):  # fmt: skip
            for job in claimed:
                self.finish_embeddings(job)

    def finish_embeddings(self, job: Any) -> None:
        vectors = []
        for text in job.payload["texts"]:
            made = vector(f"{self.world.clock.now} {text['number']}")
            self.handed_in[tuple(made)] = text["text"]
            vectors.append(made)
        held = {"user_id": job.user_id, "job_id": job.job_id, "lease_token": job.lease_token}
        self.world.call("complete_job", **held, result={"embeddings": vectors})


def vector(name: str) -> list[float]:
    """A vector at random, of numbers that the database stores exactly (halfvec)."""
    chance = random.Random(name)
    return [chance.randint(-99, 99) / 16 for _ in range(DIMENSIONS)]


def cosine(a: list[float], b: tuple[float, ...]) -> float:
    """As PostgreSQL's pgvector computes it."""
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)
