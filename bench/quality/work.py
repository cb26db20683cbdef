"""People who work with an assistant over months: what they ask for rests on what was agreed earlier.

``work/<number>_<user>.jsonl`` has the threads of a user, each with the texts of its messages, the user's and the
assistant's by turns, and then the requests. A request names the turns that must be known, ``<thread>:<place>``, each
with the passage that counts where one line of a long reply is enough. A request of the kind in_thread is the next
message of a thread, and all others are asked in a new one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from bench.quality.evidence import NEW_THREAD, Question, halves
from bench.quality.stored import Turn

FOLDER = Path(__file__).with_name("work")
TUNED_ON = 4  # of the users the first ones
KINDS = {
    "user_said": "Requests that rest on what the user said",
    "assistant_said": "Requests that rest on what the assistant said",
    "current_value": "Requests for a value of which only the newest statement counts",
    "in_thread": "Requests that say little without the messages before them",
}
PAUSE = timedelta(minutes=2)


@dataclass(frozen=True)
class User:
    """A user's threads and requests, as the file has them."""

    user_id: str
    threads: list[dict[str, Any]]
    requests: list[dict[str, Any]]

    def evidence(self) -> Iterator[tuple[int, str, str, str]]:
        """The number of a request, a turn, the name of what counts of the turn, and the text of that."""
        said = self.turns()
        for number, request in enumerate(self.requests):
            for place, (turn, *passage) in enumerate(request["evidence"]):
                if passage:
                    yield number, turn, f"{turn}/{number}.{place}", passage[0]
                else:
                    yield number, turn, turn, said[turn]

    def turns(self) -> dict[str, str]:
        """The texts of all messages."""
        return {
            f"{thread['thread']}:{place}": text
            for thread in self.threads
            for place, text in enumerate(thread["messages"], start=1)
        }


def users() -> list[User]:
    """All users, the ones to tune on first."""
    return [_read(path) for path in sorted(FOLDER.glob("*.jsonl"))]


def _read(path: Path) -> User:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return User(
        path.stem,
        [line for line in lines if "messages" in line],
        [line for line in lines if "request" in line],
    )


def questions() -> list[Question]:
    """The requests of all users, each counted with its kind too."""
    return [
        Question(
            user.user_id,
            halves(place, TUNED_ON) | {request["kind"]},
            request["request"],
            frozenset(name for asked, _, name, _ in user.evidence() if asked == number),
            request.get("thread", NEW_THREAD),
        )
        for place, user in enumerate(users())
        for number, request in enumerate(user.requests)
    ]


def texts() -> dict[Turn, str]:
    """What must stand in a context for each turn or passage to be held."""
    return {(user.user_id, name): text for user in users() for _, _, name, text in user.evidence()}


def write(path: Path) -> None:
    """Writes a file for the importer; ``metadata.dia_ids`` are what counts of a message."""
    path.write_text(
        "".join(json.dumps(thread, ensure_ascii=False) + "\n" for user in users() for thread in threads(user))
    )


def threads(user: User) -> Iterator[dict[str, Any]]:
    names: dict[str, set[str]] = {}
    for _, turn, name, _ in user.evidence():
        names.setdefault(turn, set()).add(name)
    for thread in user.threads:
        started = datetime.fromisoformat(thread["at"]).replace(tzinfo=timezone.utc)
        yield {
            "user_id": user.user_id,
            "thread_id": thread["thread"],
            "messages": [
                {
                    "role": ("user", "assistant")[place % 2],
                    "content": text,
                    "created_at": (started + place * PAUSE).isoformat(),
                    "metadata": {"dia_ids": sorted(names.get(f"{thread['thread']}:{place + 1}", ()))},
                }
                for place, text in enumerate(thread["messages"])
            ],
        }
