"""The parts of the quality benchmark that decide its figures: which turns are evidence, recall, the mixed lengths."""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.importer import ImportProgress, import_file

from bench.quality import evidence, mixed_lengths, samples
from bench.quality.evidence import Finding, find, questions, references


def sample(turns: int = 400, sessions: int = 10, every: int = 5, sample_id: str = "conv-1") -> dict[str, Any]:
    """A conversation in LoCoMo's layout: every fifth turn answers a question of its own."""
    rng = random.Random(1)
    conversation: dict[str, Any] = {"speaker_a": "Ann", "speaker_b": "Bob"}
    for session in range(1, sessions + 1):
        conversation[f"session_{session}_date_time"] = f"1:56 pm on {session} May, 2023"
        conversation[f"session_{session}"] = [
            {
                "speaker": ("Ann", "Bob")[turn % 2],
                "dia_id": f"D{session}:{turn + 1}",
                "text": " ".join([f"turn-{session}-{turn + 1}", *("word" for _ in range(rng.randint(5, 40)))]),
            }
            for turn in range(turns // sessions)
        ]
    named = [turn["dia_id"] for n in range(1, sessions + 1) for turn in conversation[f"session_{n}"]][::every]
    return {
        "sample_id": sample_id,
        "conversation": conversation,
        "qa": [{"question": f"What about {each}?", "answer": "", "category": 4, "evidence": [each]} for each in named],
    }


class TestEvidence:
    @pytest.mark.parametrize(
        ("strings", "turns"),
        [
            (["D1:3"], {"D1:3"}),
            (["D8:6; D9:17"], {"D8:6", "D9:17"}),
            (["D9:1 D4:4 D4:6"], {"D9:1", "D4:4", "D4:6"}),
            (["D30:05"], {"D30:5"}),
            (["D:11:26"], {"D11:26"}),
            (["D1:18", "D", "D1:18"], {"D1:18"}),
            ([], set()),
        ],
    )
    def test_cleaning(self, strings: list[str], turns: set[str]) -> None:
        assert references(strings) == turns

    def test_questions_without_an_answer_in_the_conversation_are_not_asked(self) -> None:
        given = sample(turns=20, sessions=2)
        given["qa"] = [
            {"question": "asked", "category": 1, "evidence": ["D1:1", "D9:99"]},
            {"question": "adversarial", "category": 5, "evidence": ["D1:1"]},
            {"question": "without evidence", "category": 3, "evidence": []},
            {"question": "of a turn that does not exist", "category": 3, "evidence": ["D9:99"]},
        ]
        assert [(each.text, each.evidence) for each in questions([given])] == [("asked", frozenset({"D1:1"}))]


SESSIONS = {
    "speaker_a": "Caroline",
    "speaker_b": "Melanie",
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
        {"speaker": "Caroline", "dia_id": "D1:1", "text": "Hey Mel!"},
        {"speaker": "Melanie", "dia_id": "D1:2", "text": "Look", "blip_caption": "a photo of a lake"},
    ],
    "session_2_date_time": "12:09 am on 13 September, 2023",
    "session_2": [{"speaker": "Melanie", "dia_id": "D2:1", "text": "Still up?"}],
    "session_3_date_time": "1:00 pm on 1 October, 2023",
}


class TestSamples:
    def test_each_session_becomes_a_thread(self, db: psycopg.Connection, tmp_path: Path) -> None:
        path, memory = tmp_path / "locomo.jsonl", Memory(db)
        samples.write([{"sample_id": "conv-1", "conversation": SESSIONS}], path)
        for new in (3, 0):
            *_, last = import_file(db, path)
            assert last == ImportProgress(done=3, new=new, total=3, users=1, threads=2)
        first, second = memory.get_messages("conv-1", "session_1")
        assert (first.role, first.content) == ("user", "Hey Mel!")
        assert first.created_at == datetime(2023, 5, 8, 13, 56, tzinfo=timezone.utc)
        assert (second.role, second.content) == ("assistant", "Look [image: a photo of a lake]")
        assert second.created_at == datetime(2023, 5, 8, 13, 56, 1, tzinfo=timezone.utc)
        assert second.metadata == {"name": "Melanie", "dia_id": "D1:2"}
        [third] = memory.get_messages("conv-1", "session_2")
        assert third.created_at == datetime(2023, 9, 13, 0, 9, tzinfo=timezone.utc)


