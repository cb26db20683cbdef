"""The language of words by policy, of everyone, an agent or a user, which can be changed at any time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import errors

from tests.support.protocol import claim, complete, lease, make_due, open_jobs
from tests.support.sqlapi import NO_WAIT, Api

pytestmark = pytest.mark.feature("A11", "F9")

GERMAN = {"search": {"language": "german"}}
ENGLISH = {"search": {"language": "english"}}
EVERYTHING = ["memory", "message", "document", "summary", "artifact"]


def fill(api: Api, user_id: str = "ana", agent_id: str = "default", said: str = "Häuser Nachbarn") -> None:
    """Put a text into each source of search, and parse it."""
    of = {"user_id": user_id, "agent_id": agent_id}
    api.add_message(**of, thread_id="t1", role="user", content=f"{said}!")
    api.add_memory(**of, content=said)
    api.add_memory(**of, content=" ".join([said, *(f"w{n}" for n in range(1000))]))
    api.add_document(user_id=user_id, content=said, title="Notizen")
    api.store_artifact(**of, content=said, key=f"log-{agent_id}")
    api.connection.execute(
        """
        insert into memory.summaries
          (user_id, summary_id, kind, thread_id, start_seq, end_seq, status, summary, agent_ids)
        values (%(user_id)s, memory._uuid_v7(), 'thread', 't1', 0, 0, 'completed', %(said)s, array[%(agent_id)s])
        """,
        {**of, "said": said},
    )
    while sum(api.sweep()[kind] for kind in ("checked", "queued")):
        pass


def found(api: Api, query: str, user_id: str = "ana", **arguments: Any) -> list[str]:
    rows = api.search(user_id=user_id, query=query, mode="keyword", sources=EVERYTHING, **arguments)
    return sorted(row.source for row in rows)


def parse_anew(api: Api, max_bytes: int = 4000000) -> int:
    """Do all jobs that parse; how many there were."""
    jobs = 0
    while claimed := api.claim_jobs(worker="test", kinds=["parse_artifacts"], max_jobs=10):
        for job in claimed:
            complete(api, job, max_bytes=max_bytes)
            jobs += 1
    return jobs


def words(api: Api) -> set[str]:
    """The words by which the texts are found."""
    return {row.word for row in api.query("select unnest(tsvector_to_array(words)) as word from memory.texts")}


ALL_SOURCES = sorted([*EVERYTHING, "memory"])


@pytest.mark.parametrize(
    ("layer", "max_bytes"),
    [({"user_id": "ana"}, 1), ({"agent_id": "default"}, 4_000_000)],
    ids=str,
)
def test_a_change_has_the_texts_parsed_anew_and_searches_find_them_all_the_time(
    api: Api, layer: dict[str, str], max_bytes: int
) -> None:
    fill(api)
    assert "hauser" in words(api)
    assert found(api, "Häuser") == ALL_SOURCES
    assert found(api, "Haus") == []
    api.set_policy(settings=GERMAN, **layer)
    assert found(api, "Häuser") == ALL_SOURCES
    # Within and after the work, too, with and without the agent.
    jobs = 0
    while claimed := api.claim_jobs(worker="test", kinds=["parse_artifacts"]):
        complete(api, claimed[0], max_bytes=max_bytes)
        jobs += 1
        assert found(api, "Häuser") == ALL_SOURCES
        assert len(found(api, "Häuser", agent_id="default")) == len(ALL_SOURCES)
    assert jobs == 1 if max_bytes > 1 else jobs > 5
    assert api.query("select from memory.marks where kind in ('language', 'parsed_anew')") == []
    keys = "array(select memory._word_key(user_id, w) from unnest(tsvector_to_array(words)) as w)"
    assert api.query(f"select distinct keys = {keys} from memory.texts where source = 'message'") == [(True,)]
    of_user = "agent_id" not in layer  # documents are the user's
    assert "haus" in words(api)
    assert len(found(api, "Haus")) == len(ALL_SOURCES) - (not of_user)
    assert ("hauser" in words(api)) is not of_user
    # And back.
    api.set_policy(settings={"search": {"language": None}}, **layer)
    assert found(api, "Häuser") == ALL_SOURCES
    parse_anew(api)
    assert found(api, "Haus") == []
    assert found(api, "Häuser") == ALL_SOURCES


def test_texts_of_users_with_another_language_are_not_parsed_anew(api: Api) -> None:
    fill(api)
    fill(api, "bob")
    api.set_policy(settings=ENGLISH, user_id="bob")
    before = api.query("select xmin, * from memory.messages where user_id = 'bob'")
    api.set_policy(settings=GERMAN, user_id="ana")
    assert claim(api, "parse_artifacts").user_id == "ana"
    api.set_policy(settings=GERMAN)
    assert api.query("select distinct user_id from memory.marks where kind = 'language'") == [("ana",)]
    assert api.query("select xmin, * from memory.messages where user_id = 'bob'") == before
    assert found(api, "Häuser", "bob") == ALL_SOURCES


def test_two_changes_end_with_the_second_and_what_is_said_meanwhile_is_found(api: Api) -> None:
    fill(api)
    api.set_policy(settings=GERMAN, user_id="ana")
    complete(api, claim(api, "parse_artifacts"), max_bytes=1)
    job = claim(api, "parse_artifacts")
    api.set_policy(settings={"search": {"language": "simple"}}, user_id="ana")
    api.add_message(user_id="ana", thread_id="t1", role="user", content="Gärten Häuser!")
    assert found(api, "Häuser") == sorted([*ALL_SOURCES, "message"])
    complete(api, job, max_bytes=4000000)
    parse_anew(api)
    assert found(api, "Häuser") == sorted([*ALL_SOURCES, "message"])
    assert not words(api) & {"haus", "nachbar"}
    assert api.query("select from memory.marks where kind in ('language', 'parsed_anew')") == []


def test_texts_of_agents_with_languages_of_their_own_are_found_together(api: Api) -> None:
    api.set_policy(settings=GERMAN, agent_id="berater")
    fill(api, agent_id="berater")
    api.add_memory(user_id="ana", content="Two houses", agent_id="default")
    for agent in (None, "berater"):
        assert found(api, "Häuser", agent_id=agent).count("memory") == 2
    assert found(api, "house") == ["memory"]


def test_a_sweep_queues_another_job_an_hour_after_one_died(api: Api) -> None:
    fill(api)
    api.set_policy(settings=GERMAN, user_id="ana")
    while "parse_artifacts" in open_jobs(api):
        make_due(api)
        api.fail_job(**lease(claim(api, "parse_artifacts")), error="busy")
    assert api.sweep()["queued"] == 0
    api.connection.execute("update memory.jobs set finished_at = finished_at - interval '1 hour' where status = 'dead'")
    assert api.sweep()["queued"] == 1
    assert parse_anew(api) == 1
    assert found(api, "Haus") == ALL_SOURCES


def test_marks_of_languages_go_with_the_user_and_stay_out_of_exports(api: Api) -> None:
    fill(api)
    api.set_policy(settings=GERMAN, user_id="ana")
    marks = "select count(*) from memory.marks where user_id = 'ana' and kind = 'language'"
    assert api.value(marks) > 0
    assert "language" not in {mark["kind"] for mark in api.export_user(user_id="ana")["marks"]}
    api.forget_user(user_id="ana")
    assert api.value(marks) == 0


TOLD = {
    "german": ("Die Katze ist krank.", "Die Farben des Autos sind blau.", "Was ist die Farbe von dem Auto?"),
    "french": (
        "Le chat est malade.",
        "Les couleurs de mes voitures sont vives.",
        "Quelle est la couleur de la voiture ?",
    ),
    "dutch": ("De kat is ziek.", "De kleuren van mijn auto's zijn fel.", "Wat is de kleur van mijn auto?"),
    "swedish": ("Katten är sjuk och trött.", "Färgerna på mina bilar är mörka.", "Vad är färgen på min bil?"),
    "russian": (
        "Кошка больна, и это не шутка.",
        "Цвета моих машин яркие, и они новые.",
        "Какой у моей машины цвет и год?",
    ),
    "chinese": ("我的猫是病了的。", "我的汽车颜色是蓝的。", "汽车的颜色是什么？"),
    "japanese": ("私の猫は病気です。", "私の車の色は青です。", "車の色は何ですか？"),
}
"""A text with stop words of the question, the answer in other forms of its words, and the question."""


@pytest.mark.parametrize(
    ("language", "prior"), [*((language, "english") for language in TOLD), ("german", "german"), ("french", "german")]
)
def test_a_text_and_a_query_are_parsed_by_the_language_that_they_are_in(api: Api, language: str, prior: str) -> None:
    api.set_policy(settings={"search": {"language": prior}}, user_id="ana")
    other, answer, question = TOLD[language]
    for content in (other, answer, "The cat is sick, and what was the cause of it?"):
        api.add_memory(user_id="ana", content=content)
        api.add_message(user_id="ana", thread_id="t1", role="user", content=content)
    for sources in (["memory"], ["message"]):
        best = api.search(user_id="ana", query=question, mode="keyword", sources=sources)
        assert best[0].content == answer
        if sources == ["memory"] and language not in ("russian", "japanese"):
            assert len(best) == 1


@pytest.mark.parametrize(("said", "asked"), [("database", "DB"), ("k8s", "kubernetes")])
def test_an_abbreviation_finds_the_word_and_the_word_the_abbreviation(api: Api, said: str, asked: str) -> None:
    api.add_memory(user_id="ana", content=f"The {said} is in Frankfurt")
    api.add_memory(user_id="ana", content="The garden is in Bonn")
    assert [row.content for row in api.search(user_id="ana", query=f"Where is our {asked}?", mode="keyword")] == [
        f"The {said} is in Frankfurt"
    ]


def test_a_busy_row_is_not_waited_for(connect: Callable[..., psycopg.Connection]) -> None:
    api = Api(connect())
    fill(api)
    api.set_policy(settings=GERMAN, user_id="ana")
    job = claim(api, "parse_artifacts")
    other = connect()
    with other.transaction():
        other.execute("update memory.messages set content = 'Häuser und Gärten'")
        with pytest.raises(errors.LockNotAvailable):
            complete(api, job, max_bytes=4000000)
    complete(api, job, max_bytes=4000000)
    assert found(api, "Haus") == ALL_SOURCES
    assert found(api, "Garten") == ["message"]


def test_a_sweep_queues_the_work_of_a_change_that_found_the_job_held(
    connect: Callable[..., psycopg.Connection],
) -> None:
    api, worker = Api(connect()), Api(connect())
    fill(api)
    api.store_artifact(user_id="ana", content="tea", key="tea")
    with worker.connection.transaction():
        complete(worker, claim(worker, "parse_artifacts"), max_bytes=4000000)
        api.set_policy(settings=GERMAN)
    assert "parse_artifacts" not in open_jobs(api)
    assert api.sweep()["queued"] == 1
    assert parse_anew(api) == 1
    assert found(api, "Haus") == ALL_SOURCES


def test_a_change_that_a_worker_holds_up_is_refused_soon(connect: Callable[..., psycopg.Connection]) -> None:
    api, worker = Api(connect(options=NO_WAIT)), Api(connect())
    fill(api)
    api.set_policy(settings=GERMAN, user_id="ana")
    with worker.connection.transaction():
        complete(worker, claim(worker, "parse_artifacts"), max_bytes=4000000)
        with pytest.raises(errors.LockNotAvailable) as refusal:
            api.set_policy(settings=ENGLISH, user_id="ana")
        assert "pg_stat_activity" in str(refusal.value.diag.message_hint)
    api.set_policy(settings=ENGLISH, user_id="ana")
    parse_anew(api)
    assert "haus" not in words(api)
