"""Makes conversations of mixed lengths out of LoCoMo's, whose turns are all short.

People write a few dozen words to an assistant and get hundreds back. Ranking that favours long texts, or that drowns in
them, does well on LoCoMo and badly here. Each session becomes a thread of user messages, two turns of one speaker each,
and assistant replies of about 577 words. Replies consist of turns of the same conversation that answer no question, so
they speak of the same things; 23 % of the turns that do answer one are inside of a reply and nowhere else.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from bench.quality.evidence import Sample, Turn, references, sessions
from bench.quality.samples import started

TURNS_PER_MESSAGE = 2
REPLY_WORDS = (393, 739)  # with the turn that crosses it about 577 on average
SHARE_IN_REPLIES = 0.23
SEED = 4

Message = dict[str, Any]


def make(samples: Sequence[Sample], seed: int = SEED) -> list[dict[str, Any]]:
    """Conversations as the importer's chat JSONL has them; ``metadata.dia_ids`` are the turns that a message holds."""
    return [thread for sample in samples for thread in _Maker(sample, random.Random(f"{seed} {sample['sample_id']}"))]


def write(samples: Sequence[Sample], path: Path, seed: int = SEED) -> None:
    """Writes a file for the importer."""
    path.write_text("".join(json.dumps(thread, ensure_ascii=False) + "\n" for thread in make(samples, seed)))


class _Maker:
    """The threads of one conversation."""

    def __init__(self, sample: Sample, rng: random.Random) -> None:
        self._sample = sample
        self._rng = rng
        self._sessions = sessions(sample)
        turns = [turn for _, session in self._sessions for turn in session]
        # Also the evidence of questions that are not asked.
        named = references(text for asked in sample["qa"] for text in asked.get("evidence", ()))
        evidence = [turn.dia_id for turn in turns if turn.dia_id in named]
        self._hidden = set(rng.sample(evidence, round(SHARE_IN_REPLIES * len(evidence))))
        self._others = [turn for turn in turns if turn.dia_id not in named]
        self._pile: list[Turn] = []

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for name, turns in self._sessions:
            began = started(self._sample, name)
            messages = [message for each in self._exchanges(turns) for message in each]
            for second, message in enumerate(messages):
                message["created_at"] = (began + timedelta(seconds=second)).isoformat()
            yield {"user_id": self._sample["sample_id"], "thread_id": name, "messages": messages}

    def _exchanges(self, turns: list[Turn]) -> Iterator[tuple[Message, Message]]:
        """Each user message with its reply, which holds the hidden turns said since the message before."""
        waiting: dict[str, list[Turn]] = {}
        hidden: list[Turn] = []
        for turn in turns:
            if turn.dia_id in self._hidden:
                hidden.append(turn)
                continue
            said = waiting.setdefault(turn.speaker, [])
            said.append(turn)
            if len(said) == TURNS_PER_MESSAGE:
                yield _message(waiting.pop(turn.speaker)), self._reply(hidden)
                hidden = []
        for said in waiting.values():
            yield _message(said), self._reply(hidden)
            hidden = []
        if hidden:  # said after the last message
            yield _message([self._other()]), self._reply(hidden)

    def _reply(self, hidden: list[Turn]) -> Message:
        parts: list[Turn] = []
        length = self._rng.randint(*REPLY_WORDS) - _words(hidden)
        while _words(parts) < length:
            parts.append(self._other())
        for turn in hidden:
            parts.insert(self._rng.randint(0, len(parts)), turn)
        return {"role": "assistant", "content": _content(parts), "metadata": {"dia_ids": _ids(hidden)}}

    def _other(self) -> Turn:
        """A turn that answers nothing; each comes once before any comes again."""
        if not self._pile:
            self._pile = self._rng.sample(self._others, len(self._others))
        return self._pile.pop()


def _message(turns: list[Turn]) -> Message:
    return {
        "role": "user",
        "name": turns[0].speaker,
        "content": _content(turns),
        "metadata": {"dia_ids": _ids(turns)},
    }


def _content(turns: list[Turn]) -> str:
    return " ".join(turn.text for turn in turns)


def _ids(turns: list[Turn]) -> list[str]:
    return [turn.dia_id for turn in turns]


def _words(turns: list[Turn]) -> int:
    return sum(len(turn.text.split()) for turn in turns)
