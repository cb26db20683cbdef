"""Reading messages, and messages that have expired."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.messages.steps import ANA, MAY, add, contents, seqs
from tests.support.sqlapi import Api
from tests.support.summaries import compress, compressing, each_round

LOG = "\n".join(f"{number:04}  src/module_{number}.py: 3 warnings" for number in range(300))


def expire(api: Api, where: str) -> None:
    api.connection.execute(f"update memory.messages set expires_at = now() - interval '1 ms' where {where}".encode())


class TestExpiry:
    @pytest.mark.feature("A2")
    @pytest.mark.parametrize(
        ("policy", "given", "lifetime"),
        [
            (None, None, timedelta(days=7)),
            ("never", None, None),
            ("36 hours", timedelta(minutes=5), timedelta(minutes=5)),
            (None, "infinity", None),
        ],
    )
    def test_comes_from_the_row_or_the_policy_or_is_a_week(
        self, api: Api, policy: str | None, given: Any, lifetime: timedelta | None
    ) -> None:
        if policy:
            api.set_policy(settings={"messages": {"expires_after": policy}})
        now = api.value("select now()")
        add(api, expires_at=now + given if isinstance(given, timedelta) else given)
        [message] = api.get_messages(**ANA)
        if lifetime is None:
            assert message.expires_at is None
        else:
            assert abs(message.expires_at - now - lifetime) < timedelta(minutes=1)

    @pytest.mark.feature("A2")
    @pytest.mark.parametrize(
        "read",
        [
            lambda api: api.get_messages(**ANA),
            lambda api: api.get_context(**ANA),
            lambda api: api.search(user_id="ana", query="word", mode="keyword", sources=["message"]),
        ],
        ids=["get_messages", "get_context", "search"],
    )
    def test_hides_a_message_at_once(self, api: Api, read: Callable[[Api], list[Any]]) -> None:
        add(api, "word one")
        add(api, "word two")
        assert sorted(row.content for row in read(api)) == ["word one", "word two"]
        expire(api, "seq = 0")
        assert [row.content for row in read(api)] == ["word two"]

    @pytest.mark.feature("E16")
    def test_keeps_what_was_derived_from_the_messages(self, api: Api) -> None:
        each_round(api)
        api.talk(**ANA, rounds=5)
        api.finish_jobs(summary="They talked about tea.", memory="Likes tea")
        expire(api, "true")
        assert api.sweep()["messages"] == 10
        assert [(part.source, part.content.splitlines()[-2]) for part in api.get_context(**ANA)] == [
            ("memories", "1. Likes tea"),
            ("thread_summary", "They talked about tea."),
        ]


class TestReading:
    @pytest.mark.feature("E3")
    def test_a_part_of_a_thread_oldest_first(self, api: Api) -> None:
        for number in range(6):
            add(api, str(number), agent_id="odd" if number % 2 else "even")
        assert seqs(api) == seqs(api, recent_k=100) == [0, 1, 2, 3, 4, 5]
        assert seqs(api, recent_k=2) == seqs(api, after_seq=3) == [4, 5]
        assert seqs(api, before_seq=2) == [0, 1]
        assert seqs(api, after_seq=0, before_seq=4) == [1, 2, 3]
        assert seqs(api, before_seq=4, recent_k=2) == [2, 3]
        assert seqs(api, agent_id="odd", recent_k=2) == [3, 5]
        assert seqs(api, after_seq=5) == []

    @pytest.mark.feature("E3")
    def test_filters_choose_before_the_newest_are_taken(self, api: Api) -> None:
        roles = ["user", "assistant", "tool", "assistant", "user"]
        metadata: list[dict[str, Any]] = [{"channel": "mail"}, {}, {"channel": "chat"}, {"channel": "mail"}, {"a": 1}]
        metadata[3]["tags"] = ["a", "b"]
        for hour, (role, said) in enumerate(zip(roles, metadata, strict=True)):
            add(api, str(hour), role=role, metadata=said, created_at=MAY + timedelta(hours=hour), expires_at="infinity")
        two, three = (MAY + timedelta(hours=hours) for hours in (2, 3))
        assert seqs(api, roles=["agent"]) == [1, 3]
        assert seqs(api, roles=["user", "assistant"]) == [0, 1, 3, 4]
        assert seqs(api, roles=[]) == []
        assert seqs(api, filter={"channel": "mail"}) == [0, 3]
        assert seqs(api, filter={"channel": "mail", "tags": ["a"]}) == [3]
        assert seqs(api, filter={}) == seqs(api, created_after="-infinity", created_before="infinity") == [*range(5)]
        assert seqs(api, created_after=two) == [3, 4]
        assert seqs(api, created_before=two) == [0, 1]
        assert seqs(api, created_after=MAY, created_before=three) == [1, 2]
        assert seqs(api, roles=["user", "assistant"], recent_k=2) == [3, 4]
        assert seqs(api, filter={"channel": "mail"}, recent_k=1) == [3]
        assert seqs(api, created_before=two, recent_k=1) == [1]
        assert seqs(api, roles=["assistant"], filter={"channel": "mail"}, created_after=MAY, before_seq=4) == [3]

    @pytest.mark.feature("F32")
    def test_a_whole_thread_has_compressed_messages_and_the_contents_of_artifacts(self, api: Api) -> None:
        compressing(api)
        parts = [
            {"type": "text", "text": LOG},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        ]
        said = [{"role": "user", "content": f"question {number}"} for number in range(40)]
        api.add_messages(**ANA, messages=[*said, {"role": "tool", "content": parts, "tool_call_id": "c"}, said[0]])
        compress(api)
        assert seqs(api) == [38, 39, 40, 41]
        [short] = api.get_messages(**ANA, roles=["tool"])
        whole = api.get_messages(**ANA, whole=True)
        assert [message.content for message in whole] == [
            *(message["content"] for message in said), LOG, "question 0",
        ]  # fmt: skip
        assert [message.is_active for message in whole] == [False] * 38 + [True] * 4
        assert whole[40].metadata == {"tool_call_id": "c", "content": parts}
        assert whole[40].token_count >= len(LOG) // 4 > short.token_count
        assert seqs(api, whole=True, recent_k=2, before_seq=38) == [36, 37]
        assert contents(api, whole=True, roles=["tool"]) == [LOG]
        api.delete_message(**ANA, seq=0)
        expire(api, "seq = 1")
        assert seqs(api, whole=True) == [*range(2, 42)]
        assert contents(api, whole=True, include_inactive=True)[40] == LOG

    @pytest.mark.feature("A3")
    def test_never_crosses_user_thread_or_agent(self, api: Api) -> None:
        mine = {**ANA, "agent_id": "mine"}
        others = [{**mine, "user_id": "bob"}, {**mine, "thread_id": "t2"}, {**mine, "agent_id": "other"}]
        for number, whose in enumerate([mine, *others]):
            api.add_message(**whose, role="user", content=f"said {number}")
        for number, whose in enumerate([mine, *others]):
            assert [row.content for row in api.get_messages(**whose)] == [f"said {number}"]
            assert [row.content for row in api.get_context(**whose, recall=False)] == [f"said {number}"]

    def test_threads_are_listed_with_their_counters_latest_first(self, api: Api) -> None:
        add(api, "Hello there", thread_id="old", created_at=MAY)
        add(api, "Bye", thread_id="old", created_at=MAY + timedelta(hours=1))
        add(api, thread_id="new")
        add(api, user_id="bob")
        new, old = api.list_threads(user_id="ana")
        assert old == ("old", 2, 3 + 1, MAY, MAY + timedelta(hours=1), 2, None, {})
        assert (new.thread_id, new.message_count, new.total_count) == ("new", 1, 2)
