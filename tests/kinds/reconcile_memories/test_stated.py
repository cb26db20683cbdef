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
    ("stated", "content", "said", "gives_way"),
    [
        ("Lives in Berlin", "Lives in Munich", "I moved to Munich last week", True),
        ("Lives in Berlin", "Lives in Munich", "Hello", False),
        ("Lives in Berlin", "Lives in Munich", "Berlin is where I live", False),
        ("Allergic to penicillin", "Not allergic to penicillin", "I am not allergic to penicillin after all", True),
        ("Allergic to penicillin", "Not allergic to penicillin", "Is there penicillin in this?", False),
        ("Allergic to penicillin", "Not allergic to penicillin", "No, thanks", False),
        ("Allergic to penicillin", "Not allergic to anything", "I am not allergic to anything", False),
        ("Is 30 years old", "Is 31 years old", "It is my birthday, I am 31 now", True),
        ("Is 30 years old", "Is 31 years old", "It is my birthday after all these years", False),
    ],
)
def test_a_stated_fact_is_hidden_by_newer_words_of_the_user(
    api: Api, stated: str, content: str, said: str, gives_way: bool
) -> None:
    stated_before(api, stated)
    extracted(api, content, said)
    outcome = reconcile(api, None, ((stated, content),))
    if content == "Not allergic to anything":  # they share no word that tells what they are about
        assert outcome == counts(kept=2, refused=1)
        return
    assert outcome == counts(kept=1, contradicted=1)
    hidden = {stated: ("contradict", content)} if gives_way else {content: ("stated", stated)}
    assert superseded(api) == hidden


@pytest.mark.feature("E10")
@pytest.mark.parametrize(
    "case", ["older words", "the assistant's", "recalled", "gone", "another thread", "no evidence", "stated for later"]
)
def test_words_that_are_not_the_users_or_not_newer_hide_nothing_that_was_stated(api: Api, case: str) -> None:
    said, stated = "I moved to Munich", "Lives in Berlin"
    if case != "older words":
        stated_before(api, stated, **({"valid_from": "2090-01-01"} if case == "stated for later" else {}))
    match case:
        case "recalled":
            memory_id = extracted(api, "Lives in Munich", said, metadata={"x": 1})
            api.connection.execute("""update memory.messages set metadata = '{"recalled": true}'""")
        case "the assistant's":
            memory_id = extracted(api, "Lives in Munich", said, role="assistant")
        case _:
            memory_id = extracted(api, "Lives in Munich", said)
    match case:
        case "older words":
            know(api, stated)
            api.update_memory(user_id="ana", memory_id=memory_id, importance=1)
            api.connection.execute("update memory.memories set said_at = '2090-01-01' where content ~ 'Munich'")
            api.connection.execute("update memory.messages set created_at = created_at - interval '1 hour'")
        case "gone":
            api.connection.execute("delete from memory.messages")
        case "another thread":
            api.connection.execute("update memory.memories set thread_id = 't2' where source = 'extraction'")
        case "no evidence":
            api.connection.execute("update memory.memories set source_seqs = null")
        case "stated for later":
            api.connection.execute("update memory.memories set said_at = '2091-01-01' where content ~ 'Munich'")
    assert reconcile(api, None, ((stated, "Lives in Munich"),)) == counts(kept=1, contradicted=1)
    assert superseded(api) == {"Lives in Munich": ("stated", stated)}


@pytest.mark.feature("E10", "E11")
def test_what_gave_way_to_a_stated_fact_stays_hidden_and_comes_back(api: Api) -> None:
    """The built-in model looks at it again with each of its jobs."""
    stated_before(api, "I live in Berlin.")
    memory_id = extracted(api, "I live in Munich.", "She lives in Munich", role="assistant")
    for contradicted in (1, 0):
        job = claimed(api)
        outcome = complete(api, job, **run("reconcile_memories", job.payload))
        assert outcome == counts(kept=1, contradicted=contradicted)
        assert superseded(api) == {"I live in Munich.": ("stated", "I live in Berlin.")}
    assert api.get_memory(user_id="ana", memory_id=memory_id).version == 2
    api.restore_memory(user_id="ana", memory_id=memory_id)
    assert current(api) == ["I live in Berlin.", "I live in Munich."]


