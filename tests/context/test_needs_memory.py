"""Whether a request needs memory is decided by rules: measured with a labelled set, and said for single requests."""

from __future__ import annotations

import functools
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.context.steps import parts
from tests.support.sqlapi import Api

LABELLED = Path(__file__).with_name("needs_memory.jsonl")
"""One request a line: query, label (search or skip), why in a word, group, and the messages before it in its thread."""

HALVES = ("tuning", "held out")
DATABASE = "We keep everything in a Postgres database called AgentFusion."


@functools.cache
def labelled() -> dict[str, list[dict[str, Any]]]:
    """The labelled requests of each half. The text of a request says in which half it is, whoever adds others."""
    halves: dict[str, list[dict[str, Any]]] = {half: [] for half in HALVES}
    for line in LABELLED.read_text().splitlines():
        row = json.loads(line)
        first_digit = hashlib.sha256(row["query"].encode()).hexdigest()[0]
        halves["tuning" if first_digit < "8" else "held out"].append(row)
    return halves


def needs(api: Api, query: str, thread_id: str = "new", **arguments: Any) -> Any:
    return api.needs_memory(user_id="ana", thread_id=thread_id, query=query, **arguments)


def decision(api: Api, query: str, *before: str, thread_id: str = "new") -> str:
    """The decision for a request after these messages of the user."""
    for content in before:
        api.add_message(user_id="ana", thread_id=thread_id, role="user", content=content)
    return str(needs(api, query, thread_id).decision)


def signs(need: Any) -> dict[str, str]:
    return {sign["sign"]: sign["found"] for sign in need.details["signs"]}


def score(api: Api, half: str) -> tuple[float, str]:
    """F1 of "search" for a half, and the table of what was wanted and what was decided."""
    table: Counter[tuple[str, str]] = Counter()
    for number, row in enumerate(labelled()[half]):
        thread_id = f"{half} {number}"
        if "before" in row:
            api.add_messages(user_id="ana", thread_id=thread_id, messages=row["before"])
        table[row["label"], needs(api, row["query"], thread_id).decision] += 1
    hits, missed, needless = table["search", "search"], table["search", "skip"], table["skip", "search"]
    f1 = 2 * hits / (2 * hits + missed + needless)
    return f1, (
        f"{half:>10}     decided search  skip   F1 {f1:.3f}\n"
        f"    wanted search  {hits:13} {missed:5}   precision {hits / (hits + needless):.3f}\n"
        f"    wanted skip    {needless:13} {table['skip', 'skip']:5}   recall {hits / (hits + missed):.3f}"
    )


@pytest.mark.feature("C8")
class TestLabelledRequests:
    @pytest.mark.parametrize("half", HALVES)
    def test_are_decided_as_labelled(self, api: Api, half: str) -> None:
        f1, table = score(api, half)
        print(f"\n{table}")
        assert f1 >= 0.85


