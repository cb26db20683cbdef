"""The words of messages: when they are parsed, and how they are found before."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from tests.messages.steps import ANA, MAY, TOOL_CALLS, add
from tests.support.sqlapi import NO_WAIT, Api
from tests.support.texts import unread_messages as unparsed


def matches(api: Api, query: str = "tea", **arguments: Any) -> list[Any]:
    found: list[Any] = api.search(
        **{"user_id": "ana", "query": query, "mode": "keyword", "sources": ["message"], **arguments}
    )
    return found


@pytest.mark.feature("E4")
class TestWords:
    """Appends do not parse: a job or a sweep keeps a message's words, and until then search parses it."""

    WRITES: ClassVar[dict[str, Callable[[Api], Any]]] = {
        "add_message": lambda api: add(api, "I like tea"),
        "add_messages": lambda api: api.add_messages(**ANA, messages=[{"role": "user", "content": "I like tea"}]),
        "add_messages with keys": lambda api: api.add_messages(
            **ANA, messages=[{"role": "user", "content": "I like tea", "idempotency_key": "k"}]
        ),
        "insert": lambda api: api.connection.execute(
            "insert into memory.messages (user_id, thread_id, role, content) values ('ana', 't1', 'user', 'I like tea')"
        ),
    }

    @pytest.mark.parametrize("write", WRITES)
    def test_a_message_is_found_at_once_and_parsed_later(self, api: Api, write: str) -> None:
        self.WRITES[write](api)
        assert unparsed(api) == [0]
        assert [result.content for result in matches(api)] == ["I like tea"]
        assert api.sweep()["checked"] == 1
        assert unparsed(api) == []
        assert [result.content for result in matches(api)] == ["I like tea"]

    def test_search_finds_the_same_with_the_same_scores_however_many_are_parsed(self, api: Api) -> None:
        for content, metadata in (
            ("Tea or coffee?", {"name": "Lima"}), ("Green tea from Uji, please", {}), ("See docs/tea.md", {}),
            ("お茶が好きです", {}), ("No, nothing", {}), ("Tea, tea and tea again", {"tool_calls": TOOL_CALLS}),
        ):  # fmt: skip
            add(api, content, metadata=metadata, created_at=MAY)
        queries = ["green tea", "what did Lima say in May", "tea.md", "茶", "coffee or tea"]

        def results() -> list[Any]:
            return [matches(api, query, explain=True) for query in queries]

        before = results()
        assert all(before)
        for remaining in (4, 2, 0):
            api.sweep(batch_size=2)
            assert len(unparsed(api)) == remaining
            assert results() == before

    def test_a_message_is_found_by_what_it_says_now(self, api: Api) -> None:
        for is_parsed in (False, True):
            seq = add(api, "I like tea").seq
            if is_parsed:
                api.sweep()
            api.connection.execute("update memory.messages set content = 'I like cocoa' where seq = %s", [seq])
            assert matches(api, "tea") == []
            api.sweep()
            assert (unparsed(api), matches(api, "tea")) == ([], [])
            assert sorted(result.details["seq"] for result in matches(api, "cocoa")) == [*range(seq + 1)]

    def test_the_policy_of_the_agent_decides_the_language_and_what_is_parsed_keeps_it(self, api: Api) -> None:
        api.set_policy(settings={"search": {"language": "german"}}, agent_id="german")
        for agent_id in ("german", "english"):
            add(api, "Besuchte Häuser", agent_id=agent_id)
        words = "select agent_id, words @@ to_tsquery('german', 'Haus') from memory.texts order by 1"
        api.sweep()
        assert api.query(words) == [("english", False), ("german", True)]
        api.set_policy(settings={"search": {"language": "english"}}, agent_id="german")
        api.sweep()
        assert api.query(words) == [("english", False), ("german", True)]

    def test_more_words_than_a_vector_holds_stop_nothing(self, api: Api) -> None:
        chance = random.Random(1)
        letters = chance.sample([*range(0x3400, 0x9FFF), *range(0xAC00, 0xD7A0)], 30_000)
        runs = " ".join("".join(map(chr, letters[start : start + 240])) for start in range(0, len(letters), 240))
        words = (f"{number:x}abc-def{number:x}" for number in range(100_000))
        text = runs
        while len(text.encode()) < 262_000:
            text += " " + next(words)
        add(api, text[: len(runs)] + text[len(runs) : 262_100 - len(runs.encode()) + len(runs)] + " tea")
        add(api, "green tea")
        assert len(matches(api, "green")) == 1
        assert (api.sweep()["checked"], unparsed(api)) == (2, [])
        api.add_memory(user_id="ana", content=text[: 260_000 - len(runs.encode()) + len(runs)])

    def test_a_sweep_waits_for_nobody_and_sees_to_what_it_skipped_the_next_time(
        self, api: Api, connect: Callable[..., Any]
    ) -> None:
        api.talk(**ANA, rounds=2)
        api.talk("bob", "t1", rounds=1)
        hasty = Api(connect(options=NO_WAIT))
        with api.connection.transaction():
            add(api)
            api.connection.execute(
                "update memory.messages set expires_at = 'infinity' where user_id = 'ana' and seq = 2"
            )
            assert hasty.sweep()["checked"] == 4
            assert unparsed(hasty) == [2]
        assert (hasty.sweep()["checked"], unparsed(api)) == (3, [])

    def test_nobody_who_writes_waits_for_a_sweep_which_loses_nothing_when_it_dies(
        self, api: Api, connect: Callable[..., Any]
    ) -> None:
        api.talk(**ANA, rounds=2)
        hasty = Api(connect(options=NO_WAIT))
        with api.connection.transaction(force_rollback=True):
            assert api.sweep()["checked"] == 4
            add(hasty)
            assert hasty.sweep()["checked"] == 0
            hasty.extract_memories(**ANA)
            assert hasty.finish_jobs() == 1
        assert (unparsed(api), api.query("select from memory.marks where kind = 'words'")) == ([0, 1, 2, 3], [])
        assert (api.sweep()["checked"], unparsed(api)) == (5, [])
