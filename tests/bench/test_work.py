"""The benchmark's set of work: what its requests rest on stands where they say, and counts by kind."""

from __future__ import annotations

from pathlib import Path

import psycopg
from agent_memory.importer import import_file

from bench.quality import stored, work

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