class TestRecall:
    def test_of_one_question(self) -> None:
        ranking = [("a", 10), ("x", 20), ("b", 30), ("c", 40)]
        finding = find(evidence.halves(0), ["x", "c", "missing", "x"], ranking)
        assert finding == Finding(evidence.halves(0), 3, ranks=(2, 4), tokens=(30, 100))
        assert [finding.recall(depth) for depth in (1, 2, 4)] == [0, 1 / 3, 2 / 3]
        assert [finding.recall_within(budget) for budget in (29, 30, 100)] == [0, 1 / 3, 2 / 3]
        assert not finding.is_contained(100)

    def test_contained_when_everything_fits(self) -> None:
        finding = find(evidence.halves(0), ["a", "c"], [("a", 10), ("b", 20), ("c", 30)])
        assert not finding.is_contained(59)
        assert finding.is_contained(60)

    def test_means_by_group(self) -> None:
        found = Finding(evidence.halves(0), 2, ranks=(1, 7), tokens=(100, 700))
        not_found = Finding(evidence.halves(7), 1, ranks=(), tokens=())
        summary = evidence.summarize([found, not_found])
        assert {group: means["questions"] for group, means in summary.items()} == {"tuning": 1, "reported": 1, "all": 2}
        assert summary["tuning"]["recall"] == {"5": 0.5, "10": 1, "20": 1, "50": 1}
        assert summary["all"]["recall"]["10"] == 0.5
        assert summary["all"]["contained"] == {"500": 0, "1000": 0.5, "2000": 0.5, "4000": 0.5}
        assert summary["all"]["tokens_until_last_found"] == {"questions": 1, "median": 700, "mean": 700}
        assert summary["reported"]["tokens_until_last_found"] == {"questions": 0, "median": None, "mean": None}
        assert dict(summary["tuning"]["recall_within"])[100] == 0.5

    def test_difference(self) -> None:
        better = [Finding(evidence.halves(6), 1, (1,), (10,))] * 30 + [Finding(evidence.halves(6), 1, (), ())] * 10
        worse = [Finding(evidence.halves(6), 1, (), ())] * 40
        gain = evidence.difference(better, worse, 10, "reported")
        assert gain is not None
        assert gain["mean"] == 0.75
        assert 0.55 < gain["low"] < 0.75 < gain["high"] < 0.95
        assert evidence.difference(better, better, 10, "reported") == {"mean": 0, "low": 0, "high": 0}
        assert evidence.difference(better, worse, 10, "tuning") is None


class TestMixedLengths:
    def test_lengths(self) -> None:
        words: dict[str, list[int]] = {"user": [], "assistant": []}
        for thread in mixed_lengths.make([sample()]):
            roles = [message["role"] for message in thread["messages"]]
            assert roles == ["user", "assistant"] * (len(roles) // 2)
            for message in thread["messages"]:
                words[message["role"]].append(len(message["content"].split()))
        assert 40 < sum(words["user"]) / len(words["user"]) < 60
        assert 560 < sum(words["assistant"]) / len(words["assistant"]) < 595

    def test_each_turn_with_evidence_is_in_one_message_and_some_in_replies(self) -> None:
        given = sample()
        asked = {turn for each in questions([given]) for turn in each.evidence}
        texts = {turn.dia_id: turn.text.split()[0] for _, turns in evidence.sessions(given) for turn in turns}
        messages = [message for thread in mixed_lengths.make([given]) for message in thread["messages"]]
        said = Counter(word for message in messages for word in message["content"].split())
        assert {said[texts[turn]] for turn in asked} == {1}
        in_replies = set()
        for message in messages:
            held = asked.intersection(message["metadata"]["dia_ids"])
            assert held == {turn for turn in asked if texts[turn] in message["content"].split()}
            if message["role"] == "assistant":
                in_replies |= held
        assert len(in_replies) == round(0.23 * len(asked))
