"""Queries of any kind do no harm, and a search says what it had to do without."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.search.keyword.steps import ANA, EVERYWHERE, found, remember, search
from tests.support.sqlapi import Api, refused


class TestDegrading:
    @pytest.mark.parametrize(
        "arguments",
        [
            {"mode": "vector", "query": "tea"},
            {"mode": "vector", "query": "tea", "query_embedding": "[1,2,3]"},
            {"mode": "hybrid", "query": " \n", "query_embedding": "[1,2,3]"},
        ],
        ids=str,
    )
    def test_a_search_that_needs_a_model_is_refused_without_one(self, api: Api, arguments: dict[str, Any]) -> None:
        remember(api, "Likes tea")
        in_words = (arguments.get("query") or "").strip() != ""
        with refused("mode" if in_words else "query_embedding") as refusal:
            api.search(user_id="ana", **arguments)
        assert "no embedding model is active" in str(refusal.value)
        hint = refusal.value.diag.message_hint or ""
        assert "pass query_embedding" not in hint  # some of these have passed one in vain
        assert ("mode keyword" if in_words else "pass query with words") in hint


HARMLESS = [
    "'; drop table memory.memories; --",
    "tea' | 'cake",
    "tea & !cake <-> (",
    '"tea" -cake',
    "tea:* tea:AB",
    ")(&|!<>:*'\"\\%_$$",
    "\\' \\\\ \\",
    "a\\b c\\'d http://example.org/it's?a=b\\c&d='e'",
    "it's o'clock l'été",
    "<b>tea</b> &amp; user@example.org /etc/passwd -1.5e-7",
    "the of and",
    "👩🏽‍🚀 記憶 שלום",
    "\x01\x7f\u200b\ufeff\u2028",
    "tea " * 20_000,
    "x" * 100_000,
    " ".join(f"word{number}" for number in range(100_000)) + " tea",
    " ".join(f"{chr(one)}-{chr(two)}" for one in range(0x4E00, 0x4E40) for two in range(0x5E00, 0x5E40)),
]


class TestQueries:
    def test_find_what_says_the_same(self, api: Api) -> None:
        """Whatever is stored can be searched for in its own words, unless it has none."""
        for number, query in enumerate(said[:10_000] for said in HARMLESS):
            user = {"user_id": f"user {number}"}
            remember(api, query, **user)
            remember(api, "Something else", **user)
            lexemes = api.value("select length(memory._text_vector('english', %(query)s))", query=query)
            assert found(api, query, **user) == ([query] if lexemes else []), query[:40]

    @pytest.mark.parametrize("run", ["snake_case_", "绿茶", "x"])
    def test_of_a_run_without_a_blank_take_no_quadratic_time(self, api: Api, run: str) -> None:
        """Such a run of 40,000 characters took PostgreSQL's parser eight seconds, with the thread locked."""
        content = run * (40_000 // len(run))
        with api.at_most(cpu_seconds=3):
            api.add_message(user_id="ana", thread_id="t1", role="user", content=content)
            assert found(api, run, sources=["message"]) in ([content], [])

    def test_of_random_characters_do_no_harm(self, api: Api) -> None:
        chance = random.Random(0)
        alphabet = [*"ab1 '\"\\/:*&|!()<>-.@#?=%_~`^+,;\t\n", "é", "ß", "字", "😀"]
        remember(api, "Likes tea")
        for _ in range(200):
            query = "a" + "".join(chance.choices(alphabet, k=chance.randrange(1, 40)))
            assert found(api, query) in ([], ["Likes tea"])

    @pytest.mark.parametrize("letters", ["ab12", "一二三四"], ids=ascii)
    def test_find_text_of_many_words_in_any_script(self, api: Api, letters: str) -> None:
        """A tsvector holds a megabyte; what does not fit must not make a write or a search fail."""
        chance = random.Random(1)
        words = ("-".join("".join(chance.choices(letters, k=9)) for _ in range(2)) for _ in range(14_000))
        text = " ".join(["findme", *words])
        half = text[: 262_144 // len(letters[0].encode())]
        remember(api, half, embedding_text=text[-len(half) :])
        api.add_message(**ANA, role="user", content=text)
        assert len(search(api, "findme", sources=EVERYWHERE)) == 2

    @pytest.mark.parametrize("run", ["snake_case_", "x"])
    def test_that_are_such_a_run_take_none_either(self, api: Api, run: str) -> None:
        """8,000 characters of a query took PostgreSQL's parser a second, and told the caller of words too long."""
        remember(api, "Likes tea")
        api.notices.clear()
        with api.at_most(cpu_seconds=0.3):
            found(api, run * (8_000 // len(run)))
        assert not any("too long" in notice for notice in api.notices)
