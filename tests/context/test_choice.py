"""The memories of a context: which are chosen, and in which order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.context.steps import parts, remember, remembered_before
from tests.support.protocol import ANA, activate, age, claim, complete, say
from tests.support.sqlapi import Api


class TestChoice:
    """Which memories: relevance to the query, importance and recency, by the weights of the policy."""

    @pytest.fixture
    def one(self, api: Api) -> Callable[..., str]:
        """Returns the memory that a context with room for one chooses."""
        remembered_before(api)
        api.set_policy(settings={"context": {"max_memories": 1}, "cadence": {"fact_extraction_every_n": 0}})

        def chosen(**arguments: Any) -> str:
            return parts(api, **arguments)[0][1].splitlines()[-2].removeprefix("1. ").partition(" (since ")[0]

        return chosen

    @pytest.mark.feature("B11", "B12")
    def test_follows_the_query(self, api: Api, one: Callable[..., str]) -> None:
        remember(api, "Owns a parrot called Lorenzo", importance=0.1)
        remember(api, "Works in Lisbon", importance=1)
        assert one() == "Works in Lisbon"
        assert one(query=" ") == "Works in Lisbon"
        assert one(query="What is my parrot called?") == "Owns a parrot called Lorenzo"

    @pytest.mark.feature("B12", "F12")
    def test_follows_the_newest_message_of_the_user(self, api: Api, one: Callable[..., str]) -> None:
        remember(api, "Owns a parrot called Lorenzo", importance=0.1)
        remember(api, "Works in Lisbon", importance=1)
        say(api, "Where do I work?", "What is my parrot called?")
        say(api, "Lisbon, I work in Lisbon", role="assistant")
        say(api, "to work in Lisbon", role="tool")
        say(api, "I work", agent_id="other")
        assert one(agent_id="default") == "Owns a parrot called Lorenzo"
        assert one(agent_id="default", query="Where do I work?") == "Works in Lisbon"
        say(api, " ")
        assert one(agent_id="default") == "Owns a parrot called Lorenzo"

    @pytest.mark.feature("B12")
    @pytest.mark.parametrize("given", [True, False], ids=["given", "kept from before"])
    def test_follows_the_meaning_of_the_query(self, api: Api, one: Callable[..., str], given: bool) -> None:
        api.set_policy(settings={"context": {"embed_query": False}})
        activate(api, "ada", "embedding")
        remember(api, "Owns a parrot called Lorenzo", importance=0.1)
        remember(api, "Works in Lisbon", importance=1)
        job = claim(api, "embed")
        texts = [row["text"] for row in job.payload["texts"]]
        complete(api, job, embeddings=[[1, 0] if "parrot" in text else [0, 1] for text in texts])
        query = "Which animals are at home?"
        assert one(query=query) == "Works in Lisbon"
        if given:
            assert one(query_embedding="[1,0.1]") == "Owns a parrot called Lorenzo"
            assert one(query=query, query_embedding="[1,0.1]") == "Owns a parrot called Lorenzo"
        else:
            api.connection.execute(
                "insert into memory.query_embeddings (user_id, model, query_hash, embedding) "
                "select 'ana', name, memory._query_hash(m, %s), '[1,0.1]' from memory.models as m where name = 'ada'",
                [query],
            )
            assert one(query=query) == "Owns a parrot called Lorenzo"
            say(api, query)
            assert one() == "Owns a parrot called Lorenzo"
        assert api.notices == []

    @pytest.mark.feature("B12")
    @pytest.mark.parametrize(
        ("weight", "expected"),
        [("relevance", "My parrot is old"), ("importance", "Is allergic to nuts"), ("recency", "Had toast")],
    )
    def test_follows_the_weights(self, api: Api, one: Callable[..., str], weight: str, expected: str) -> None:
        remember(api, "My parrot is old", importance=0.1, valid_from="2024-01-01")
        remember(api, "Is allergic to nuts", importance=1, valid_from="2024-01-01")
        remember(api, "Had toast", importance=0.1)
        weights = {f"{name}_weight": float(name == weight) for name in ("relevance", "importance", "recency")}
        api.set_policy(settings={"context": weights}, user_id="ana")
        assert one(query="parrot") == expected

    @pytest.mark.feature("B12")
    @pytest.mark.parametrize("query", [None, "parrot"])
    def test_is_explained(self, api: Api, query: str | None) -> None:
        remembered_before(api)
        remember(api, "My parrot is old", importance=0.2)
        age(api, 30)
        remember(api, "x" * 9000, "Had toast")
        [part] = api.get_context(**ANA, query=query)
        assert part.content.splitlines()[-3:-1] == ["1. My parrot is old", "2. Had toast"]
        explained = {memory["memory_id"]: memory for memory in part.metadata["memories"]}
        ids = {memory.content: str(memory.memory_id) for memory in api.list_memories(user_id="ana")}
        assert explained.keys() == {ids["My parrot is old"], ids["Had toast"]}
        parrot = explained[ids["My parrot is old"]]
        relevance = parrot["relevance"]
        assert relevance > 0.7 if query else relevance == 0
        assert parrot == {
            "memory_id": ids["My parrot is old"],
            "relevance": relevance,
            "importance": pytest.approx(0.2),
            "recency": pytest.approx(0.5, abs=0.01),
            "score": pytest.approx((relevance + 0.5 * 0.2 + 0.25 * 0.5) / (1.75 if query else 0.75), abs=0.1),
        }
