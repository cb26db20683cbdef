"""A model server for a whole run: embeds with a real model, and replies to prompts as a chat model would.

What an extraction finds are LoCoMo's own observations: statements about a speaker, each with the turn that it was made
of. Everything else is replied in realistic size by bench/cost/replies.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from bench.cost import replies
from bench.quality.embedding_server import Embeddings
from bench.quality.evidence import Sample, references, sessions
from bench.quality.stored import Turn, said
from tests.support.fake_model_server import Behaviour, FakeModelServer
from tests.support.model_rules import Body, rows_of

NOTHING_TO_RECONCILE = json.dumps({"duplicates": [], "contradictions": []})


class ModelServer(FakeModelServer):
    """Serves the embeddings of a real model, and chat completions made of what the samples say."""

    def __init__(self, embeddings: Embeddings, samples: Sequence[Sample]) -> None:
        super().__init__(Behaviour(answer=self._answer))
        self._vectors = embeddings
        self._texts = said(samples)
        self.observations = observations(samples)

    def _embeddings(self, body: Body, behaviour: Behaviour) -> str:
        vectors = self._vectors.of(body["input"])
        rows = [{"object": "embedding", "index": at, "embedding": list(each)} for at, each in enumerate(vectors)]
        usage = self._usage(behaviour, sum(len(text) // 4 for text in body["input"]), 0)
        return json.dumps({"object": "list", "model": body["model"], "data": rows, **usage})

    def _answer(self, body: Body) -> str:
        shape = body["response_format"]["json_schema"]
        if shape["name"] == "extract_memories":
            types = shape["schema"]["properties"]["memories"]["items"]["properties"]["memory_type"]["enum"]
            return self._memories(body["messages"][-1]["content"], types)
        if shape["name"] == "reconcile_memories":
            return NOTHING_TO_RECONCILE
        return replies.reply(body)

    def _memories(self, prompt: str, types: Sequence[str]) -> str:
        """What was observed of the turns in messages of the user: what only the assistant said is not asked for."""
        messages = [message for message in rows_of(prompt, "conversation") if message["role"] == "user"]
        found = [
            (text, message["seq"])
            for turn, texts in self.observations.items()
            for message in messages
            if self._texts[turn] in message["content"]
            for text in texts
            if message.get("name", "") in text  # a short turn may stand in the messages of others, too
        ]
        memories = [
            {
                "content": text,
                "memory_type": types[0],
                "subject": text.split()[0],
                "confidence": 0.9,
                "importance": 0.5,
                "event_time": None,
                "seqs": [seq],
            }
            for text, seq in sorted(found, key=lambda each: each[1])
        ]
        return json.dumps({"memories": memories}, ensure_ascii=False)


def observations(samples: Sequence[Sample]) -> Mapping[Turn, list[str]]:
    """What LoCoMo observes of each turn."""
    found: dict[Turn, list[str]] = {}
    for sample in samples:
        user = sample["sample_id"]
        turns = {turn.dia_id for _, session in sessions(sample) for turn in session}
        for session in sample.get("observation", {}).values():
            for text, evidence in (each for speaker in session.values() for each in speaker):
                for turn in references([evidence] if isinstance(evidence, str) else evidence) & turns:
                    found.setdefault((user, turn), []).append(text)
    return found
