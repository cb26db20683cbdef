"""The parts of the quality benchmark that decide its figures: which turns are evidence, recall, the mixed lengths."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from agent_memory import Memory
from agent_memory.importer import ImportProgress, import_file

from bench.quality import evidence, languages, samples, stored, work
from bench.quality.evidence import TUNING, Finding, find, questions, references
from bench.quality.fit import AT_MOST, FITTED, WEIGHTS, Example, fit, scaled

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
        turns = [{"speaker": "Ann", "dia_id": "D1:1", "text": "Hi"}]
        given: dict[str, Any] = {"sample_id": "conv-1", "conversation": {**SESSIONS, "session_1": turns}}
        given["qa"] = [
            {"question": "asked", "category": 1, "evidence": ["D1:1", "D9:99"]},
            {"question": "adversarial", "category": 5, "evidence": ["D1:1"]},
            {"question": "without evidence", "category": 3, "evidence": []},
            {"question": "of a turn that does not exist", "category": 3, "evidence": ["D9:99"]},
        ]
        assert [(each.text, each.evidence) for each in questions([given])] == [("asked", frozenset({"D1:1"}))]


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
        finding = find(evidence.halves(0), ["x", "c", "missing", "x"], ["a", "x", "b", "c"])
        assert finding == Finding(evidence.halves(0), 3, ranks=(2, 4))
        assert [finding.recall(depth) for depth in (1, 2, 4)] == [0, 1 / 3, 2 / 3]

    def test_means_by_group(self) -> None:
        found = Finding(evidence.halves(0), 2, ranks=(1, 7))
        not_found = Finding(evidence.halves(7), 1, ranks=())
        summary = evidence.summarize([found, not_found])
        assert {group: means["questions"] for group, means in summary.items()} == {"tuning": 1, "reported": 1, "all": 2}
        assert summary["tuning"]["recall"] == {"5": 0.5, "10": 1, "20": 1, "50": 1}
        assert summary["all"]["recall"]["10"] == 0.5

    def test_difference(self) -> None:
        better = [Finding(evidence.halves(6), 1, (1,))] * 30 + [Finding(evidence.halves(6), 1, ())] * 10
        worse = [Finding(evidence.halves(6), 1, ())] * 40
        gain = evidence.difference(better, worse, 10, "reported")
        assert gain is not None
        assert gain["mean"] == 0.75
        assert 0.55 < gain["low"] < 0.75 < gain["high"] < 0.95
        assert evidence.difference(better, better, 10, "reported") == {"mean": 0, "low": 0, "high": 0}
        assert evidence.difference(better, worse, 10, "tuning") is None


# The weights of search are those that put the evidence first, within the limits ---------------------------------------


def test_what_tells_evidence_gets_the_weight() -> None:
    chance = np.random.default_rng(1)
    given = []
    for _ in range(60):
        features = chance.random((20, len(FITTED)))
        best = int(np.argmax(3 * features[:, FITTED.index("words")] + features[:, FITTED.index("meaning")]))
        given.append(Example(frozenset({TUNING}), 1.0, features, np.arange(20) == best))
    weights = dict(zip(FITTED, fit(given), strict=True))
    assert weights["words"] > weights["meaning"] > abs(weights["speaker"])
    named = scaled(fit(given), given)
    assert named["words"] / named["meaning"] == pytest.approx(weights["words"] / weights["meaning"], rel=0.01)
    assert np.mean([example.recall(fit(given), depth=3) for example in given]) > 0.9


def test_the_weights_of_the_product_keep_a_message_before_those_around_it() -> None:
    weights = json.loads(WEIGHTS.read_text())
    for name, (other, share) in AT_MOST.items():
        assert 0 < weights[name] <= share * weights[other] + 0.01


# The benchmark's set of languages: the same rows in each, at the same places, and figures by language -----------------


def test_the_evidence_is_what_was_said_in_the_language_of_the_question() -> None:
    answers = {
        row[-1]: {said.split(": ", 1)[1] for said in row[:-1]}
        for language in languages.LANGUAGES
        for row in languages.rows(language)
        if len(row) > 1
    }
    for sample in languages.samples():
        said = {
            turn["dia_id"]: turn["text"]
            for turns in sample["conversation"].values()
            if isinstance(turns, list)
            for turn in turns
        }
        for asked in sample["qa"]:
            assert {said[turn] for turn in asked["evidence"]} == answers[asked["question"]]


# The benchmark's set of work: what its requests rest on stands where they say, and counts by kind ---------------------


REPLIES = {"assistant_said": True, "user_said": False}


def test_what_a_request_rests_on_was_said_by_whom_its_kind_tells() -> None:
    for user in work.users():
        said = user.turns()
        for number, turn, _, text in user.evidence():
            kind = user.requests[number]["kind"]
            assert any(text in line for line in (said[turn], *said[turn].splitlines())), (user.user_id, number)
            is_reply = int(turn.split(":")[1]) % 2 == 0
            assert is_reply == REPLIES.get(kind, is_reply), (user.user_id, number)


def test_the_importer_takes_it_and_every_turn_is_found(db: psycopg.Connection, tmp_path: Path) -> None:
    path = tmp_path / "work.jsonl"
    work.write(path)
    *_, last = import_file(db, path)
    assert (last.users, last.new) == (8, sum(len(user.turns()) for user in work.users()))
    texts = work.texts()
    found = stored.stored(db, texts)
    contents: dict[str, str] = dict(
        db.execute("select array[user_id, thread_id || '/' || seq]::text, content from memory.messages").fetchall()
    )
    assert {(each.user_id, name) for each in work.questions() for name in each.evidence} == set(texts)
    for (user, name), text in texts.items():
        place = db.execute("select array[%s, %s]::text", (user, found.message[user, name])).fetchone()
        assert place is not None
        assert text in contents[place[0]]
