"""LoCoMo's questions, the turns that hold their evidence, and how well a ranking finds those."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol

DEPTHS = (5, 10, 20, 50)
ALL, TUNING, REPORTED = "all", "tuning", "reported"
TUNED_ON = 5  # of LoCoMo's conversations the first ones
NEW_THREAD = "a new thread"
ADVERSARIAL = 5  # questions that the conversation does not answer
DRAWS = 2000
NEVER_SAID = Path(__file__).with_name("never_said.txt")

Sample = dict[str, Any]


class Grouped(Protocol):
    """What counts in groups."""

    @property
    def groups(self) -> frozenset[str]:
        """The names of the groups."""


@dataclass(frozen=True)
class Turn:
    """One turn of a conversation; ``text`` has the caption of its image."""

    dia_id: str
    speaker: str
    text: str


@dataclass(frozen=True)
class Question:
    """A question and the turns that answer it, or that an adversarial one was made of.

    Its figures count in each of ``groups``; ``thread`` is where it is asked.
    """

    user_id: str
    groups: frozenset[str]
    text: str
    evidence: frozenset[str]
    thread: str = NEW_THREAD


@dataclass(frozen=True)
class Finding:
    """The ranks, from 1, at which a ranking has a question's evidence."""

    groups: frozenset[str]
    evidence: int
    ranks: tuple[int, ...]

    def recall(self, depth: int) -> float:
        """The share of the evidence among the first ``depth`` results."""
        return sum(rank <= depth for rank in self.ranks) / self.evidence


def sessions(sample: Sample) -> list[tuple[str, list[Turn]]]:
    """The sessions of a conversation by name, in the order in which they were held."""
    conversation = sample["conversation"]
    names = [name for name in conversation if re.fullmatch(r"session_\d+", name)]
    return [(name, [_turn(turn) for turn in conversation[name]]) for name in sorted(names, key=lambda n: int(n[8:]))]


def _turn(turn: dict[str, Any]) -> Turn:
    caption = f"[image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return Turn(turn["dia_id"], turn["speaker"], f"{turn['text']} {caption}".strip())


def references(evidence: Iterable[str]) -> frozenset[str]:
    """The turns that evidence names.

    In the file there are several in one string ("D8:6; D9:17"), further colons ("D:11:26"), leading zeros ("D30:05")
    and strings without any ("D").
    """
    return frozenset(
        f"D{int(session)}:{int(turn)}"
        for text in evidence
        for session, turn in re.findall(r"D\s*:?\s*(\d+)\s*:\s*(\d+)", text)
    )


def halves(number: int, tuned_on: int = TUNED_ON) -> frozenset[str]:
    """The groups of a conversation by its place: settings are chosen on one half and reported on the other."""
    return frozenset({ALL, TUNING if number < tuned_on else REPORTED})


def questions(samples: Sequence[Sample]) -> list[Question]:
    """The questions that have an answer with evidence; references to turns that do not exist are dropped."""
    return [question for category, question in _asked(samples) if category != ADVERSARIAL and question.evidence]


def adversarial(samples: Sequence[Sample]) -> list[Question]:
    """The questions that the conversation does not answer, with the turns that they were made of."""
    return [question for category, question in _asked(samples) if category == ADVERSARIAL]


def never_said(samples: Sequence[Sample]) -> list[Question]:
    """Questions about what no conversation speaks of, each put to the next one in turn."""
    return [
        Question(samples[index % len(samples)]["sample_id"], halves(index % len(samples)), text, frozenset())
        for index, text in enumerate(NEVER_SAID.read_text().splitlines())
    ]


def _asked(samples: Sequence[Sample]) -> Iterator[tuple[int, Question]]:
    for number, sample in enumerate(samples):
        turns = {turn.dia_id for _, session in sessions(sample) for turn in session}
        for asked in sample["qa"]:
            evidence = references(asked.get("evidence", ())) & turns
            yield asked["category"], Question(sample["sample_id"], halves(number), asked["question"], evidence)


def find(groups: frozenset[str], evidence: Iterable[str], ranking: Iterable[str]) -> Finding:
    """Looks ``evidence`` up in ``ranking``, which is ids, best first."""
    wanted = set(evidence)
    ranks = [rank for rank, found in enumerate(ranking, start=1) if found in wanted]
    return Finding(groups, len(wanted), tuple(ranks))


def groups_of(measured: Iterable[Grouped]) -> list[str]:
    """The groups that anything measured counts in."""
    return sorted({group for each in measured for group in each.groups})


def summarize(findings: Sequence[Finding]) -> dict[str, Any]:
    """The mean recall over questions, for each group that has any."""
    summary = {}
    for group in groups_of(findings):
        of_group = [each for each in findings if group in each.groups]
        recall = {str(depth): round(fmean(each.recall(depth) for each in of_group), 4) for depth in DEPTHS}
        summary[group] = {"questions": len(of_group), "recall": recall}
    return summary


def difference(one: Sequence[Finding], other: Sequence[Finding], depth: int, group: str) -> dict[str, float] | None:
    """How much better ``one`` recalls than ``other`` on the same questions, with the interval of a paired bootstrap."""
    gains = [
        mine.recall(depth) - its.recall(depth) for mine, its in zip(one, other, strict=True) if group in mine.groups
    ]
    if not gains:
        return None
    rng = random.Random(1)
    means = sorted(fmean(rng.choices(gains, k=len(gains))) for _ in range(DRAWS))
    low, high = means[round(0.025 * DRAWS)], means[round(0.975 * DRAWS) - 1]
    return {"mean": round(fmean(gains), 4), "low": round(low, 4), "high": round(high, 4)}