@pytest.mark.feature("C8")
class TestDecision:
    def test_names_reason_score_and_signs(self, api: Api) -> None:
        need = needs(api, "Please restart it")
        assert need.decision == "search"
        assert need.reason == 'The request refers to something that it does not name: "it".'
        assert need.details == {
            "score": 0.6,
            "search_from": 0.5,
            "signs": [
                {
                    "sign": "reference",
                    "found": "it",
                    "weight": 0.6,
                    "is_resolved": False,
                    "says": "refers to something that it does not name",
                }
            ],
        }

        need = needs(api, "Tell me a joke")
        assert (need.decision, need.reason) == ("skip", "The request points to nothing that was said before.")
        assert (need.details["score"], need.details["signs"]) == (0, [])
        need = needs(api, "How do I clean my keyboard?")
        assert (need.decision, need.reason) == ("skip", 'The request asks for general knowledge: "how do i".')

    def test_of_a_vague_database_follows_the_thread(self, api: Api) -> None:
        assert decision(api, "Connect to the DB") == "search"
        assert decision(api, "Connect to the DB", "What is CSS, in a few words?", thread_id="css") == "search"
        assert decision(api, "Connect to the DB", DATABASE, thread_id="known") == "skip"
        assert decision(api, "Connect to AgentFusion database", thread_id="known") == "skip"
        assert needs(api, "Count the rows of the DB", "known").reason == 'The recent messages say what "db" means.'

    def test_resolves_a_pronoun_by_recent_messages(self, api: Api) -> None:
        assert decision(api, "Revert it") == "search"
        assert decision(api, "Revert it", "Commit main.py with the message Drop the cache", thread_id="git") == "skip"
        assert decision(api, "Revert it", "Good morning!", thread_id="greeted") == "search"

    def test_does_not_read_another_thread_user_or_old_messages(self, api: Api) -> None:
        api.add_message(user_id="bob", thread_id="new", role="user", content=DATABASE)
        api.add_message(user_id="ana", thread_id="other", role="user", content=DATABASE)
        assert decision(api, "Connect to the DB") == "search"
        small_talk = [f"Number {number} is a good number" for number in range(10)]
        assert decision(api, "Connect to the DB", DATABASE, *small_talk) == "search"

    def test_forgets_what_is_cleared_and_names_of_memories_that_are_deleted(self, api: Api) -> None:
        assert decision(api, "Connect to the DB", DATABASE) == "skip"
        api.clear_thread(user_id="ana", thread_id="new")
        assert decision(api, "Connect to the DB") == "search"
        query = "What is Caroline's identity?"
        memory_id = api.add_memory(user_id="ana", content="Has a friend called Caroline").memory_id
        assert decision(api, query) == "search"
        api.delete_memory(user_id="ana", memory_id=memory_id)
        assert decision(api, query) == "skip"

    def test_does_not_take_recalled_text_for_a_recent_message(self, api: Api) -> None:
        api.add_memory(user_id="ana", content="The database is called AgentFusion")
        [block] = [content for source, content in parts(api, thread_id="new", query="database") if source == "memories"]
        assert decision(api, "Connect to the DB", f"{block}\n\nConnect to the DB") == "search"

    def test_finds_the_phrases_of_the_policy(self, api: Api) -> None:
        query = "Back then we had a nicer logo"
        assert decision(api, query) == "skip"
        api.set_policy(settings={"knowledge_base": {"search_triggers": ["BACK  then", " "]}}, user_id="ana")
        need = needs(api, query)
        assert (need.decision, signs(need)["trigger"]) == ("search", "back then")

    @pytest.mark.parametrize(
        ("stored", "query"),
        [
            ("memory", "What is Caroline's identity?"),
            ("message", "Write a letter to Caroline"),
        ],
    )
    def test_knows_the_names_in_earlier_messages_and_memories(self, api: Api, stored: str, query: str) -> None:
        assert decision(api, query) == "skip"
        if stored == "message":
            api.add_message(user_id="ana", thread_id="old", role="user", content="Caroline called about the parade")
            api.sweep()  # parses the words
        else:
            api.add_memory(user_id="ana", content="Has a friend called Caroline")
        need = needs(api, query)
        assert (need.decision, signs(need)["remembered"]) == ("search", "Caroline")
        assert api.needs_memory(user_id="bob", thread_id="new", query=query).decision == "skip"
        # In the thread that has just named her nothing is missing.
        assert decision(api, query, "Caroline is here, she is a nurse") == "skip"

    @pytest.mark.parametrize(
        ("query", "wanted"),
        [
            ("  REVERT   IT!!  ", "search"),
            ("what\u2019s my name", "search"),
            ("¿Cuál es mi color favorito?", "search"),
            ("我叫什么名字？", "search"),
            ("👍", "skip"),
            ("'''\"\"\"```", "skip"),
            ("```\nwhere is my order\n```", "skip"),
        ],
    )
    def test_reads_any_spelling(self, api: Api, query: str, wanted: str) -> None:
        assert decision(api, query) == wanted


