"""Search by keyword: what is found, in which order, with which filters, and that no query does harm."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import Any

import psycopg
import pytest

from tests.support.sqlapi import OLD_STRINGS, Api, refused, rolled_back

MAY = datetime(2026, 5, 1, tzinfo=timezone.utc)
ANA: dict[str, Any] = {"user_id": "ana", "thread_id": "t1"}
EVERYWHERE = ["memory", "summary", "message"]


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    with rolled_back(shared_api) as api:
        yield api


def search(api: Api, query: str = "tea", **arguments: Any) -> list[Any]:
    found: list[Any] = api.search(**{"user_id": "ana", "query": query, "mode": "keyword", **arguments})
    return found


def found(api: Api, query: str = "tea", **arguments: Any) -> list[str]:
    return [result.content for result in search(api, query, **arguments)]


def remember(api: Api, content: str, **arguments: Any) -> Any:
    return api.add_memory(**{"user_id": "ana", "content": content, **arguments}).memory_id


def summarize(api: Api, thread_id: str, summary: str) -> None:
    api.talk("ana", thread_id, rounds=3)
    api.finish_jobs(summary=summary)


def store(api: Api, source: str, text: str, thread_id: str = "t1") -> None:
    """Anything that can be found, saying that."""
    if source == "memory":
        remember(api, text)
    elif source == "message":
        api.add_message(user_id="ana", thread_id=thread_id, role="user", content=text)
    elif source == "document":
        api.add_document(user_id="ana", content=text)
    else:
        summarize(api, thread_id, text)


class TestSources:
    def test_a_memory_is_found_with_its_fields(self, api: Api) -> None:
        memory_id = remember(
            api, "Likes tea", memory_type="preference", thread_id="t1", tags=["drinks"], metadata={"a": 1},
            confidence=0.5, importance=0.25, agent_id="helper",
        )  # fmt: skip
        [result] = search(api)
        assert result[:4] == ("memory", str(memory_id), "t1", "Likes tea")
        assert result.metadata == {"a": 1}
        assert result.created_at == api.get_memory(user_id="ana", memory_id=memory_id).created_at
        assert result.details == {
            "memory_type": "preference",
            "tags": ["drinks"],
            "confidence": 0.5,
            "importance": 0.25,
            "agent_id": "helper",
            "superseded_by": None,
        }

    def test_a_memory_is_found_by_its_embedding_text(self, api: Api) -> None:
        remember(api, "Likes it green", embedding_text="Drinks tea")
        assert found(api) == ["Likes it green"]

    def test_a_message_is_found_when_asked_for(self, api: Api) -> None:
        api.add_message(**ANA, role="user", content="Hello")
        api.add_message(**ANA, role="user", content="I drink tea", agent_id="helper", metadata={"a": 1})
        assert search(api) == []
        [result] = search(api, sources=["message"])
        assert result[:4] == ("message", "t1/1", "t1", "I drink tea")
        assert (result.metadata, result.details) == ({"a": 1}, {"seq": 1, "role": "user", "agent_id": "helper"})

    def test_the_latest_summary_of_a_thread_is_found(self, api: Api) -> None:
        summarize(api, "t1", "They talked about tea at first.")
        summarize(api, "t1", "They went on about tea.")
        [result] = search(api)
        [summary] = api.get_thread_summary(**ANA)
        assert result[:4] == ("summary", str(summary.summary_id), "t1", "They went on about tea.")
        assert result.details == {"kind": "rolling", "start_seq": 0, "end_seq": 11}

    @pytest.mark.feature("E4")
    def test_a_document_is_found_by_its_content_and_title(self, api: Api) -> None:
        document_id = api.add_document(
            user_id="ana",
            content="How to brew it.",
            title="Tea",
            namespace="kitchen",
            doc_type="manual",
            metadata={"a": 1},
        )
        [result] = search(api)
        assert result[:4] == ("document", str(document_id), None, "How to brew it.")
        assert (result.metadata, result.details) == (
            {"a": 1},
            {"title": "Tea", "namespace": "kitchen", "doc_type": "manual", "chunk": 0, "chunks": 1},
        )
        assert found(api, "brewing") == ["How to brew it."]
        api.delete_document(user_id="ana", document_id=document_id)
        assert search(api) == []

    def test_sources_are_ranked_together(self, api: Api) -> None:
        remember(api, "Likes tea and coffee and cocoa and milk and lemonade and water and juice")
        api.add_message(**ANA, role="user", content="tea")
        summarize(api, "t2", "They talked about tea and coffee and cocoa and milk.")
        assert [result.source for result in search(api, sources=EVERYWHERE)] == ["message", "summary", "memory"]

    def test_an_updated_memory_is_found_by_its_new_words_only(self, api: Api) -> None:
        memory_id = remember(api, "Likes tea")
        api.update_memory(user_id="ana", memory_id=memory_id, content="Likes coffee")
        assert (found(api), found(api, "coffee")) == ([], ["Likes coffee"])

    @pytest.mark.parametrize(
        "filters", [{}, {"include_superseded": None}, {"memory_types": ["fact"]}, {"include_superseded": True}]
    )
    def test_a_memory_of_many_words_is_found_as_others_are(self, api: Api, filters: dict[str, Any]) -> None:
        """Its words have no room in the index that the others are read from."""
        many = " ".join(f"word{number}" for number in range(1000))
        long = remember(api, f"Likes tea {many}")
        short = remember(api, "Likes tea at five")
        assert {result.id for result in search(api, **filters)} == {str(long), str(short)}
        api.update_memory(user_id="ana", memory_id=long, content="Likes coffee")
        api.update_memory(user_id="ana", memory_id=short, content=f"Likes tea at six {many}")
        assert [result.id for result in search(api, **filters)] == [str(short)]
        assert [result.id for result in search(api, "word999 coffee", **filters)] == [str(long), str(short)]
        api.supersede_memory(user_id="ana", old_memory_id=short, new_memory_id=long, reason="changed")
        assert [result.id for result in search(api, **filters)] == (
            [str(short)] if filters.get("include_superseded") else []
        )

    @pytest.mark.parametrize("words", [1, 40, 100, 140, 1000])
    def test_long_names_leave_room_for_words(self, api: Api, words: int) -> None:
        api.set_policy(settings={"memories": {"max_per_agent": 10}})
        name = "".join(random.Random(words).choices("𐌰𐌱𐌲𐌳😀", k=255))  # what cannot be compressed
        content = " ".join(f"tea{number}" for number in range(words))
        remember(api, content, user_id=name, agent_id=name[::-1])
        assert found(api, "tea0", user_id=name) == [content]


class TestRanking:
    def test_any_word_may_match(self, api: Api) -> None:
        for content in ("Likes tea", "Likes cake", "Likes swimming"):
            remember(api, content)
        assert sorted(found(api, "tea or cake")) == ["Likes cake", "Likes tea"]

    def test_word_forms_and_case_make_no_difference(self, api: Api) -> None:
        remember(api, "Visited the mountains")
        assert found(api, "VISITING a mountain?") == ["Visited the mountains"]

    def test_more_words_weigh_more(self, api: Api) -> None:
        for content in ("Likes green apples", "Likes tea greatly", "Likes green tea"):
            remember(api, content)
        assert found(api, "green tea")[0] == "Likes green tea"

    def test_a_rare_word_weighs_more_than_a_common_one(self, api: Api) -> None:
        rare = "Plays the theorbo on warm summer evenings"
        remember(api, rare)
        for number in range(8):
            remember(api, f"Anna likes number {number}")
        assert found(api, "Anna theorbo")[0] == rare

    def test_a_word_said_often_weighs_more_but_not_without_end(self, api: Api) -> None:
        remember(api, "tea tea tea tea milk sugar")
        remember(api, "tea milk sugar biscuit lemon honey")
        often, once = search(api)
        assert often.content.startswith("tea tea")
        assert once.score < often.score < 4 * once.score

    def test_the_newer_comes_first_among_equals(self, api: Api) -> None:
        for content in ("Likes tea", "Hates tea"):
            remember(api, content)
        assert found(api) == ["Hates tea", "Likes tea"]

    @pytest.mark.parametrize("seed", range(4))
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

    def test_the_best_match_of_all_words_scores_1(self, api: Api) -> None:
        """A score says how much worse than the best of this query a result is."""
        for content in ("Likes green tea", "Likes green apples", "Likes tea a lot, above all in the afternoon"):
            remember(api, content)
        best, *others = search(api, "green tea")
        assert (best.content, best.score) == ("Likes green tea", 1)
        assert others
        assert all(0 < result.score < 1 for result in others)

    def test_a_document_with_half_of_the_words_is_no_perfect_match(self, api: Api) -> None:
        remember(api, "Likes tea")
        assert search(api, "tea zither")[0].score < search(api, "tea")[0].score

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
        fused = [r.details["fused"] for r in results]
        assert [f.get("neighbour") for f in fused] == [fused[1]["score"], fused[0]["score"], None]
        assert results[1].score == pytest.approx(fused[1]["score"] + 0.4 * (1 - fused[1]["score"]))
        assert results[2].score == fused[2]["score"]

    def test_the_neighbour_is_in_the_same_thread(self, api: Api) -> None:
        for thread_id in ("t1", "t2"):
            api.add_message(user_id="ana", thread_id=thread_id, role="user", content="tea")
            api.add_message(user_id="ana", thread_id=thread_id, role="user", content="Nice weather")
        assert all("neighbour" not in r.details["fused"] for r in search(api, sources=["message"], explain=True))

    def test_explain_gives_rank_score_and_words(self, api: Api) -> None:
        remember(api, "Likes green tea")
        remember(api, "Likes tea")
        assert all("keyword" not in result.details for result in search(api))
        explained = [result.details["keyword"] for result in search(api, "green tea", explain=True)]
        assert [keyword["rank"] for keyword in explained] == [1, 2]
        assert [keyword["terms"].keys() for keyword in explained] == [{"green", "tea"}, {"tea"}]
        assert [keyword["score"] for keyword in explained] == [result.score for result in search(api, "green tea")]

    def test_top_k_limits_the_results_to_the_best(self, api: Api) -> None:
        for number in range(15):
            remember(api, f"Cup {number} of tea" + " and milk" * number)
        assert len(search(api)) == 10
        assert [result.content for result in search(api, top_k=3)] == found(api)[:3]
        assert len(search(api, top_k=100)) == 15


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
    "Cafe\u0301 mit Pin\u0303ata": ["Cafe\u0301"],
}


class TestWords:
    @pytest.mark.feature("E4")
    @pytest.mark.parametrize(("text", "query"), [(text, query) for text in IDENTIFIERS for query in IDENTIFIERS[text]])
    @pytest.mark.parametrize("source", ["memory", "message", "document", "summary"])
    def test_identifiers_and_their_parts_are_found(self, api: Api, text: str, query: str, source: str) -> None:
        store(api, source, text)
        store(api, source, "Something else entirely, with other words", "t2")
        assert found(api, query, sources=[source]) == [text]

    @pytest.mark.feature("E4")
    @pytest.mark.parametrize(("text", "query"), [(text, query) for text in SCRIPTS for query in SCRIPTS[text]])
    def test_text_in_any_script_is_found(self, api: Api, text: str, query: str) -> None:
        remember(api, text)
        remember(api, "Nothing of the kind")
        assert found(api, query) == [text]

    def test_more_of_an_unspaced_word_weighs_more(self, api: Api) -> None:
        for content in ("我喜欢北京", "我喜欢上海", "我喜欢海上的风"):
            remember(api, content)
        assert found(api, "上海")[0] == "我喜欢上海"

    def test_a_whole_identifier_weighs_more_than_a_part(self, api: Api) -> None:
        for content in ("Edits src/web/main.py", "Edits src/app/main.py", "Edits src/app/other.py"):
            remember(api, content)
        assert found(api, "src/app/main.py")[0] == "Edits src/app/main.py"

    @pytest.mark.parametrize("query", ["👩🏽‍🚀", "🎉🎉", "?!", "…", "the and of", "\u200b", "-", "'"])
    def test_a_query_without_words_finds_nothing(self, api: Api, query: str) -> None:
        remember(api, "Likes tea, the one and only!? 👩🏽‍🚀🎉🎉 …")
        assert found(api, query) == []

    def test_only_the_beginning_of_a_very_long_query_counts(self, api: Api) -> None:
        """A message of 100 KB is not searched for word by word."""
        remember(api, "Likes tea")
        remember(api, "Owns a boat")
        assert found(api, "tea " + "lamp " * 20_000 + "boat") == ["Likes tea"]

    @pytest.mark.feature("E4")
    def test_policy_decides_the_language(self, api: Api) -> None:
        api.set_policy(settings={"search": {"language": "german"}}, user_id="ana")
        for source in EVERYWHERE:
            store(api, source, "Besuchte die Häuser der Städte")
        api.add_memory(user_id="bob", content="Besuchte die Häuser der Städte")
        assert len(search(api, "Haus in einer Stadt", sources=EVERYWHERE)) == len(EVERYWHERE)
        assert found(api, "der die das") == []  # stop words
        assert found(api, "Haus in einer Stadt", user_id="bob") == []

    @pytest.mark.feature("E4")
    @pytest.mark.parametrize("query", ["lima", "Lima's words", "What did Lima say?"])
    def test_a_message_is_found_by_its_speaker(self, api: Api, query: str) -> None:
        api.add_message(**ANA, role="user", content="Let us meet", metadata={"name": "Lima"})
        api.add_message(**ANA, role="user", content="Good idea", metadata={"name": "Ana"})
        assert found(api, query, sources=["message"])[0] == "Let us meet"

    @pytest.mark.feature("E4")
    @pytest.mark.parametrize("query", ["may", "7 May 2023", "What happened in May 2023?", "7th of may"])
    def test_a_message_is_found_by_its_date(self, api: Api, query: str) -> None:
        messages = [
            {"role": "user", "content": f"hello in {month}", "created_at": f"2023-{month}-07T12:00:00Z"}
            for month in ("04", "05", "06")
        ]
        api.add_messages(**ANA, messages=messages)
        assert found(api, query, sources=["message"])[0] == "hello in 05"

    def test_a_changed_message_is_found_by_what_it_says_now(self, api: Api) -> None:
        api.add_message(**ANA, role="user", content="I drink tea")
        api.query("update memory.messages set content = 'I drink cocoa' where user_id = 'ana' returning 1")
        assert found(api, "tea", sources=["message"]) == []
        assert found(api, "cocoa", sources=["message"]) == ["I drink cocoa"]


class TestFilters:
    @pytest.fixture
    def pair(self, api: Api) -> None:
        """Two memories that differ in everything, and a summary and a message that say the same."""
        kept = {
            "agent_id": "cook", "thread_id": "t1", "memory_type": "preference", "tags": ["drinks", "hot"],
            "metadata": {"channel": "mail", "nested": {"a": 1}}, "confidence": 0.9, "valid_from": MAY,
        }  # fmt: skip
        other = {
            "agent_id": "tutor", "thread_id": "t2", "memory_type": "fact", "tags": ["drinks", "cold"],
            "metadata": {"channel": "chat", "nested": {"a": 2}}, "confidence": 0.4, "valid_to": "2100-01-01",
        }  # fmt: skip
        remember(api, "Drinks tea hot", **kept)
        remember(api, "Drinks tea cold", **{**other, "valid_from": "2020-01-01"})

    @pytest.mark.feature("E3")
    @pytest.mark.usefixtures("pair")
    @pytest.mark.parametrize(
        "arguments",
        [
            {"agent_id": "cook"},
            {"thread_id": "t1"},
            {"exclude_thread_id": "t2"},
            {"memory_types": ["preference"]},
            {"memory_types": ["preference", "context"]},
            {"tags_all": ["drinks", "hot"]},
            {"tags_any": ["hot", "red"]},
            {"exclude_tags": ["cold", "red"]},
            {"filter": {"channel": "mail"}},
            {"filter": {"nested": {"a": 1}}},
            {"min_confidence": 0.5},
            {"as_of": "2100-06-01"},
        ],
        ids=str,
    )
    def test_keeps_what_it_asks_for(self, api: Api, arguments: dict[str, Any]) -> None:
        assert sorted(found(api, as_of=None)) == ["Drinks tea cold", "Drinks tea hot"]
        assert found(api, **arguments) == ["Drinks tea hot"]

    @pytest.mark.usefixtures("pair")
    def test_empty_filters_are_no_filters(self, api: Api) -> None:
        assert len(search(api, tags_all=[], exclude_tags=[], filter={})) == 2

    @pytest.mark.parametrize("source", EVERYWHERE)
    @pytest.mark.parametrize("argument", ["created_after", "created_before"])
    def test_goes_by_time_in_every_source(self, api: Api, source: str, argument: str) -> None:
        moments = []
        for number in (1, 2):
            remember(api, f"tea {number}")
            summarize(api, f"t{number}", f"tea {number}")
            api.add_message(**ANA, role="user", content=f"tea {number}")
            moments.append(api.value("select clock_timestamp()"))
        expected = "tea 2" if argument == "created_after" else "tea 1"
        assert found(api, sources=[source], **{argument: moments[0]}) == [expected]

    @pytest.mark.parametrize("source", EVERYWHERE)
    @pytest.mark.parametrize(
        ("arguments", "expected"), [({"thread_id": "t1"}, "1"), ({"exclude_thread_id": "t1"}, "2")]
    )
    def test_goes_by_thread_in_every_source(
        self, api: Api, source: str, arguments: dict[str, str], expected: str
    ) -> None:
        for number in ("1", "2"):
            remember(api, f"tea {number}", thread_id=f"t{number}")
            summarize(api, f"t{number}", f"tea {number}")
            api.add_message(user_id="ana", thread_id=f"t{number}", role="user", content=f"tea {number}")
        assert found(api, sources=[source], **arguments) == [f"tea {expected}"]

    def test_a_moment_is_neither_after_nor_before_itself(self, api: Api) -> None:
        memory_id = remember(api, "tea")
        moment = api.get_memory(user_id="ana", memory_id=memory_id).created_at
        assert found(api, created_after=moment) == found(api, created_before=moment) == []

    def test_by_thread_keeps_memories_that_belong_to_none_unless_one_is_asked_for(self, api: Api) -> None:
        remember(api, "tea")
        assert found(api, exclude_thread_id="t1") == ["tea"]
        assert found(api, thread_id="t1") == []

    @pytest.mark.parametrize(
        "arguments",
        [
            {"doc_types": ["manual"]},
            {"namespaces": ["kitchen"]},
            {"doc_types": ["manual", "x"], "namespaces": ["kitchen"]},
        ],
        ids=str,
    )
    def test_by_what_only_documents_have_leaves_documents(self, api: Api, arguments: dict[str, Any]) -> None:
        for source in EVERYWHERE:
            store(api, source, f"tea in a {source}")
        for namespace, doc_type in (("kitchen", "manual"), ("office", "letter")):
            api.add_document(user_id="ana", content=f"tea in a {doc_type}", namespace=namespace, doc_type=doc_type)
        assert found(api, sources=[*EVERYWHERE, "document"], **arguments) == ["tea in a manual"]
        assert found(api, sources=[*EVERYWHERE, "document"], memory_types=["fact"], **arguments) == []

    @pytest.mark.feature("A3")
    def test_by_agent_goes_for_messages_too(self, api: Api) -> None:
        for agent in ("cook", "tutor"):
            api.add_message(**ANA, role="user", content=f"tea for the {agent}", agent_id=agent)
        assert found(api, sources=["message"], agent_id="cook") == ["tea for the cook"]

    def test_by_metadata_goes_for_messages_too(self, api: Api) -> None:
        for channel in ("mail", "chat"):
            api.add_message(**ANA, role="user", content=f"tea by {channel}", metadata={"channel": channel})
        assert found(api, sources=["message"], filter={"channel": "mail"}) == ["tea by mail"]

    @pytest.mark.parametrize(
        "arguments",
        [{"memory_types": ["fact"]}, {"tags_all": ["a"]}, {"tags_any": ["a"]}, {"min_confidence": 0.1}],
        ids=str,
    )
    def test_by_what_only_memories_have_leaves_memories(self, api: Api, arguments: dict[str, Any]) -> None:
        remember(api, "Likes tea", tags=["a"])
        summarize(api, "t1", "They talked about tea.")
        api.add_message(**ANA, role="user", content="I drink tea")
        assert len(search(api, sources=EVERYWHERE)) == 3
        assert found(api, sources=EVERYWHERE, **arguments) == ["Likes tea"]

    def test_by_score_keeps_the_better(self, api: Api) -> None:
        for content in ("green tea", "green apples", "green grass", "green"):
            remember(api, content)
        best, *others = search(api, "green tea")
        assert len(others) == 3
        assert found(api, "green tea", min_score=(best.score + others[0].score) / 2) == ["green tea"]

    def test_comes_before_the_ranking(self, api: Api) -> None:
        """What a filter leaves out does not make a word common."""
        remember(api, "Likes tea", agent_id="cook")
        remember(api, "Likes cake", agent_id="cook")
        before = search(api, agent_id="cook")
        for number in range(20):
            remember(api, f"tea {number}", agent_id="tutor")
        assert search(api, agent_id="cook") == before


class TestVisibility:
    @pytest.mark.feature("A3")
    def test_another_users_rows_never_appear(self, api: Api) -> None:
        remember(api, "Likes tea")
        api.add_message(**ANA, role="user", content="I drink tea")
        summarize(api, "t2", "They talked about tea.")
        assert len(search(api, sources=EVERYWHERE)) == 3
        assert found(api, sources=EVERYWHERE, user_id="bob") == []

    @pytest.mark.feature("B7")
    def test_an_expired_memory_never_appears(self, api: Api) -> None:
        remember(api, "Likes tea", expires_at="2020-01-01")
        assert found(api) == found(api, include_superseded=True) == []

    def test_a_deleted_memory_never_appears(self, api: Api) -> None:
        memory_id = remember(api, "Likes tea")
        assert found(api) == ["Likes tea"]
        api.delete_memory(user_id="ana", memory_id=memory_id)
        assert found(api) == found(api, include_superseded=True) == []

    @pytest.mark.feature("F1")
    def test_a_memory_that_no_longer_holds_appears_only_when_asked_for(self, api: Api) -> None:
        remember(api, "Likes tea", valid_from="2019-01-01", valid_to="2020-01-01")
        remember(api, "Likes tea on Sundays", valid_to="2100-01-01")
        assert found(api) == ["Likes tea on Sundays"]
        assert sorted(found(api, include_superseded=True)) == ["Likes tea", "Likes tea on Sundays"]
        assert found(api, as_of="2019-06-01") == ["Likes tea"]
        assert found(api, as_of="infinity") == []

    def test_as_of_the_end_of_time_shows_what_holds_for_ever(self, api: Api) -> None:
        remember(api, "Likes tea")
        assert found(api, as_of="infinity") == ["Likes tea"]

    def test_a_superseded_memory_appears_only_when_asked_for(self, api: Api) -> None:
        old, new = remember(api, "Likes tea"), remember(api, "Hates tea")
        api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="changed her mind")
        assert found(api) == ["Hates tea"]
        results = {result.content: result.details["superseded_by"] for result in search(api, include_superseded=True)}
        assert results == {"Hates tea": None, "Likes tea": str(new)}

    def test_a_cleared_message_never_appears(self, api: Api) -> None:
        api.add_message(**ANA, role="user", content="I drink tea")
        assert found(api, sources=["message"]) == ["I drink tea"]
        api.clear_thread(**ANA)
        assert found(api, sources=["message"]) == []

    def test_an_unfinished_summary_never_appears(self, api: Api) -> None:
        api.talk(**ANA, rounds=3)
        api.claim_jobs(worker="w")
        assert search(api, "question answer", sources=["summary"]) == []

    def test_as_of_shows_what_was_true_then(self, api: Api) -> None:
        remember(api, "Lives in Porto", valid_from="2020-01-01", valid_to="2024-01-01")
        remember(api, "Lives in Lisbon", valid_from="2024-01-01")
        places = {year: found(api, "lives", as_of=f"{year}-06-01") for year in (2019, 2022, 2025)}
        assert places == {2019: [], 2022: ["Lives in Porto"], 2025: ["Lives in Lisbon"]}

    @pytest.mark.feature("F1")
    def test_a_moment_belongs_to_what_begins_then(self, api: Api) -> None:
        remember(api, "Lives in Porto", valid_from="2020-01-01", valid_to="2024-01-01")
        remember(api, "Lives in Lisbon", valid_from="2024-01-01")
        assert found(api, "lives", as_of="2020-01-01") == ["Lives in Porto"]
        assert found(api, "lives", as_of="2024-01-01") == ["Lives in Lisbon"]
        old, new = remember(api, "Likes tea"), remember(api, "Hates tea")
        api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="changed her mind")
        superseded_at = api.get_memory(user_id="ana", memory_id=old).superseded_at
        assert found(api, as_of=superseded_at) == ["Hates tea"]

    def test_as_of_shows_what_was_superseded_later(self, api: Api) -> None:
        old = remember(api, "Likes tea")
        before = api.value("select clock_timestamp()")
        new = remember(api, "Hates tea")
        api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="changed her mind")
        assert found(api, as_of=before) == ["Likes tea"]

    @pytest.mark.parametrize("source", ["summary", "message"])
    def test_as_of_hides_what_was_said_later(self, api: Api, source: str) -> None:
        before = api.value("select clock_timestamp()")
        summarize(api, "t1", "They talked about tea.")
        api.add_message(**ANA, role="user", content="tea")
        assert len(search(api, sources=[source])) == 1
        assert search(api, sources=[source], as_of=before) == []


class TestDegrading:
    def test_hybrid_searches_by_keyword_and_says_so(self, api: Api) -> None:
        remember(api, "Likes tea")
        assert [result.content for result in api.search(user_id="ana", query="tea")] == ["Likes tea"]
        assert [notice for notice in api.notices if notice.startswith("degraded: ") and "keyword" in notice]

    def test_keyword_says_nothing(self, api: Api) -> None:
        remember(api, "Likes tea")
        search(api)
        assert api.notices == []

    def test_rerank_keeps_the_order_and_says_so(self, api: Api) -> None:
        remember(api, "Likes tea")
        assert search(api, rerank=True) == search(api)
        assert [notice for notice in api.notices if notice.startswith("degraded: ") and "rerank" in notice]

    @pytest.mark.parametrize(
        "arguments",
        [
            {"mode": "vector", "query": "tea"},
            {"mode": "vector", "query_embedding": "[1,2,3]"},
            {"mode": "vector", "query": "tea", "query_embedding": "[1,2,3]"},
            {"mode": "hybrid", "query_embedding": "[1,2,3]"},
            {"mode": "hybrid", "query": " \n", "query_embedding": "[1,2,3]"},
        ],
        ids=str,
    )
    def test_what_only_a_model_could_find_is_refused(self, api: Api, arguments: dict[str, Any]) -> None:
        remember(api, "Likes tea")
        with refused("mode") as refusal:
            api.search(user_id="ana", **arguments)
        assert "no embedding model is active" in str(refusal.value)

    @pytest.mark.parametrize(
        "arguments",
        [{}, {"query": " "}, {"mode": "keyword", "query_embedding": "[1,2,3]"}, {"mode": "vector"}],
        ids=str,
    )
    def test_nothing_to_look_for_is_refused(self, api: Api, arguments: dict[str, Any]) -> None:
        with refused("query"):
            api.search(user_id="ana", **arguments)


def tell(api: Api, contents: list[str], **arguments: Any) -> None:
    api.add_messages(**ANA, messages=[{"role": "user", "content": content} for content in contents], **arguments)


class TestMessagesThatNobodyHasParsed:
    """A search parses half a MiB of them, the newest first, and says when there are more."""

    # Parsed as slowly as a text can be: 256 KiB took half a second.
    SLOW = " ".join(f"w{n}.x-{n}/y_{random.Random(n).randbytes(9).hex()}" for n in range(9_000))[: 2**18]

    @pytest.fixture
    def api(self, api: Api) -> Api:
        api.set_policy(settings={"compression": {"enabled": False}, "cadence": {"fact_extraction_every_n": 0}})
        return api

    def parsed_in(self, api: Api, **arguments: Any) -> int:
        """How many texts a search parses."""
        api.query("select set_config('track_functions', 'all', true)")
        count = "select coalesce(pg_stat_get_xact_function_calls('memory._message_vector'::regproc), 0)"
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
    def test_and_are_few_cause_no_notice(self, api: Api) -> None:
        tell(api, [f"tea {number}" for number in range(1000)])
        assert len(found(api, "tea 7", sources=["message"], top_k=1000)) == 1000
        assert api.notices == []

    @pytest.mark.feature("F20")
    @pytest.mark.parametrize("mode", ["keyword", "hybrid"])
    def test_and_are_long_take_no_time(self, api: Api, mode: str) -> None:
        tell(api, [f"Letter {number} about tea: {self.SLOW}" for number in range(20)])
        assert self.parsed_in(api, query="nothing of it", mode=mode) == 1  # 256 KiB and a bit each
        assert self.parsed_in(api, query="about cities", mode=mode) <= 20
        assert {result.id for result in search(api, "letters about tea", sources=["message"], top_k=30, mode=mode)} == {
            f"t1/{number}" for number in range(20)
        }
        assert [n for n in api.notices if n.startswith("degraded: 20 messages are not parsed yet")]

    @pytest.mark.feature("F20")
    def test_and_are_many_take_no_time_and_none_is_lost(self, api: Api) -> None:
        tell(api, [f"I moved to the harbour, {number}" for number in range(20_000)])
        tell(api, ["What about the theorbo?"])
        assert self.parsed_in(api, query="theorbo") < 5_000
        assert found(api, "theorbo", sources=["message"]) == ["What about the theorbo?"]
        [first, *_] = search(api, "harbour 17", sources=["message"])  # far beyond the budget
        assert first.id == "t1/17"
        assert [n for n in api.notices if n.startswith("degraded: 20001 messages are not parsed yet")]

    @pytest.mark.feature("F20")
    def test_are_found_by_their_embedding(self, api: Api) -> None:
        api.register_model(name="three", kind="embedding", provider="openai", model="m", settings={"dimensions": 3})
        api.activate_model(name="three")
        tell(api, [f"{'x ' * 150}{self.SLOW[:-400]} harbour", *[self.SLOW] * 4])
        api.query(
            "insert into memory.embeddings (user_id, model, source, id, embedding) "
            "values ('ana', 'three', 'message', 't1/0', '[1,0,0]') returning 1"
        )
        results = search(api, "harbour", sources=["message"], mode="hybrid", query_embedding="[1,0,0]")
        assert [result.id for result in results] == ["t1/0"]
        assert [n for n in api.notices if n.startswith("degraded: 5 messages")]

    @pytest.mark.feature("F20")
    def test_are_parsed_by_the_sweep_and_then_found_by_every_word(self, api: Api) -> None:
        tell(api, [f"{self.SLOW[:-100]} findme{number}" for number in range(20)])
        assert found(api, "findme3", sources=["message"]) == []
        assert api.notices
        while api.sweep()["checked"]:
            pass
        api.notices.clear()
        assert [result.id for result in search(api, "findme3", sources=["message"])] == ["t1/3"]
        assert (api.notices, self.parsed_in(api)) == ([], 0)

    @pytest.mark.feature("F20")
    def test_are_parsed_a_few_at_a_time_by_the_job_that_reads_them(self, api: Api) -> None:
        """Appends wait while a job's result is stored, which took five seconds for twelve long messages."""
        tell(api, [self.SLOW] * 12)
        api.extract_memories(**ANA)
        assert api.finish_jobs() >= 1
        assert api.value("select count(search_vector) from memory.messages") == 3

    @pytest.mark.feature("F20")
    @pytest.mark.parametrize("query", ["a.b*c", "x|y", "c++ c#", "$^ x", "日本", "café"])
    def test_are_looked_through_for_any_query(self, api: Api, query: str) -> None:
        tell(api, [f"{query} is here", *[self.SLOW] * 3])
        before = len(api.notices)
        results = search(api, query, sources=["message"])
        assert len(api.notices) == before + 1
        assert "t1/0" in [result.id for result in results]


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
    @pytest.mark.parametrize("query", HARMLESS, ids=lambda query: query[:20])
    def test_do_no_harm(self, api: Api, query: str) -> None:
        remember(api, "Likes tea")
        before = api.state()
        assert found(api, query) in ([], ["Likes tea"])
        assert api.get_context(**ANA, query=query)[0].source == "memories"
        assert api.state() == before

    @pytest.mark.parametrize("query", HARMLESS, ids=lambda query: query[:20])
    def test_find_what_says_the_same(self, api: Api, query: str) -> None:
        """Whatever is stored can be searched for in its own words, unless it has none."""
        remember(api, query[:10_000])
        remember(api, "Something else")
        lexemes = api.value("select length(memory._text_vector('english', %(query)s))", query=query[:10_000])
        assert found(api, query[:10_000]) == ([query[:10_000]] if lexemes else [])

    def test_with_an_unknown_type_behind_a_null_are_refused(self, api: Api) -> None:
        with refused("memory_types"):
            search(api, memory_types="{null,bogus}")

    @pytest.mark.parametrize("run", ["a_", "snake_case_", "a.", "绿茶", "x"])
    def test_of_a_run_without_a_blank_take_no_quadratic_time(self, api: Api, run: str) -> None:
        """Such a run of 40,000 characters took PostgreSQL's parser eight seconds, with the thread locked."""
        content = run * (40_000 // len(run))
        with api.connection.transaction():
            api.query("select set_config('statement_timeout', '3s', true)")
            api.add_message(user_id="ana", thread_id="t1", role="user", content=content)
            assert found(api, run, sources=["message"]) in ([content], [])

    @pytest.mark.parametrize("seed", range(3))
    def test_of_random_characters_do_no_harm(self, api: Api, seed: int) -> None:
        chance = random.Random(seed)
        alphabet = [*"ab1 '\"\\/:*&|!()<>-.@#?=%_~`^+,;\t\n", "é", "ß", "字", "😀"]
        remember(api, "Likes tea")
        for _ in range(200):
            query = "a" + "".join(chance.choices(alphabet, k=chance.randrange(1, 40)))
            assert found(api, query) in ([], ["Likes tea"])

    def test_with_only_stop_words_find_nothing(self, api: Api) -> None:
        remember(api, "The one and only")
        assert found(api, "the and of") == []

    def test_are_taken_whatever_strings_mean_in_the_session(self, connect: Callable[..., psycopg.Connection]) -> None:
        api = Api(connect(options=OLD_STRINGS))
        remember(api, "likes tea")
        assert found(api, "tea") == ["likes tea"]

    def test_of_a_user_without_anything_find_nothing(self, api: Api) -> None:
        assert found(api, sources=EVERYWHERE) == []

    def test_find_text_that_is_very_long(self, api: Api) -> None:
        text = " ".join(f"word{number}" for number in range(20_000))
        remember(api, text, embedding_text=text.replace("word", "wort"))
        api.add_message(**ANA, role="user", content=text * 20)
        assert {result.source for result in search(api, "word19", sources=EVERYWHERE)} == {"memory", "message"}

    @pytest.mark.parametrize("letters", ["ab12", "аби1", "一二三四", "𐌰𐌱𐌲𐌳"], ids=ascii)
    def test_find_text_of_many_words_in_any_script(self, api: Api, letters: str) -> None:
        """A tsvector holds a megabyte; what does not fit must not make a write or a search fail."""
        chance = random.Random(1)
        words = ("-".join("".join(chance.choices(letters, k=9)) for _ in range(2)) for _ in range(14_000))
        text = " ".join(["findme", *words])
        half = text[: 262_144 // len(letters[0].encode())]
        remember(api, half, embedding_text=text[-len(half) :])
        api.add_message(**ANA, role="user", content=text)
        assert len(search(api, "findme", sources=EVERYWHERE)) == 2
