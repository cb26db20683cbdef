"""Words that a search by keyword finds: identifiers, all scripts, and messages that are not parsed yet."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.search.keyword.steps import ANA, found, remember, search
from tests.support.sqlapi import Api
from tests.support.texts import read_messages

IDENTIFIERS = {
    "Failed with ERR_5012 again": ["ERR_5012", "err_5012", "5012"],
    "The column user_id is null": ["user_id", "user"],
    "Runs on node.js 20": ["node.js", "Node.js", "node"],
    "Look at src/app/main.py, line 3": ["src/app/main.py", "main.py", "main", "app"],
    "Write to ana.lima@example.org please": ["ana.lima@example.org", "lima", "example.org", "example"],
    "See https://docs.example.net/guide/setup?step=intro#top": ["docs.example.net", "guide/setup", "guide", "intro"],
    "Order number 4711-0815 of May": ["4711-0815", "4711"],
    "Uses the flag --dry-run and x86_64": ["--dry-run", "dry-run", "x86_64"],
    "Calls memory.add_message() twice": ["memory.add_message", "add_message", "add_message()"],
    "Version v1.2.3-rc1 is out": ["v1.2.3-rc1"],
}
SCRIPTS = {
    "我住在上海，喜欢喝绿茶": ["上海", "绿茶", "喜欢绿茶吗"],
    "東京で寿司を食べました": ["東京", "寿司", "東京の寿司"],
    "나는 서울에서 김치를 먹었다": ["서울", "김치", "김치찌개"],
    "ฉันชอบดื่มชาเขียวที่กรุงเทพ": ["ชาเขียว", "กรุงเทพ"],
    "Она живёт в Москве": ["Москве", "МОСКВЕ"],
    "Η Άννα ζει στην Αθήνα": ["Αθήνα"],
    "أنا أعيش في القاهرة": ["القاهرة"],
    "Trinkt Kaffee im Café Müller": ["Café", "café", "MÜLLER"],
    "Cafe\u0301 mit Pin\u0303ata": ["Cafe\u0301", "café", "CAFE", "pinata"],
    "José moved to Zürich": ["Jose", "jose\u0301", "Zurich", "ZÜRICH"],
    "Jose paid in Lodz, for Soren": ["José", "Łódź", "Søren"],
    "Живёт в Москве": ["Москва", "москву", "живет"],
    "Москва": ["в Москве"],
    "Ο Γιώργος αγόρασε σπίτι": ["ΓΙΩΡΓΟΣ", "σπιτι"],
    "We saw The Who in Leeds": ["the who", "The Who", "who"],
    "to be or not to be": ["to be", "not"],
    "Got the visa 🎉🇵🇹": ["🎉", "🇵🇹", "🎉🎉", "visa 🎊"],
    "Back to school 👩🏽‍🚀": ["🚀"],
}


class TestWords:
    @pytest.mark.feature("E4")
    def test_identifiers_and_their_parts_are_found(self, api: Api) -> None:
        for number, (text, queries) in enumerate(IDENTIFIERS.items()):
            user = {"user_id": f"user {number}"}
            remember(api, text, **user)
            remember(api, "Something else entirely, with other words", **user)
            for query in queries:
                assert found(api, query, **user) == [text], query

    @pytest.mark.feature("E4")
    def test_text_in_any_script_is_found(self, api: Api) -> None:
        for number, (text, queries) in enumerate(SCRIPTS.items()):
            user = {"user_id": f"user {number}"}
            remember(api, text, **user)
            remember(api, "Nothing of the kind", **user)
            for query in queries:
                assert found(api, query, **user) == [text], query

    def test_a_query_without_words_finds_nothing(self, api: Api) -> None:
        remember(api, "Likes tea, the one and only!? …")
        for query in ("?!", "…", "what did they do there", "\u200b", "-", "'"):
            assert found(api, query) == [], query

    @pytest.mark.feature("E4")
    def test_a_query_of_one_word_is_read_in_the_languages_of_the_messages(self, api: Api) -> None:
        said = ["Die Katze ist krank, und ich weiß nicht warum.", "Wir haben das Auto verkauft."]
        api.add_messages(**ANA, messages=[{"role": "user", "content": content} for content in said])
        assert found(api, "Katzen", sources=["message"]) == []
        while api.sweep()["checked"]:
            pass
        assert found(api, "Katzen", sources=["message"]) == said[:1]
        # The forms that no text has would weigh as much as words.
        assert api.value("select memory._languages('ana', null, 'english', 'Katzen sind krank')::text") == "{english}"

    @pytest.mark.feature("E4")
    @pytest.mark.parametrize("words", ["harbour wall", "猫が好き、"], ids=ascii)
    def test_the_last_word_of_a_very_long_text_is_found(self, api: Api, words: str) -> None:
        text = words * (600_000 // len(words.encode()))
        api.add_message(**ANA, role="user", content=f"{text} theorbo")
        assert len(found(api, "theorbo", sources=["message"])) == 1
        vector = "select memory._text_vector('english', repeat('tea 茶 ', 300000) || %(end)s) @@ 'theorbo'"
        assert api.value(vector, end="theorbo") is True

    def test_only_the_beginning_of_a_very_long_query_counts(self, api: Api) -> None:
        """A message of 100 KB is not searched for word by word."""
        remember(api, "Likes tea")
        remember(api, "Owns a boat")
        assert found(api, "tea " + "lamp " * 20_000 + "boat") == ["Likes tea"]

    @pytest.mark.feature("E4")
    def test_a_message_is_found_by_its_speaker(self, api: Api) -> None:
        api.add_message(**ANA, role="user", content="Let us meet", metadata={"name": "Lima"})
        api.add_message(**ANA, role="user", content="Good idea", metadata={"name": "Ana"})
        assert found(api, "Lima's words", sources=["message"])[0] == "Let us meet"


def tell(api: Api, contents: list[str], **arguments: Any) -> None:
    api.add_messages(**ANA, messages=[{"role": "user", "content": content} for content in contents], **arguments)


class TestMessagesThatNobodyHasParsed:
    """A search parses half a MiB of them, and says when there are more."""

    # Parsed as slowly as a text can be: 256 KiB took half a second.
    SLOW = " ".join(f"w{n}.x-{n}/y_{random.Random(n).randbytes(9).hex()}" for n in range(9_000))[: 2**18]

    @pytest.fixture
    def api(self, api: Api) -> Api:
        api.set_policy(settings={"compression": {"enabled": False}, "cadence": {"fact_extraction_every_n": 0}})
        return api

    def parsed_in(self, api: Api, **arguments: Any) -> int:
        """How many texts a search parses."""
        api.query("select set_config('track_functions', 'all', true)")
        count = "select coalesce(pg_stat_get_xact_function_calls('memory._text_vector'::regproc), 0)"
        before = api.value(count)
        search(api, **{"sources": ["message"], **arguments})
        calls: int = api.value(count) - before
        return calls

    @pytest.mark.feature("F20")
    def test_are_found_by_any_of_their_words_when_they_are_new(self, api: Api) -> None:
        tell(api, [f"{self.SLOW[:-100]} findme"] * 3)
        results = search(api, "findme", sources=["message"])
        assert "t1/2" in [result.id for result in results]
        tell(api, [f"short {number} words here" for number in range(500)])
        for query, expected in (("words here 499", "t1/502"), ("short 0", "t1/3")):
            assert expected in [result.id for result in search(api, query, sources=["message"])]

    @pytest.mark.feature("F20")
    def test_and_are_long_take_no_time(self, api: Api) -> None:
        """The newest is parsed as a whole, and of the others 8 KiB until half a MiB is spent."""
        tell(api, ["Letter about the theorbo", *[f"Letter {number} about tea: {self.SLOW}" for number in range(40)]])
        assert 30 < self.parsed_in(api, query="letters") < 35
        assert [result.id for result in search(api, "theorbos", sources=["message"])] == ["t1/0"]
        assert len(search(api, "letters about tea", sources=["message"], top_k=50)) > 30
        assert {notice.partition(";")[0] for notice in api.notices if "parsed" in notice} == {
            "degraded: 41 or more texts are not parsed yet"
        }

    @pytest.mark.feature("F20")
    def test_of_very_many_the_newest_are_compared_at_once_and_the_others_after_a_sweep(self, api: Api) -> None:
        tell(api, [f"I moved to the harbour, {number}" for number in range(3100)])
        tell(api, ["What about the theorbo?"])
        assert self.parsed_in(api, query="theorbo") == 3000
        assert found(api, "theorbo", sources=["message"]) == ["What about the theorbo?"]
        assert [n for n in api.notices if n.startswith("degraded: 3000 or more texts are not parsed yet")]
        while api.sweep()["checked"]:
            pass
        [first, *_] = search(api, "harbour 17", sources=["message"])
        assert first.id == "t1/17"

    @pytest.mark.feature("F20")
    def test_are_looked_through_for_any_query(self, api: Api) -> None:
        queries = ["a.b*c", "x|y", "c++ c#", "$^ x", "日本", "café"]
        tell(api, [*(f"{query} is here" for query in queries), *[self.SLOW] * 3])
        for number, query in enumerate(queries):
            before = len(api.notices)
            results = search(api, query, sources=["message"])
            assert len(api.notices) == before + 1
            assert f"t1/{number}" in [result.id for result in results], query

    @pytest.mark.feature("F20")
    def test_are_parsed_a_few_at_a_time_by_the_job_that_reads_them(self, api: Api) -> None:
        """Appends wait while a job's result is stored, which took five seconds for twelve long messages."""
        api.set_policy(settings={"summary": {"enabled": False}})
        tell(api, [self.SLOW] * 12)
        api.extract_memories(**ANA)
        assert api.finish_jobs() >= 1
        assert len(read_messages(api)) == 3
