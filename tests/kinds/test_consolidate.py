"""Consolidation: old short-term memories become articles."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kinds.facts import assert_counter_is_exact, consolidated, current, know, short_term
from tests.support.protocol import claim, complete, lease, nothing_to_do, open_jobs
from tests.support.sqlapi import Api, refused


@pytest.mark.feature("C14")
def test_a_model_sees_old_short_term_memories_oldest_first_and_no_ids(api: Api) -> None:
    ids = short_term(api, "Is looking for a boat", "Bought a boat", "Painted the boat")
    know(api, "Sailed to Rome", memory_type="episodic")
    know(api, "Owns a boat")
    api.consolidate(user_id="ana")
    payload = claim(api).payload
    assert [(m["number"], m["content"], m["memory_type"]) for m in payload["memories"]] == [
        (1, "Is looking for a boat", "context"),
        (2, "Bought a boat", "episodic"),
        (3, "Painted the boat", "context"),
    ]
    assert not any(str(memory_id) in str(payload) for memory_id in ids)


@pytest.mark.feature("C14", "F2")
def test_an_article_names_its_sources_and_takes_their_place(api: Api) -> None:
    ids = short_term(api, "Is looking for a boat", "Bought a boat", "Rain")
    text = "Ana looked for a boat ☕ and bought one."
    outcome = consolidated(api, ("The boat", text, ("Bought a boat", "Is looking for a boat")))
    assert outcome == {"articles": 1, "consolidated": 2, "refused": 0}
    [article] = api.list_documents(user_id="ana", namespace="memories", doc_type="article")
    assert (article.title, article.content) == ("The boat", text)
    assert sorted(article.metadata["memory_ids"]) == sorted(map(str, ids[:2]))
    assert current(api) == ["Rain"]
    for memory_id in ids[:2]:
        source = api.get_memory(user_id="ana", memory_id=memory_id)
        assert (source.supersede_reason, source.superseded_by) == ("consolidated", article.document_id)
    [hit] = api.search(user_id="ana", query="boat")
    assert (hit.source, hit.id) == ("document", str(article.document_id))
    assert_counter_is_exact(api)


@pytest.mark.feature("C14")
def test_an_article_hides_nothing_that_was_stated(api: Api) -> None:
    short_term(api, "Allergic to penicillin", source="user")
    short_term(api, "Is travelling in May", "Has a fever")
    found = ("Allergic to penicillin", "Is travelling in May")
    assert consolidated(api, ("Health", "Not allergic to anything.", found)) == {
        "articles": 1,
        "consolidated": 1,
        "refused": 0,
    }
    assert current(api) == ["Allergic to penicillin", "Has a fever"]
    assert_counter_is_exact(api)
    # Nor is a second article made of it, unless the first one is gone.
    api.consolidate(user_id="ana")
    assert nothing_to_do(api)
    api.delete_document(user_id="ana", document_id=api.list_documents(user_id="ana")[0].document_id)
    api.consolidate(user_id="ana")
    assert "Allergic to penicillin" in [memory["content"] for memory in claim(api).payload["memories"]]


@pytest.mark.feature("C14")
def test_a_memory_goes_into_one_article_and_can_be_restored(api: Api) -> None:
    ids = short_term(api, "a", "b", "c")
    outcome = consolidated(api, ("ab", "a and b", ("a", "b")), ("bc", "b and c", ("b", "c")))
    assert outcome == {"articles": 1, "consolidated": 2, "refused": 1}
    assert current(api) == ["c"]
    api.restore_memory(user_id="ana", memory_id=ids[0])
    assert current(api) == ["a", "c"]
    assert_counter_is_exact(api)


@pytest.mark.feature("C14")
@pytest.mark.parametrize("meanwhile", ["changed", "deleted"])
def test_an_article_of_memories_that_changed_meanwhile_is_refused_and_counted(api: Api, meanwhile: str) -> None:
    ids = short_term(api, "a", "b")
    api.consolidate(user_id="ana")
    job = claim(api)
    if meanwhile == "changed":
        api.update_memory(user_id="ana", memory_id=ids[0], content="changed")
    else:
        api.delete_memory(user_id="ana", memory_id=ids[0])
    outcome = consolidated(api, ("ab", "a and b", ("a", "b")), job=job)
    assert outcome == {"articles": 0, "consolidated": 0, "refused": 1}
    assert api.list_documents(user_id="ana") == []
    assert "b" in current(api)


ARTICLE = {"title": "ab", "content": "a and b", "numbers": [1, 2]}


MALFORMED: list[Any] = [
    "ab",
    None,
    {**ARTICLE, "title": None},
    {**ARTICLE, "title": " "},
    {**ARTICLE, "title": "☕" * 400},
    {**ARTICLE, "content": ""},
    {**ARTICLE, "content": "☕" * 100_000},
    {**ARTICLE, "numbers": [1]},
    {**ARTICLE, "numbers": [1, 1.0]},
    {**ARTICLE, "numbers": [1, 99]},
    {**ARTICLE, "numbers": None},
    {"title": "ab", "content": "a and b"},
]


@pytest.mark.feature("C14", "F6")
def test_malformed_articles_are_refused_and_the_others_stay(api: Api) -> None:
    short_term(api, *[f"memory {number}" for number in range(len(MALFORMED) + 1)])  # no more articles are read
    api.consolidate(user_id="ana")
    job = claim(api)
    before = api.state()
    for result in ({"articles": MALFORMED}, {"articles": "ab"}, {}):
        with refused("result"):
            api.complete_job(**lease(job), result=result)
    assert api.state() == before
    outcome = complete(api, job, articles=[*MALFORMED, ARTICLE])
    assert (outcome["articles"], outcome["refusals"]) == (1, {"malformed": len(MALFORMED)})


@pytest.mark.feature("C14")
def test_a_sweep_queues_consolidation_when_ten_memories_are_a_week_old(api: Api) -> None:
    short_term(api, *[f"memory {number}" for number in range(9)])
    know(api, *[f"young {number}" for number in range(9)], memory_type="context")
    assert (api.sweep()["queued"], open_jobs(api)) == (0, [])
    short_term(api, "memory 9", user_id="ana")
    assert (api.sweep()["queued"], open_jobs(api)) == (1, ["consolidate"])
    assert (api.sweep()["queued"], open_jobs(api)) == (0, ["consolidate"])


@pytest.mark.feature("C14")
def test_memories_that_were_looked_at_do_not_queue_consolidation_again(api: Api) -> None:
    short_term(api, *[f"memory {number}" for number in range(12)])
    api.sweep()
    consolidated(api, job=claim(api))
    later = (
        "insert into memory.memories (user_id, content, memory_type, created_at)"
        " select 'ana', 'later ' || n, 'context', (select max(created_at) + interval '1 second' from memory.memories)"
        " from generate_series(%s::int, %s::int) as n"
    )
    for numbers, queued in (((1, 9), 0), ((10, 10), 1)):
        api.connection.execute(later, numbers)
        assert api.sweep()["queued"] == queued
    assert len(claim(api).payload["memories"]) == 22


@pytest.mark.feature("C14")
def test_memories_that_belong_nowhere_do_not_hide_the_newer_ones(api: Api) -> None:
    short_term(api, *[f"odd {number}" for number in range(120)])
    seen: set[str] = set()
    for turn in range(3):
        know(api, *[f"{turn} new {number}" for number in range(10)], memory_type="context")
        api.connection.execute(
            "update memory.memories set created_at = now() - interval '8 days' + %s * interval '1 hour' "
            "where content like %s",
            [turn + 1, f"{turn} new%"],
        )
        if api.sweep()["queued"]:
            job = claim(api, "consolidate")
            seen |= {memory["content"] for memory in job.payload["memories"]}
            consolidated(api, job=job)
    assert {f"{turn} new {number}" for turn in range(3) for number in range(10)} <= seen