@pytest.mark.feature("E10")
def test_a_stated_fact_is_merged_only_into_a_stated_fact(api: Api) -> None:
    stated_before(api, "Likes tea")
    extracted(api, "Likes green tea", "I like green tea")
    pair = ("Likes tea", "Likes green tea")
    assert reconcile(api, {pair: "Likes green tea"}) == counts(kept=2, refused=1)
    know(api, "Likes tea in the morning")
    pair = ("Likes tea", "Likes tea in the morning")
    assert reconcile(api, {pair: "Likes tea in the morning"})["merged"] == 1
    # Nor in steps: what hides a stated memory was stated itself.
    pair = ("Likes tea in the morning", "Likes green tea")
    reconcile(api, None, (pair,))
    assert current(api) == ["Likes tea in the morning"]


@pytest.mark.feature("E10")
def test_an_extracted_memory_whose_text_somebody_changed_counts_as_stated(api: Api) -> None:
    extracted_ids = know(api, "Lives in Bern", "Lives in Munich", source="extraction")
    api.update_memory(user_id="ana", memory_id=extracted_ids[0], importance=1)
    api.update_memory(user_id="ana", memory_id=extracted_ids[0], content="Lives in Berlin")
    # Whoever changed the text said so later than the other memory was drawn from a conversation.
    reconcile(api, None, (("Lives in Berlin", "Lives in Munich"),))
    assert current(api) == ["Lives in Berlin"]


@pytest.mark.feature("E10")
@pytest.mark.parametrize(("source", "is_stated"), [("user", True), ("import", True), ("extraction", False)])
def test_an_extracted_memory_that_somebody_states_counts_as_stated(api: Api, source: str, is_stated: bool) -> None:
    [first, _] = know(api, "Lives in Berlin", "Lives in Munich", source="extraction")
    stored = api.add_memory(user_id="ana", content="lives in  Berlin", source=source)
    assert (stored.memory_id, stored.inserted) == (first, False)
    assert api.value("select is_stated from memory.memories where content ~ 'Berlin'") == is_stated
    reconcile(api, None, (("Lives in Berlin", "Lives in Munich"),))
    assert current(api) == ["Lives in Berlin"]  # which was said last
    assert api.value("select duplicates_skipped from memory.memory_scopes") == 1


@pytest.mark.feature("E10")
def test_the_built_in_model_says_what_may_be_done(api: Api) -> None:
    known = ["I'm a nurse.", "I like tea.", "I live in Lisbon.", "My name is Bea.", "I am 34 years old."]
    known += ["I am a  NURSE!", "I really like tea", "I live in Rome.", "My name's Ana", "I'm 35 years old"]
    know(api, *known)
    job = claimed(api)
    assert complete(api, job, **run("reconcile_memories", job.payload)) == counts(kept=5, merged=2, contradicted=3)
    assert current(api) == known[5:]


@pytest.mark.feature("E10")
@pytest.mark.parametrize(
    ("sources", "is_stated"),
    [
        (["extraction", "extraction"], False),
        (["extraction", "user"], True),
        (["extraction", "import"], True),
        ([], True),
    ],
)
def test_a_memory_that_a_former_version_merged_counts_as_stated_when_one_of_its_sources_was(
    api: Api, sources: list[str], is_stated: bool
) -> None:
    ids = [know(api, f"Home {number}", source=source)[0] for number, source in enumerate(sources)]
    merged = know(api, "Lives in Berlin", source="reconciliation", metadata={"merged_from": [str(i) for i in ids]})
    metadata = {"merged_from": [str(merged[0])]}
    again = know(api, "Lives in Berlin, Germany", source="reconciliation", metadata=metadata)
    know(api, "Lives in Munich", source="extraction")
    for memory_id in (merged[0], again[0]):
        row = "select memory._is_stated(m) from memory.memories as m where memory_id = %(id)s"
        assert api.value(row, id=memory_id) == is_stated
    reconcile(api, None, (("Lives in Berlin", "Lives in Munich"),))
    stays, hidden = ("Lives in Berlin", "Lives in Munich")[:: 1 if is_stated else -1]
    assert superseded(api)[hidden] == ("stated" if is_stated else "contradict", stays)


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
    sets = [{"numbers": everything, "content": facts[-1]}] * 50
    before = api.state()["memories"]
    read = api.entries_read(lambda: complete(api, job, duplicates=sets, contradictions=[]))
    assert api.state()["memories"] == before
    assert api.get_job(user_id="ana", job_id=job.job_id).result == counts(kept=50, refused=50)
    assert read < 5000
