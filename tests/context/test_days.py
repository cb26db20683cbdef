"""Days are those of the speaker: by the time zone of the thread or the policy, or by the offset of created_at."""

from __future__ import annotations

from typing import Any

import pytest

from tests.context.test_recall import BOAT, HEADING
from tests.support.model_payloads import run
from tests.support.protocol import claim, complete
from tests.support.sqlapi import Api

EVENING = "2026-11-02T21:00:00-06:00"
"""In Chicago; in UTC it is the third of November."""
SAME_MOMENT = "2026-11-03T03:00:00Z"
EARLIEST, LATEST = "Etc/GMT+12", "Pacific/Kiritimati"
"""Two zones in which it is never the same day."""


def say(api: Api, *contents: str, created_at: str = EVENING, thread_id: str = "old", **arguments: Any) -> None:
    api.add_messages(
        user_id="ana",
        thread_id=thread_id,
        messages=[{"role": "user", "content": content, "created_at": created_at} for content in contents],
        **arguments,
    )


def day(api: Api) -> str:
    """The day under which a context recalls the boat."""
    [part] = [
        part.content
        for part in api.get_context(user_id="ana", thread_id="new", query="What is the boat called?")
        if part.source == "recalled"
    ]
    return str(part.split(HEADING)[1].strip().splitlines()[0])


def zone(api: Api, name: Any, thread_id: str = "old") -> None:
    api.set_thread(user_id="ana", thread_id=thread_id, metadata={"time_zone": name})


@pytest.mark.parametrize(
    ("created_at", "shown"),
    [
        (EVENING, "2 November 2026"),
        (SAME_MOMENT, "3 November 2026"),
        ("2026-11-02 21:00:00.5 -0600", "2 November 2026"),
        ("2026-11-02", "2 November 2026"),
    ],
)
def test_the_offset_of_created_at_tells_the_day(api: Api, created_at: str, shown: str) -> None:
    say(api, BOAT, created_at=created_at)
    assert day(api) == shown


def test_a_policy_names_the_zone_of_a_user_and_goes_before_the_offset(api: Api) -> None:
    say(api, BOAT)
    api.set_policy(settings={"messages": {"time_zone": "Asia/Tokyo"}}, user_id="ana")
    assert day(api) == "3 November 2026"


def test_a_thread_names_its_own_zone_and_goes_before_the_policy(api: Api) -> None:
    say(api, BOAT, created_at=SAME_MOMENT)
    api.set_policy(settings={"messages": {"time_zone": "Asia/Tokyo"}})
    zone(api, "America/Chicago")
    assert day(api) == "2 November 2026"


def test_a_value_of_a_thread_that_is_no_zone_is_ignored(api: Api) -> None:
    say(api, BOAT)
    for name in ("Middle/Earth", "UTC+2", "Foo/Bar7", "+09:00", "", 9, None, ["Asia/Tokyo"], "x" * 9999):
        zone(api, name)
        assert day(api) == "2 November 2026", name


@pytest.mark.feature("F1", "F2")
@pytest.mark.parametrize("by", ["the offset", "the policy", "the thread"])
def test_yesterday_said_in_the_evening_is_the_day_before(api: Api, by: str) -> None:
    say(api, "Yesterday I adopted a dog called Rex.", created_at=EVENING if by == "the offset" else SAME_MOMENT)
    if by == "the policy":
        api.set_policy(settings={"messages": {"time_zone": "America/Chicago"}})
    if by == "the thread":
        zone(api, "America/Chicago")
    api.extract_memories(user_id="ana", thread_id="old")
    job = claim(api, "extract_memories")
    assert job.payload["messages"][0]["created_at"] == EVENING
    complete(api, job, **run(job.kind, job.payload))
    [memory] = [memory for memory in api.list_memories(user_id="ana") if "Rex" in memory.content]
    assert memory.metadata["event_time"] == "2026-11-01"
    # Summer time ended in Chicago in the night after that midnight, which an offset does not know.
    midnight = "2026-11-01T06:00:00+00:00" if by == "the offset" else "2026-11-01T05:00:00+00:00"
    assert memory.valid_from == api.value("select %(midnight)s::timestamptz", midnight=midnight)
    assert "Rex" in (block := api.render_memories(user_id="ana", dates=True))
    assert block.rstrip().endswith("(since 1 November 2026)")


@pytest.mark.feature("F1")
def test_a_day_without_a_time_begins_where_the_speaker_is(api: Api) -> None:
    say(api, BOAT, created_at="2026-11-03T08:00:00+09:00")
    api.extract_memories(user_id="ana", thread_id="old")
    found = {"content": "Has a boat", "memory_type": "fact", "seqs": [0], "event_time": "2026-11-02"}
    complete(api, claim(api, "extract_memories"), memories=[found])
    [memory] = api.list_memories(user_id="ana")
    assert memory.valid_from == api.value("select timestamptz '2026-11-01T15:00:00+00:00'")
    assert "(since 2 November 2026)" in api.render_memories(user_id="ana", dates=True)


@pytest.mark.parametrize(("name", "by"), [(EARLIEST, "the policy"), (LATEST, "the newest thread")])
def test_yesterday_in_a_query_is_the_users_day(api: Api, name: str, by: str) -> None:
    """At noon of yesterday in one of the zones it is never yesterday in the other."""
    for days in (0, 1, 2):
        noon = "select ((now() at time zone %(zone)s)::date - %(days)s + time '12:00') at time zone %(zone)s"
        api.add_message(
            user_id="ana", thread_id=f"{days} days ago", role="user", content="tea",
            created_at=api.value(noon, zone=name, days=days),
        )  # fmt: skip
        if by == "the newest thread":
            zone(api, name, thread_id=f"{days} days ago")
    if by == "the policy":
        api.set_policy(settings={"messages": {"time_zone": name}})
    results = api.search(user_id="ana", query="tea yesterday", mode="keyword", sources=["message"], explain=True)
    assert results[0].thread_id == "1 days ago"
    assert [result.details["features"].get("day", {}).get("value") for result in results] == [None, -1, -1]
