"""The benchmark of facts that change: its set is well-formed, and its runner measures what it says."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from agent_memory import ContextPart

from bench.changes import report
from bench.changes.__main__ import measure
from bench.changes.items import KINDS, LANGUAGES, PARTS, STATUSES, Item, items, moment, names
from bench.changes.judge import lines, shows_now
from bench.changes.talks import BUILT_IN, answer
from bench.quality import stored
from tests.support.servers import Server

SHARES = {"replaced": 0.4, "ended": 0.15, "corrected": 0.15, "both_stay": 0.2, "nothing": 0.1}
"""Of the items of each kind in a language; those with few items come close."""


def item(name: str) -> Item:
    [found] = [each for each in items() if each.id == name]
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_all_kinds_and_every_second_item_is_held_out(language: str) -> None:
    found = items([language])
    counts = Counter(each.kind for each in found)
    assert set(counts) == set(KINDS)
    for kind, share in SHARES.items():
        assert abs(counts[kind] - share * len(found)) < 1
    assert [each.part for each in found] == [PARTS[place % 2] for place in range(len(found))]


def test_names_of_items_and_what_is_asked_are_complete() -> None:
    found = items()
    assert len({each.id for each in found}) == len(found)
    for each in found:
        assert bool(each.old) == bool(each.question_now) == (each.kind != "nothing"), each.id
        assert bool(each.question_then) == (each.kind in ("replaced", "ended")), each.id
        assert bool(each.new) or each.kind not in ("replaced", "corrected"), each.id


def test_messages_are_in_order_and_each_batch_is_of_one_thread() -> None:
    for each in items():
        times = [message.at for message in each.messages]
        assert times == sorted(times), each.id
        assert each.messages[0].role == "user", each.id
        assert [place for batch in each.batches() for place in batch] == list(range(len(times))), each.id
        for batch in each.batches():
            assert len({each.messages[place].thread for place in batch}) == 1, each.id


def test_what_changes_names_the_old_value_before_and_the_new_one_after() -> None:
    for each in items():
        for place, statement in enumerate(each.gold):
            assert statement.status in STATUSES, each.id
            assert statement.values in ("one", "many"), each.id
            assert each.messages[statement.message].role == "user", each.id
            moment(statement.valid_from, each.messages[statement.message].at)
            if statement.changes is None:
                continue
            old = each.gold[statement.changes]
            others = [other.content for other in each.gold if other not in (old, statement) and other.status == "holds"]
            assert not any(names(other, each.old) and not names(other, each.new) for other in others), each.id
            assert statement.changes < place, each.id
            assert (old.subject, old.attribute) == (statement.subject, statement.attribute), each.id
            assert names(old.content, each.old), each.id
            assert names(each.messages[old.message].content, each.old), each.id
            if each.kind != "ended":
                assert names(statement.content, each.new), each.id
                assert names(each.messages[statement.message].content, each.new), each.id
                assert not names(old.content, each.new), each.id


def test_something_changes_where_the_kind_says_so() -> None:
    relations = {"replaced": "replaces", "ended": "ends", "corrected": "corrects"}
    for each in items():
        changes = [
            name for statement in each.gold for name in relations.values() if getattr(statement, name) is not None
        ]
        never = [statement for statement in each.gold if statement.status == "never_true"]
        assert changes == ([] if never or each.kind not in relations else [relations[each.kind]]), each.id
        if each.kind == "both_stay":
            held = [statement.content for statement in each.gold if statement.status == "holds"]
            for words in filter(None, (each.old, each.new)):
                assert any(names(content, words) for content in held), each.id
        if each.kind == "nothing":
            assert not each.gold, each.id


def places(said: Item) -> dict[tuple[str | None, int | None], int]:
    return {("t", seq): seq for seq in range(len(said.messages))}


def payload(said: Item, *places: int, known: list[str]) -> dict[str, Any]:
    return {
        "thread_id": "t",
        "messages": [{"seq": place, "content": said.messages[place].content} for place in places],
        "known": [{"number": number, "content": content} for number, content in enumerate(known, start=7)],
    }


def test_the_perfect_model_replaces_ends_and_corrects_what_it_is_told_of() -> None:
    for said in items(["en"]):
        if said.change is None:
            continue
        change, old = said.change.statement, said.gold[said.change.place]
        place = places(said)
        result, unknown = answer(said, payload(said, change.message, known=["Likes tea.", old.content]), place)
        assert unknown == []
        if said.kind == "ended":
            assert [each["number"] for each in result["ends"]] == [8], said.id
        else:
            [made] = [each for each in result["memories"] if each["content"] == change.content]
            assert (made["replaces"], made["corrects"]) == ([8], said.kind == "corrected"), said.id
        _, unknown = answer(said, payload(said, change.message, known=["Likes tea."]), place)
        assert unknown == [old.content]


def test_the_perfect_model_keeps_nothing_that_is_taken_back_in_the_same_messages_or_only_planned() -> None:
    said = next(each for each in items(["en"]) if each.change and each.kind == "corrected")
    result, unknown = answer(said, payload(said, *places(said).values(), known=[]), places(said))
    assert [each["content"] for each in result["memories"]] == [said.gold[-1].content]
    assert (unknown, result["memories"][0]["replaces"], result["memories"][0]["corrects"]) == ([], [], False)
    for said in items():
        result, _ = answer(said, payload(said, *places(said).values(), known=[]), places(said))
        kept = {each["content"] for each in result["memories"]}
        assert not any(each.content in kept for each in said.gold if each.status in ("planned", "supposed", "quoted"))


DATE, SINCE = "1 May 2026", "(since 4 June 2026)"
LEEDS, BRISTOL = "user: I live in Leeds", "user: we finally made it to Bristol"


@pytest.mark.parametrize(
    ("is_right", "memories", "recalled"),
    [
        (True, [f"1. Lives in Bristol. {SINCE}"], []),
        (True, [f"1. Lives in Bristol. {SINCE}", "2. Lives in Leeds. (until 4 June 2026)"], []),
        (True, [], [DATE, LEEDS, "", "4 June 2026", BRISTOL]),
        (False, [], []),
        (False, ["1. Lives in Leeds."], [DATE, BRISTOL]),
        (False, [f"1. Lives in Bristol. {SINCE}", "2. Lives in Leeds. (since 1 May 2026)"], []),
        (False, [f"1. Lives in Bristol. {SINCE}"], [DATE, LEEDS]),
        (False, [], [LEEDS, BRISTOL]),
        (False, [], [DATE, BRISTOL, "", "4 June 2026", LEEDS]),
    ],
)
def test_a_context_is_right_if_the_old_value_stands_as_one_of_the_past(
    is_right: bool, memories: list[str], recalled: list[str]
) -> None:
    parts = [
        ContextPart(number, "system", "\n".join(content), source, 1, {})
        for number, (source, content) in enumerate([("memories", memories), ("recalled", recalled)], start=1)
    ]
    said = item("en-001")
    assert shows_now(said, {said.messages[said.change_at].content}, lines(parts)) == is_right


def test_the_runner_measures_items_and_counts_them(server: Server) -> None:
    chosen = [item("en-001"), next(each for each in items(["en"]) if each.kind == "nothing")]
    with stored.database(server, "bench_changes") as database:
        said, quiet = measure(database, chosen, BUILT_IN)
    assert {"old remembered", "new remembered", "now first", "by keyword", "context"} <= set(said.measures)
    assert set(quiet.measures) == {"nothing"}
    rows = report.count([said, quiet])
    assert [(row["kind"], row["items"]) for row in rows] == [("replaced", 1), ("nothing", 1)]
    assert rows[1]["nothing"] == [quiet.measures["nothing"], 1]
    page = report.markdown({"date": "", "postgresql": "", "embedding": None, "models": {BUILT_IN: rows}})
    assert "| en, replaced | 1 |" in page
