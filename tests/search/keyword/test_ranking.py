"""Search by keyword: the order of results."""

from __future__ import annotations

import math
import random

import pytest

from tests.search.keyword.steps import ANA, found, remember, search
from tests.support.sqlapi import Api


def both_say_tea(api: Api) -> None:
    """The same word by a person and by an assistant, neither of whom has a name, in threads of their own."""
    api.add_message(**ANA, role="user", content="tea")
    api.add_message(**{**ANA, "thread_id": "t2"}, role="assistant", content="tea")


class TestRanking:
    def test_more_words_weigh_more(self, api: Api) -> None:
        for content in ("Likes green apples", "Likes tea greatly", "Likes green tea"):
            remember(api, content)
        assert found(api, "green tea")[0] == "Likes green tea"

    @pytest.mark.parametrize("seed", range(2))
    def test_scores_fall_and_stay_between_0_and_1(self, api: Api, seed: int) -> None:
        chance = random.Random(seed)
        words = ["tea", "coffee", "cake", "garden", "piano", "lisbon"]
        for number in range(40):
            remember(api, f"n{number} " + " ".join(chance.choices(words, k=chance.randrange(1, 30))))
        for size in range(1, 6):
            scores = [result.score for result in search(api, " ".join(chance.sample(words, size)), top_k=100)]
            assert scores == sorted(scores, reverse=True)
            assert scores
            assert all(0 < score <= 1 for score in scores)

    def test_another_users_rows_do_not_change_a_score(self, api: Api) -> None:
        remember(api, "Likes tea")
        remember(api, "Likes cake")
        before = search(api)
        for number in range(20):
            api.add_memory(user_id="bob", content=f"Drinks tea at {number}")
        assert search(api) == before

    def test_a_message_gains_from_a_neighbour_that_matches_too(self, api: Api) -> None:
        """The first two say less each than the third, but they are about the same."""
        for content in ("Do you drink tea?", "Yes, green tea at noon", "Nice weather", "I had tea once, that is true"):
            api.add_message(**ANA, role="user", content=content)
        results = search(api, "green tea", sources=["message"], explain=True)
        assert [r.id for r in results] == ["t1/1", "t1/0", "t1/3"]
        best, neighbour, other = (r.details["features"].get("near", {"part": 0})["part"] for r in results)
        assert best < other < neighbour

    def test_what_the_person_said_is_above_what_a_nameless_assistant_said(self, api: Api) -> None:
        both_say_tea(api)
        person, reply = search(api, sources=["message"], explain=True)
        assert (person.details["role"], reply.details["role"]) == ("user", "assistant")
        assert reply.details["features"]["reply"]["part"] < 0
        assert "reply" not in person.details["features"]

    def test_a_request_for_the_assistants_words_puts_them_above_those_of_the_person(self, api: Api) -> None:
        both_say_tea(api)
        for query in (
            "which tea did you recommend?",
            "the tea plan you gave me",
            "your second draft about tea",
            "give me the tea list again",
            "den tea hast du mir empfohlen",
            "¿qué tea me recomendaste?",
            "quel tea m'as-tu conseillé ?",
            "你上次推荐的 tea",
            "前に教えてくれた tea",
        ):
            reply, person = search(api, query, sources=["message"], explain=True)
            assert (reply.details["role"], person.details["role"]) == ("assistant", "user"), query
            assert person.details["features"]["reply"]["part"] < 0

    def test_a_request_that_only_speaks_to_the_assistant_asks_for_the_persons_words(self, api: Api) -> None:
        both_say_tea(api)
        for query in (
            "which tea did I recommend to you?",
            "tell me again where I bought the tea",
            "did you know that tea has caffeine?",
            "was habe ich dir von tea gesagt",
            "你能给我推荐 tea 吗",
            "could you give me a list of teas, tea by tea?",
        ):
            person, reply = search(api, query, sources=["message"])
            assert (person.details["role"], reply.details["role"]) == ("user", "assistant"), query

    def test_the_speaker_whom_the_query_names_is_above_others(self, api: Api) -> None:
        for thread_id, name in (("t1", "Eve"), ("t2", "Joe")):
            api.add_message(
                user_id="ana", thread_id=thread_id, role="user", content="Eve and Joe had tea", metadata={"name": name}
            )
        results = search(api, "When did Eve have tea?", sources=["message"], explain=True)
        assert [r.id for r in results] == ["t1/0", "t2/0"]
        assert ["speaker" in r.details["features"] for r in results] == [False, True]

    def test_explain_gives_rank_score_and_words(self, api: Api) -> None:
        remember(api, "Likes green tea")
        remember(api, "Likes tea")
        assert all("keyword" not in result.details for result in search(api))
        explained = [result.details["keyword"] for result in search(api, "green tea", explain=True)]
        assert [keyword["rank"] for keyword in explained] == [1, 2]
        assert [keyword["terms"].keys() for keyword in explained] == [{"green", "tea"}, {"tea"}]
        assert [keyword["score"] for keyword in explained] == [
            1,
            pytest.approx(math.log(3 / 2.5) / math.log(3 / 2.5 * 3 / 1.5)),
        ]
