"""The benchmark of facts that change: its set is well-formed, and its runner measures what it says."""

from __future__ import annotations

from typing import Any

import pytest
from agent_memory import ContextPart

from bench.changes import report
from bench.changes.__main__ import measure
from bench.changes.items import Item, items
from bench.changes.judge import lines, shows_now
from bench.changes.talks import BUILT_IN, answer
from bench.quality import stored
from tests.support.servers import Server


def item(name: str) -> Item:
    [found] = [each for each in items() if each.id == name]
    return found


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
        change = said.change
        if change is None or change.changes is None:
            continue
        old = said.gold[change.changes]
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


DATE, SINCE = "1 May 2026", "(since 4 June 2026)"
LEEDS, BRISTOL = "user: I live in Leeds", "user: we finally made it to Bristol"


@pytest.mark.parametrize(
    ("is_right", "memories", "recalled"),
    [
        (True, [f"1. Lives in Bristol. {SINCE}", "2. Lives in Leeds. (until 4 June 2026)"], []),
        (True, [], [DATE, LEEDS, "", "4 June 2026", BRISTOL]),
        (False, ["1. Lives in Leeds."], [DATE, BRISTOL]),
        (False, [f"1. Lives in Bristol. {SINCE}", "2. Lives in Leeds. (since 1 May 2026)"], []),
        (False, [f"1. Lives in Bristol. {SINCE}"], [DATE, LEEDS]),
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
