"""Embedding jobs: when they are queued, and which texts they are given."""

from __future__ import annotations

from typing import Any

import pytest

from tests.embeddings.steps import embed, know, texts
from tests.support.protocol import ANA, activate, age, claim, complete, nothing_to_do, open_jobs, say
from tests.support.sqlapi import Api

# When -----------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("A14")
def test_without_an_embedding_model_nothing_is_queued(api: Api) -> None:
    api.register_model(name="ada", kind="embedding", provider="openai", model="ada-2")
    know(api, "Likes tea")
    say(api, "Hello")
    assert "embed" not in open_jobs(api)


@pytest.mark.feature("E6")
@pytest.mark.parametrize("policy", [{}, {"embed_messages": False}], ids=str)
def test_messages_are_embedded_unless_the_policy_says_no(active: Api, policy: dict[str, Any]) -> None:
    active.set_policy(settings={"search": policy})
    say(active, "Hello", "Goodbye")
    active.add_messages(**ANA, messages=[{"role": "user", "content": "Hello"}] * 3)
    assert open_jobs(active) == ([] if policy else ["embed"])
    know(active, "Likes tea", "Owns a boat")
    assert open_jobs(active) == (["embed"] if policy else ["embed", "embed"])


@pytest.mark.feature("E6")
@pytest.mark.parametrize("kind", ["memory", "summary", "document"])
def test_memories_and_summaries_that_jobs_make_are_embedded(active: Api, kind: str) -> None:
    if kind == "memory":
        say(active, "Hello")
        active.extract_memories(**ANA)
        found = [{"content": "Likes tea", "memory_type": "fact", "seqs": [0]}]
        complete(active, claim(active, "extract_memories"), memories=found)
        expected = "Likes tea"
    elif kind == "summary":
        active.set_policy(settings={"search": {"embed_messages": False}})
        active.talk(**ANA, rounds=1)
        active.summarize_thread(**ANA)
        complete(active, claim(active, "summarize_thread"), summary="They talked.")
        expected = "They talked."
    else:
        know(active, "Bought a boat", "Painted it", memory_type="episodic", source="user")
        embed(active)
        age(active, 8)
        active.consolidate(user_id="ana")
        article = {"title": "The boat", "content": "Bought and painted.", "numbers": [1, 2]}
        complete(active, claim(active, "consolidate"), articles=[article])
        expected = "The boat\nBought and painted."
    jobs = active.claim_jobs(worker="test", kinds=["embed"], max_jobs=10)
    assert expected in [row["text"] for job in jobs for row in job.payload["texts"]]


@pytest.mark.feature("E6")
def test_a_model_that_becomes_active_embeds_the_texts_that_exist(api: Api) -> None:
    for user_id in ("ana", "bob"):
        know(api, "Likes tea", user_id=user_id)
        say(api, "Hello", user_id=user_id)
    say(api, "Hello", thread_id="t2")
    say(api, "Hello", user_id="private")
    api.set_policy(settings={"search": {"embed_messages": False}}, user_id="private")
    activate(api, "ada", "embedding")
    jobs = api.query(
        "select kind, user_id, scope from memory.jobs where kind in ('embed', 'backfill') order by 1, 2, 3"
    )
    assert jobs == [("backfill", user_id, "") for user_id in ("ana", "bob", "private")]
    assert sorted(result["embedded"] for result in embed(api)) == [2, 3]
    activate(api, "ada", "embedding")
    assert embed(api) == []


# What -----------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("E6")
def test_the_payload_brings_the_model_and_texts_under_small_numbers(active: Api) -> None:
    active.register_model(name="ada", kind="embedding", provider="azure", model="ada-2", settings={"batch_size": 7})
    ids = know(active, "Likes tea", "Owns a boat")
    payload = claim(active).payload
    assert payload == {
        "model": {"name": "ada", "provider": "azure", "model": "ada-2", "settings": {"batch_size": 7}},
        "prompt": None,
        "texts": [
            {"number": n, "text": text, "count": True}
            for n, text in enumerate([row["text"] for row in payload["texts"]], 1)
        ],
    }
    assert {row["text"] for row in payload["texts"]} == {"Likes tea", "Owns a boat"}
    assert not any(str(memory_id) in str(payload) for memory_id in ids)


@pytest.mark.feature("E6")
def test_a_message_is_embedded_with_its_date_and_speaker(active: Api) -> None:
    active.connection.execute("set local timezone = 'Asia/Tokyo'; set local datestyle = 'German'")
    say(active, "Hello ☕", created_at="2024-05-01T23:30:00Z")
    say(active, "Hi", role="assistant", created_at="2024-05-02T00:00:00Z", metadata={"name": "Zoë"})
    say(active, "19 degrees", role="tool", created_at="2024-05-02T00:00:01Z")
    assert texts(active) == [
        "[2024-05-01] user: Hello ☕",
        "[2024-05-02] Zoë: Hi",
        "[2024-05-02] tool: 19 degrees",
    ]


@pytest.mark.feature("E6")
@pytest.mark.parametrize(
    ("embedding_text", "expected"),
    [("mail, not phone", "mail, not phone"), (None, "Prefers e-mail"), ("\n\t\u3000", "Prefers e-mail")],
)
def test_a_memory_is_embedded_by_its_embedding_text(active: Api, embedding_text: str | None, expected: str) -> None:
    know(active, "Prefers e-mail", embedding_text=embedding_text)
    assert texts(active) == [expected]


@pytest.mark.feature("E6")
def test_messages_without_words_and_those_that_are_gone_are_not_embedded(active: Api) -> None:
    active.add_messages(**ANA, messages=[{"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}])
    say(active, "over", expires_at="2020-01-01")
    assert nothing_to_do(active, "embed")
    active.clear_thread(**ANA)
    say(active, "Hello")
    assert [text[-5:] for text in texts(active)] == ["Hello"]


@pytest.mark.feature("E6")
@pytest.mark.parametrize(
    ("count", "characters", "parts"),
    [(300, 4, [256, 44]), (7, 24_000, [3, 3, 1])],
)
def test_a_job_embeds_at_most_256_texts_or_60000_tokens_and_the_rest_follows(
    active: Api, count: int, characters: int, parts: list[int]
) -> None:
    """24,000 characters of a text are embedded, which are 18,000 tokens where a character has three bytes."""
    for number in range(count):
        know(active, f"{number} {'☕' * characters}", source="user")
    results = embed(active)
    assert sum(result["embedded"] for result in results) == count
    assert [result["embedded"] for result in results] == parts
    assert open_jobs(active) == []
