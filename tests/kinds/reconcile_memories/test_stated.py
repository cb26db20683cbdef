"""Reconciliation of memories that a user stated: they win, unless newer words of the user say something else."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.kinds.facts import claimed, counts, current, know, reconcile, superseded
from tests.support.model_payloads import run
from tests.support.protocol import ANA, claim, complete, say
from tests.support.sqlapi import Api


def extracted(api: Api, content: str, *said: str, role: str = "user", **arguments: Any) -> UUID:
    """The id of a memory that was extracted from what is said now."""
    api.set_policy(settings={"extraction": {"from_roles": ["user", "assistant"]}})
    seqs = say(api, *said, role=role, **arguments)
    api.extract_memories(**ANA)
    found = [{"content": content, "memory_type": "fact", "seqs": seqs}]
    complete(api, claim(api, "extract_memories"), memories=found)
    [row] = [row for row in api.list_memories(user_id="ana") if row.content == content]
    memory_id: UUID = row.memory_id
    return memory_id


def stated_before(api: Api, content: str, **arguments: Any) -> UUID:
    """The id of a memory that the user stated an hour ago."""
    [memory_id] = know(api, content, **arguments)
    api.connection.execute("update memory.memories set created_at = created_at - interval '1 hour'")
    return memory_id


@pytest.mark.feature("E10")
@pytest.mark.parametrize(
    ("stated", "content", "said"),
    [
        ("Lives in Berlin", "Lives in Munich", "I moved to Munich last week"),
        ("Allergic to penicillin", "Not allergic to anything", "I am not allergic to anything"),
        ("Is 30 years old", "Is 31 years old", "It is my birthday, I am 31 now"),
    ],
)
def test_a_stated_fact_is_hidden_by_newer_words_of_the_user(api: Api, stated: str, content: str, said: str) -> None:
    stated_before(api, stated)
    extracted(api, content, said)
    assert reconcile(api, (), ((stated, content),)) == counts(kept=1, contradicted=1)
    assert superseded(api) == {stated: ("replaced", content)}


@pytest.mark.feature("E10")
@pytest.mark.parametrize("case", ["the assistant's", "recalled", "gone", "another thread", "no evidence"])
def test_words_that_are_not_the_users_hide_nothing_that_was_stated(api: Api, case: str) -> None:
    stated = "Lives in Berlin"
    stated_before(api, stated)
    extracted(api, "Lives in Munich", "I moved to Munich", role="assistant" if case == "the assistant's" else "user")
    match case:
        case "recalled":
            api.connection.execute("""update memory.messages set metadata = '{"recalled": true}'""")
        case "gone":
            api.connection.execute("delete from memory.messages")
        case "another thread":
            api.connection.execute("update memory.memories set thread_id = 't2' where source = 'extraction'")
        case "no evidence":
            api.connection.execute("update memory.memories set source_seqs = null")
    assert reconcile(api, (), ((stated, "Lives in Munich"),)) == counts(kept=1, contradicted=1)
    assert superseded(api) == {"Lives in Munich": ("stated", stated)}


@pytest.mark.feature("E10", "E11")
def test_what_gave_way_to_a_stated_fact_was_never_true_and_comes_back(api: Api) -> None:
    stated_before(api, "I live in Berlin.")
    memory_id = extracted(api, "I live in Munich.", "She lives in Munich", role="assistant")
    then = api.value("select clock_timestamp()")
    job = claimed(api)
    assert complete(api, job, **run("reconcile_memories", job.payload)) == counts(kept=1, contradicted=1)
    assert current(api, as_of=then) == ["I live in Berlin."]
    api.restore_memory(user_id="ana", memory_id=memory_id)
    assert current(api) == ["I live in Berlin.", "I live in Munich."]


@pytest.mark.feature("E10")
def test_a_stated_fact_is_merged_only_into_a_stated_fact(api: Api) -> None:
    stated_before(api, "Likes tea")
    extracted(api, "Likes green tea", "I like green tea")
    pair = ("Likes tea", "Likes green tea")
    assert reconcile(api, (pair,)) == counts(kept=2, refused=1)
    know(api, "Likes tea in the morning")
    pair = ("Likes tea", "Likes tea in the morning")
    assert reconcile(api, (pair,))["merged"] == 1
    # Nor in steps: what hides a stated memory was stated itself.
    pair = ("Likes tea in the morning", "Likes green tea")
    reconcile(api, (), (pair,))
    assert current(api) == ["Likes tea in the morning"]


@pytest.mark.feature("E10")
@pytest.mark.parametrize(("source", "is_stated"), [("user", True), ("import", True), ("extraction", False)])
def test_an_extracted_memory_that_somebody_states_counts_as_stated(api: Api, source: str, is_stated: bool) -> None:
    [first, _] = know(api, "Lives in Berlin", "Lives in Munich", source="extraction")
    stored = api.add_memory(user_id="ana", content="lives in  Berlin", source=source)
    assert (stored.memory_id, stored.inserted) == (first, False)
    assert api.value("select is_stated from memory.memories where content ~ 'Berlin'") == is_stated
    reconcile(api, (), (("Lives in Berlin", "Lives in Munich"),))
    assert current(api) == ["Lives in Berlin"]  # which was said last
    assert api.value("select duplicates_skipped from memory.memory_scopes") == 1


@pytest.mark.usefixtures("db")
@pytest.mark.feature("E10")
def test_every_fact_in_one_set_and_every_number_in_many_sets(api: Api) -> None:
    """What a hostile reply costs depends on the number of facts, not on the length of the reply."""
    facts = [
        f"{word} and things of kind {kind}" for kind, word in enumerate(["Tea", "Boats", "Rome", "Oslo", "Cats"] * 10)
    ]
    know(api, *facts)
    job = claimed(api)
    everything = list(range(1, 51))
    sets = [{"numbers": everything}] * 50
    before = api.state()["memories"]
    read = api.entries_read(lambda: complete(api, job, duplicates=sets, contradictions=[]))
    assert api.state()["memories"] == before
    assert api.get_job(user_id="ana", job_id=job.job_id).result == counts(kept=50, refused=50)
    assert read < 5000