@pytest.mark.feature("C8")
class TestCost:
    @pytest.mark.parametrize("letter", ["it ", "' ", "日"])
    def test_of_ten_megabytes_is_that_of_its_ends(self, api: Api, letter: str) -> None:
        query = letter * (10_000_000 // len(letter.encode()))
        with api.at_most(cpu_seconds=5):
            assert needs(api, query).decision == "skip"
            assert needs(api, query + " What did we decide last time").decision == "search"


@pytest.mark.feature("C8", "F16")
class TestContext:
    """get_context under the policy context.recall "when_needed"."""

    VAGUE = "What is my boat called?"
    CONCRETE = "What does boat mean?"

    @pytest.fixture(autouse=True)
    def when_needed(self, api: Api) -> None:
        policy = api.set_policy(settings={"context": {"recall": "when_needed"}})
        assert policy["context"]["recall"] == "when_needed"
        api.add_message(user_id="ana", thread_id="old", role="user", content="The boat is called Marabel.")

    @staticmethod
    def recalls(api: Api, **arguments: Any) -> bool:
        return "recalled" in [source for source, _ in parts(api, thread_id="new", **arguments)]

    def test_recalls_what_a_vague_request_needs(self, api: Api) -> None:
        assert self.recalls(api, query=self.VAGUE)
        assert not self.recalls(api, query=self.CONCRETE)
        assert self.recalls(api, query=self.CONCRETE, recall=True)
        assert not self.recalls(api, query=self.VAGUE, recall=False)

    def test_recalls_nothing_for_one_word_of_many(self, api: Api) -> None:
        query = "Which colour does my grandmother prefer for curtains beside her boat?"
        assert decision(api, query) == "search"
        assert not self.recalls(api, query=query)
        assert self.recalls(api, query=query, recall=True)

    def test_judges_the_newest_message_of_the_user(self, api: Api) -> None:
        api.add_message(user_id="ana", thread_id="new", role="user", content=self.CONCRETE)
        assert not self.recalls(api)
        api.add_message(user_id="ana", thread_id="new", role="user", content=self.VAGUE)
        assert self.recalls(api)

    def test_judges_by_the_messages_of_the_agent(self, api: Api) -> None:
        api.add_message(user_id="ana", thread_id="old", role="user", content="Marabel needs paint.", agent_id="cook")
        api.add_message(
            user_id="ana", thread_id="new", role="user", content="Marabel is at the harbour.", agent_id="tutor"
        )
        assert self.recalls(api, query="paint it", agent_id="cook")
        assert not self.recalls(api, query="paint it", agent_id="tutor")


OTHER_LANGUAGES = {
    "French": (
        "Connecte-toi à la base de données|Redémarre le serveur|Envoie-le-lui|Où en est la facture ?|Refais-le|"
        "Peux-tu annuler la réservation ?|Envoie un courriel|Ouvre le dernier rapport",
        "Connecte-toi à la base AgentFusion|Qu'est-ce qu'une base de données ?|Comment cuire du riz ?|Merci beaucoup|"
        "Quelle est la capitale du Pérou ?|Écris un poème sur la mer|Traduis « bonjour » en anglais",
    ),
    "Chinese": (
        "连接数据库|重启服务器|把它发给他|报告在哪里？|再来一次|取消预订|发送邮件|打开那个文件",
        "连接AgentFusion数据库|什么是数据库？|怎么煮米饭？|谢谢|秘鲁的首都是哪里？|写一首关于大海的诗|翻译“早上好”",
    ),
    "Japanese": (
        "データベースに接続して|サーバーを再起動して|それを送って|請求書はどこ？|もう一度やって|予約をキャンセルして|"
        "メールを送って|あのファイルを開いて",
        "AgentFusionデータベースに接続して|データベースとは何ですか？|ご飯の炊き方を教えて|ありがとう|ペルーの首都はどこですか？|"
        "海についての詩を書いて|「おはよう」を翻訳して",
    ),
}
"""Requests that mean something which they do not name, and requests that lack nothing."""


@pytest.mark.feature("C8")
@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_requests_without_a_concrete_name_mean_search_in_every_language(api: Api, language: str) -> None:
    vague, concrete = (requests.split("|") for requests in OTHER_LANGUAGES[language])
    assert [request for request in vague if decision(api, request) != "search"] == []
    assert [request for request in concrete if decision(api, request) != "skip"] == []
