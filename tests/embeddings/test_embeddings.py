"""Embedding jobs: when they are queued, what they are given, which vectors are stored, and near-duplicates."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from tests.support.protocol import ANA, activate, age, claim, complete, lease, make_due, nothing_to_do, open_jobs, say
from tests.support.sqlapi import Api, refused, rolled_back, wide_text

Vector = list[float]
EAST, NEARLY_EAST, NORTH_EAST = [1.0, 0.0, 0.0], [1.0, 0.1, 0.0], [1.0, 1.0, 0.0]


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    with rolled_back(shared_api) as api:
        api.connection.execute("set local statement_timeout = '30s'")
        yield api


@pytest.fixture
def active(api: Api) -> Api:
    """With an active embedding model and no other model work."""
    activate(api, "ada", "embedding")
    api.set_policy(settings={"cadence": {"fact_extraction_every_n": 0}, "summary": {"enabled": False}})
    return api


def know(api: Api, *contents: str, **arguments: Any) -> list[UUID]:
    """Store memories as if they were extracted, one after the other; their ids."""
    arguments = {"user_id": "ana", "source": "extraction", **arguments}
    return [api.add_memory(content=content, **arguments).memory_id for content in contents]


def hand_in(api: Api, job: Any, vectors: dict[str, Vector] | None = None) -> Any:
    """Embed the texts of a job, those without a vector of their own as EAST; the job's result."""
    texts = [row["text"] for row in job.payload["texts"]]
    return complete(api, job, embeddings=[(vectors or {}).get(text, EAST) for text in texts])


def embed(api: Api, vectors: dict[str, Vector] | None = None) -> list[Any]:
    """Do all the embedding there is to do; the jobs' results."""
    results = []
    while jobs := api.claim_jobs(worker="test", kinds=["embed", "backfill"]):
        results.append(hand_in(api, jobs[0], vectors))
    return results


def embedded(api: Api) -> dict[str, str]:
    """The id and the vector of everything that is embedded."""
    return {row.id: str(row.embedding) for row in api.query("select id, embedding::text from memory.embeddings")}


def texts(api: Api) -> list[str]:
    """What the one embedding job is given."""
    payload = claim(api, "embed").payload
    assert [row["number"] for row in payload["texts"]] == list(range(1, len(payload["texts"]) + 1))
    return [row["text"] for row in payload["texts"]]


def current(api: Api) -> list[str]:
    """Memories that readers see, oldest first."""
    return [row.content for row in reversed(api.list_memories(user_id="ana"))]


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
def test_what_jobs_derive_is_embedded(active: Api, kind: str) -> None:
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
def test_a_model_that_becomes_active_embeds_what_there_is(api: Api) -> None:
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


@pytest.mark.feature("E6")
def test_another_model_embeds_everything_again_and_leaves_the_old_ones(active: Api) -> None:
    know(active, "Likes tea")
    embed(active)
    activate(active, "new", "embedding")
    embed(active, {"Likes tea": [0.0, 1.0]})
    rows = active.query("select model, embedding::text from memory.embeddings order by model")
    assert rows == [("ada", "[1,0,0]"), ("new", "[0,1]")]


@pytest.mark.feature("E6")
def test_a_job_of_the_model_before_stores_what_it_made_and_the_next_model_follows(active: Api) -> None:
    know(active, "Likes tea")
    job = claim(active)
    activate(active, "new", "embedding")
    hand_in(active, job)
    assert active.query("select model from memory.embeddings") == [("ada",)]
    assert claim(active, "backfill").payload["model"]["name"] == "new"


@pytest.mark.feature("E6", "A14")
def test_search_by_keyword_finds_what_is_not_embedded_yet(active: Api) -> None:
    know(active, "Likes tea")
    say(active, "The boat is red")
    assert [hit.content for hit in active.search(user_id="ana", query="tea")] == ["Likes tea"]
    hits = active.search(user_id="ana", query="boat", sources=["message"])
    assert [hit.content for hit in hits] == ["The boat is red"]


# What -----------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("E6")
def test_the_payload_brings_the_model_and_texts_under_small_numbers(active: Api) -> None:
    active.register_model(name="ada", kind="embedding", provider="azure", model="ada-2", settings={"batch_size": 7})
    ids = know(active, "Likes tea", "Owns a boat")
    payload = claim(active).payload
    assert payload == {
        "model": {"name": "ada", "provider": "azure", "model": "ada-2", "settings": {"batch_size": 7}},
        "prompt": None,
        "texts": [{"number": n, "text": text} for n, text in enumerate([row["text"] for row in payload["texts"]], 1)],
    }
    assert {row["text"] for row in payload["texts"]} == {"Likes tea", "Owns a boat"}
    assert not any(str(memory_id) in str(payload) for memory_id in ids)


@pytest.mark.feature("E6")
@pytest.mark.parametrize("time_zone", ["UTC", "Asia/Tokyo"])
def test_a_message_is_embedded_with_its_date_and_speaker(active: Api, time_zone: str) -> None:
    active.connection.execute(f"set local timezone = '{time_zone}'; set local datestyle = 'German'")
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
    ("embedding_text", "expected"), [("mail, not phone", "mail, not phone"), (None, "Prefers e-mail")]
)
def test_a_memory_is_embedded_by_the_text_it_has_for_that(
    active: Api, embedding_text: str | None, expected: str
) -> None:
    know(active, "Prefers e-mail", embedding_text=embedding_text)
    assert texts(active) == [expected]


@pytest.mark.feature("E6")
@pytest.mark.parametrize("blank", ["", " ", "\n\t\u3000"])
def test_no_provider_is_asked_to_embed_nothing(active: Api, blank: str) -> None:
    know(active, "Likes tea", embedding_text=blank)
    assert texts(active) == ["Likes tea"]


@pytest.mark.feature("E6")
def test_messages_without_words_and_those_that_are_gone_are_not_embedded(active: Api) -> None:
    active.add_messages(**ANA, messages=[{"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}])
    say(active, "over", expires_at="2020-01-01")
    assert nothing_to_do(active, "embed")
    active.clear_thread(**ANA)
    say(active, "Hello")
    assert [text[-5:] for text in texts(active)] == ["Hello"]


@pytest.mark.feature("E6")
def test_memories_that_are_not_current_are_not_embedded(active: Api) -> None:
    deleted, over, old, new = know(active, "deleted", "over", "old", "new")
    active.delete_memory(user_id="ana", memory_id=deleted)
    active.update_memory(user_id="ana", memory_id=over, expires_at="2020-01-01")
    active.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="newer")
    assert texts(active) == ["new"]


@pytest.mark.feature("E6")
def test_long_texts_are_cut_to_what_models_read(active: Api) -> None:
    text = wide_text(50_000)
    know(active, text)
    assert texts(active) == [text[:24_000]]


@pytest.mark.feature("E6")
@pytest.mark.parametrize(
    ("count", "characters", "parts"),
    [(600, 4, [256, 256, 88]), (256, 4, [256]), (7, 24_000, [3, 3, 1]), (4, 80_000, [3, 1])],
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


# Vectors --------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("E6")
def test_each_text_gets_its_own_vector(active: Api) -> None:
    tea, boat = know(active, "Likes tea", "Owns a boat")
    assert embed(active, {"Owns a boat": [0.5, -0.25, 0.125]}) == [{"model": "ada", "embedded": 2, "folded": 0}]
    assert embedded(active) == {str(tea): "[1,0,0]", str(boat): "[0.5,-0.25,0.125]"}
    say(active, "Hello", thread_id="a/7")
    embed(active)
    assert "a/7/0" in embedded(active)


MALFORMED: dict[str, Any] = {
    "nothing": {},
    "null": {"embeddings": None},
    "an object": {"embeddings": {"0": EAST}},
    "none": {"embeddings": []},
    "too few": {"embeddings": [EAST]},
    "too many": {"embeddings": [EAST] * 3},
    "no vector": {"embeddings": [EAST, None]},
    "a text": {"embeddings": [EAST, "[1,0,0]"]},
    "a number": {"embeddings": [1, 2]},
    "a first that is no vector": {"embeddings": [{}, EAST]},
    "empty vectors": {"embeddings": [[], []]},
    "a shorter one": {"embeddings": [EAST, [1.0, 0.0]]},
    "a longer one": {"embeddings": [EAST, [*EAST, 0.0]]},
    "NaN as text": {"embeddings": [EAST, [1.0, 0.0, "NaN"]]},
    "a null in it": {"embeddings": [EAST, [1.0, 0.0, None]]},
    "a truth in it": {"embeddings": [EAST, [1.0, 0.0, True]]},
    "a vector in it": {"embeddings": [EAST, [1.0, 0.0, [0.0]]]},
    "endless": {"embeddings": [EAST, [1.0, 0.0, 10**400]]},
    "more than a half holds": {"embeddings": [EAST, [1.0, 0.0, -65_520.0]]},
    "too many dimensions": {"embeddings": [[1.0] * 4001] * 2},
    "zeros": {"embeddings": [EAST, [0.0, 0.0, 0.0]]},
    "zeros in a half": {"embeddings": [[2.0**-25, -1e-9, 1e-320], EAST]},
}


@pytest.mark.feature("E6", "F6")
@pytest.mark.parametrize("malformed", MALFORMED)
def test_malformed_embeddings_are_refused_whole(active: Api, malformed: str) -> None:
    know(active, "Likes tea", "Owns a boat")
    job = claim(active)
    before = active.state()
    with refused("result"):
        active.complete_job(**lease(job), result=Jsonb(MALFORMED[malformed]))
    assert active.state() == before


@pytest.mark.feature("E6", "F20")
@pytest.mark.parametrize("number", ["0", "-0", "1e-9", "NaN", "Infinity", "1e9"])
@pytest.mark.parametrize("table", ["embeddings", "query_embeddings"])
def test_no_way_leads_an_embedding_without_direction_into_a_table(active: Api, table: str, number: str) -> None:
    columns = {"embeddings": "source, id", "query_embeddings": "query_hash"}[table]
    values = {"embeddings": "'summary', 'x'", "query_embeddings": "'x'"}[table]
    insert = (
        f"insert into memory.{table} (user_id, model, {columns}, embedding) values ('ana', 'ada', {values}, %(vector)s)"
    )
    active.query(f"{insert} returning 1", vector="[1,0]")
    change = f"update memory.{table} set embedding = %(vector)s returning 1"
    for statement in (f"{insert.replace('ana', 'bob')} returning 1", change):
        with pytest.raises((psycopg.errors.CheckViolation, psycopg.DataError)):
            active.query(statement, vector=f"[{number},{number}]")


@pytest.mark.feature("E6")
def test_the_smallest_direction_can_be_stored(active: Api) -> None:
    know(active, "Likes tea")
    embed(active, {"Likes tea": [0.0, -1.001 * 2.0**-25, 0.0]})
    assert len(embedded(active)) == 1


@pytest.mark.feature("E6")
@pytest.mark.parametrize("value", [1e-7, 1e-50, -1e-320, 10**-9, 65_000, 0])
def test_extreme_numbers_can_be_stored(active: Api, value: float) -> None:
    know(active, "Likes tea")
    embed(active, {"Likes tea": [1.0, value, 0.0]})
    assert len(embedded(active)) == 1


@pytest.mark.feature("E6")
@pytest.mark.parametrize("dimensions", [1, 1536, 4000])
def test_as_many_dimensions_as_a_page_holds_can_be_stored(active: Api, dimensions: int) -> None:
    know(active, "Likes tea")
    embed(active, {"Likes tea": [0.1234567] * dimensions})
    assert len(next(iter(embedded(active).values())).split(",")) == dimensions


@pytest.mark.feature("E6")
@pytest.mark.parametrize("settings", [{}, {"dimensions": None}], ids=str)
def test_the_first_embedding_decides_on_the_dimensions(active: Api, settings: dict[str, Any]) -> None:
    activate(active, "ada", "embedding", **settings)
    know(active, "Likes tea")
    embed(active)
    know(active, "Owns a boat")
    job = claim(active)
    # Not all models can be asked for a number of dimensions.
    assert job.payload["model"]["settings"] == settings
    with refused("result"):
        active.complete_job(**lease(job), result={"embeddings": [[1.0, 0.0]]})


@pytest.mark.feature("E6")
@pytest.mark.parametrize("settings", [{}, {"timeout_seconds": 9}, {"dimensions": 3}], ids=str)
def test_the_dimensions_stay_decided_while_it_is_the_same_model(active: Api, settings: dict[str, Any]) -> None:
    know(active, "Likes tea")
    embed(active)
    active.register_model(name="ada", kind="embedding", provider="openai", model="ada-1", settings=settings)
    know(active, "Owns a boat")
    job = claim(active, "embed")
    accepted = set()
    for length in (2, 3):
        with active.connection.transaction(force_rollback=True), contextlib.suppress(errors.InvalidParameterValue):
            complete(active, job, embeddings=[[1.0] * length])
            accepted.add(length)
    assert accepted == {3}


@pytest.mark.feature("E6")
@pytest.mark.parametrize("change", [{"settings": {"dimensions": 2}}, {"model": "ada-3"}], ids=str)
def test_another_model_needs_another_name_once_there_are_embeddings(active: Api, change: dict[str, Any]) -> None:
    other = {"name": "ada", "kind": "embedding", "provider": "openai", "model": "ada-1", **change}
    active.register_model(**other)
    active.register_model(name="ada", kind="embedding", provider="openai", model="ada-1")
    know(active, "Likes tea")
    embed(active)
    with refused("name", "23505"):
        active.register_model(**other)


@pytest.mark.feature("E6")
@pytest.mark.parametrize(
    ("first", "then", "is_the_same"),
    [
        ({"dimensions": 3}, {"dimensions": 3, "batch_size": 9}, True),
        ({"dimensions": 3}, {}, False),  # whatever the provider's default is
        ({"dimensions": 3}, {"dimensions": None}, False),
        ({}, {"dimensions": 3}, True),
        ({}, {"dimensions": 5}, False),
    ],
    ids=str,
)
def test_what_a_model_has_embedded_stays_as_long_as_it_is(
    active: Api, first: dict[str, Any], then: dict[str, Any], is_the_same: bool
) -> None:
    registered = {"name": "ada", "kind": "embedding", "provider": "openai", "model": "ada-1"}
    active.register_model(**registered, settings=first)
    know(active, "Likes tea")
    embed(active)
    with contextlib.nullcontext() if is_the_same else refused("name", "23505"):
        active.register_model(**registered, settings=then)
    with refused("name", "23505"):
        active.register_model(**registered, settings={"dimensions": 5})
    know(active, "Owns a boat")
    with refused("result"):
        active.complete_job(**lease(claim(active, "embed")), result={"embeddings": [[1.0] * 5]})


@pytest.mark.feature("E6")
def test_a_job_of_a_model_as_it_was_registered_before_stores_nothing(active: Api) -> None:
    activate(active, "ada", "embedding", dimensions=3)
    know(active, "Likes tea")
    job = claim(active)
    activate(active, "ada", "embedding")
    assert hand_in(active, job) == {"skipped": "the model was dropped or replaced meanwhile"}
    assert embedded(active) == {}


@pytest.mark.feature("E6", "E14")
def test_of_two_first_results_of_a_model_one_decides_on_the_dimensions(
    connect: Callable[..., psycopg.Connection],
) -> None:
    first, second = Api(connect()), Api(connect())
    activate(first, "ada", "embedding")
    for user_id in ("ana", "bob"):
        know(first, "Likes tea", user_id=user_id)
    jobs = first.claim_jobs(worker="test", kinds=["embed"], max_jobs=2)
    with ThreadPoolExecutor(1) as pool:
        with first.connection.transaction():
            complete(first, jobs[0], embeddings=[[1.0] * 3])
            late = pool.submit(complete, second, jobs[1], embeddings=[[1.0] * 5])
            with pytest.raises(FutureTimeoutError):
                late.result(0.2)
        with refused("result"):
            late.result(10)
    assert complete(second, jobs[1], embeddings=[[1.0] * 3])["embedded"] == 1


@pytest.mark.feature("E6")
@pytest.mark.parametrize("dimensions", ["3", "3.0", "3e0"])
def test_an_embedding_has_the_registered_dimensions(active: Api, dimensions: str) -> None:
    active.query(
        f"""select memory.register_model('ada', 'embedding', 'openai', 'a', '{{"dimensions": {dimensions}}}'::jsonb)"""
    )
    know(active, "Likes tea")
    job = claim(active)
    with refused("result"):
        active.complete_job(**lease(job), result={"embeddings": [[1.0, 0.0]]})
    assert hand_in(active, job)["embedded"] == 1


@pytest.mark.feature("E6")
def test_a_model_that_is_gone_stores_nothing(active: Api) -> None:
    know(active, "Likes tea")
    job = claim(active)
    active.connection.execute("delete from memory.models where name = 'ada'")
    assert hand_in(active, job) == {"skipped": "the model was dropped or replaced meanwhile"}
    assert embedded(active) == {}


# Changes --------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("E6")
def test_a_changed_memory_loses_its_embedding_and_gets_a_new_one(active: Api) -> None:
    [memory_id] = know(active, "Likes tea")
    embed(active)
    active.update_memory(user_id="ana", memory_id=memory_id, importance=1)
    assert (embedded(active), open_jobs(active)) == ({str(memory_id): "[1,0,0]"}, [])
    active.update_memory(user_id="ana", memory_id=memory_id, content="Likes coffee")
    assert embedded(active) == {}
    assert texts(active) == ["Likes coffee"]


@pytest.mark.feature("E6")
def test_a_changed_message_loses_its_embedding_and_gets_a_new_one(active: Api) -> None:
    say(active, "Hello")
    embed(active)
    active.connection.execute("update memory.messages set content = 'Goodbye'")
    assert embedded(active) == {}
    assert [text[-7:] for text in texts(active)] == ["Goodbye"]


@pytest.mark.feature("E6")
@pytest.mark.parametrize("meanwhile", ["changed", "deleted", "superseded", "swept"])
def test_the_embedding_of_a_text_that_is_no_more_is_not_stored(active: Api, meanwhile: str) -> None:
    old, new = know(active, "old", "new")
    job = claim(active)
    if meanwhile == "changed":
        active.update_memory(user_id="ana", memory_id=old, content="changed")
    elif meanwhile == "superseded":
        active.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="newer")
    else:
        active.delete_memory(user_id="ana", memory_id=old)
    if meanwhile == "swept":
        active.sweep()
    assert hand_in(active, job) == {"model": "ada", "embedded": 1, "folded": 0}
    assert list(embedded(active)) == [str(new)]
    if meanwhile == "changed":
        assert texts(active) == ["changed"]
    else:
        assert nothing_to_do(active)


@pytest.mark.feature("E6")
@pytest.mark.parametrize("function", ["clear_thread", "delete_thread"])
def test_the_embedding_of_a_message_that_is_gone_is_not_stored(active: Api, function: str) -> None:
    say(active, "Hello")
    job = claim(active)
    getattr(active, function)(**ANA)
    with refused("lease_token", "AM001"):
        active.complete_job(**lease(job), result={"embeddings": [EAST]})
    assert embedded(active) == {}


@pytest.mark.feature("E6")
def test_what_is_deleted_has_no_embedding(active: Api) -> None:
    active.talk(**ANA, rounds=2)
    active.summarize_thread(**ANA)
    complete(active, claim(active, "summarize_thread"), summary="They talked.")
    [memory_id] = know(active, "Likes tea")
    know(active, "Bought a boat", "Painted it", memory_type="episodic")
    age(active, 8)
    active.consolidate(user_id="ana")
    article = {"title": "The boat", "content": "Bought and painted.", "numbers": [1, 2]}
    complete(active, claim(active, "consolidate"), articles=[article])
    embed(active)
    sources = "select source, count(*) from memory.embeddings group by 1 order by 1"
    assert active.query(sources) == [("document", 1), ("memory", 1), ("message", 4), ("summary", 1)]
    active.delete_thread(**ANA)
    assert active.query(sources) == [("document", 1), ("memory", 1)]
    [document] = active.list_documents(user_id="ana")
    active.delete_document(user_id="ana", document_id=document.document_id)
    active.delete_memory(user_id="ana", memory_id=memory_id)
    active.sweep()
    assert embedded(active) == {}


@pytest.mark.feature("E6")
def test_the_summary_that_another_one_continues_needs_no_embedding(active: Api) -> None:
    for number in range(2):
        active.talk(**ANA, rounds=1)
        active.summarize_thread(**ANA)
        complete(active, claim(active, "summarize_thread"), summary=f"Summary {number}")
        embed(active)
    summaries = "select id from memory.embeddings where source = 'summary'"
    [newest] = active.get_thread_summary(**ANA)
    assert str(newest.summary_id) in [row.id for row in active.query(summaries)]
    active.clear_thread(**ANA)
    assert active.query(summaries) == []


@pytest.mark.feature("E6", "E11")
def test_a_restored_memory_is_embedded(active: Api) -> None:
    old, new = know(active, "old", "new")
    active.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="newer")
    embed(active)
    active.restore_memory(user_id="ana", memory_id=old)
    assert texts(active) == ["old"]


# Near-duplicates ------------------------------------------------------------------------------------------------------


def folded(api: Api, *vectors: Vector, **arguments: Any) -> list[str]:
    """Which of the memories "b", "bc", "bcd" and so on are current when they have these vectors."""
    contents = ["bcdefghijk"[: number + 1] for number in range(len(vectors))]
    know(api, *contents, **arguments)
    embed(api, dict(zip(contents, vectors, strict=True)))
    return current(api)


@pytest.mark.feature("E12")
@pytest.mark.parametrize(
    ("cosine", "vector", "left"),
    [
        (None, NEARLY_EAST, ["bc"]),
        (None, NORTH_EAST, ["b", "bc"]),
        (0.7, NORTH_EAST, ["bc"]),
        (0.9999, NEARLY_EAST, ["b", "bc"]),
        (1, EAST, ["bc"]),
        (0, [0.0, 1.0, 0.0], ["bc"]),
        (0, [-1.0, 0.0, 0.0], ["b", "bc"]),
    ],
)
def test_extracted_memories_that_say_nearly_the_same_become_one(
    active: Api, cosine: float | None, vector: Vector, left: list[str]
) -> None:
    if cosine is not None:
        active.set_policy(settings={"memories": {"near_duplicate_cosine": cosine}})
    assert folded(active, EAST, vector) == left


@pytest.mark.feature("E12", "E11")
@pytest.mark.parametrize(
    ("first", "second", "stays"),
    [
        ("Likes tea", "Likes green tea", "Likes green tea"),
        ("Likes green tea", "Likes tea", "Likes green tea"),
        ("a", "b", "a"),
    ],
)
@pytest.mark.parametrize("together", [True, False])
def test_the_longer_text_stays_else_the_older_and_the_other_can_be_restored(
    active: Api, first: str, second: str, stays: str, together: bool
) -> None:
    know(active, first)
    if not together:
        embed(active)
    know(active, second)
    assert embed(active)[-1]["folded"] == 1
    assert current(active) == [stays]
    [gone] = [row for row in active.list_memories(user_id="ana", include_superseded=True) if row.superseded_at]
    assert gone.supersede_reason == "near-duplicate"
    assert active.get_memory(user_id="ana", memory_id=gone.superseded_by).content == stays
    active.restore_memory(user_id="ana", memory_id=gone.memory_id)
    embed(active)
    assert len(current(active)) == 2
    assert active.value("select memory_count from memory.memory_scopes") == 2


@pytest.mark.feature("E12")
@pytest.mark.parametrize(
    ("first", "second", "is_folded"),
    [
        ("Born in 1985", "Born in 1986", False),
        ("Allergic to nuts", "Not allergic to nuts", False),
        ("Ist gegen Nüsse allergisch", "Ist nicht gegen Nüsse allergisch", False),
        ("Has two cats", "Has three cats", False),
        ("Meets Anna on Monday", "Meets Anna on Tuesday", False),
        ("Flew from Rome to Oslo", "Flew from Oslo to Rome", False),
        ("Has 2 cats and 3 dogs", "Has 3 cats and 2 dogs", False),
        ("Born in 1985", "Was born in 1985 in Lisbon", False),
        ("Born in 1985", "Born in Lisbon in 1985", True),
        ("Drinks tea", "Tea is a favourite drink", True),
    ],
)
def test_what_differs_in_a_number_a_name_or_a_negation_is_not_folded(
    active: Api, first: str, second: str, is_folded: bool
) -> None:
    """To all-MiniLM-L6-v2 "on Monday" is as near to "on Tuesday" as 0.98."""
    know(active, first, second)
    assert embed(active)[-1]["folded"] == is_folded


@pytest.mark.feature("E12")
@pytest.mark.parametrize("changed", [0, 1])
def test_what_somebody_reworded_is_never_folded(active: Api, changed: int) -> None:
    ids = know(active, "Likes tea", "Likes green tea")
    active.update_memory(user_id="ana", memory_id=ids[changed], content="Likes tea, black")
    embed(active)
    assert "Likes tea, black" in current(active)


@pytest.mark.feature("E12")
def test_a_near_duplicate_that_may_not_fold_stands_in_no_others_way(active: Api) -> None:
    know(active, "Born in 1986", "Born in 1985", "Born in Lisbon in 1985")
    assert embed(active)[-1]["folded"] == 1
    assert current(active) == ["Born in 1986", "Born in Lisbon in 1985"]


@pytest.mark.feature("E12")
def test_of_several_near_duplicates_one_stays(active: Api) -> None:
    assert folded(active, *[EAST] * 5) == ["bcdef"]
    know(active, "x", "y", "z")
    embed(active)
    assert current(active) == ["bcdef"]


@pytest.mark.feature("E12", "A3")
@pytest.mark.parametrize(
    "other",
    [
        {"agent_id": "sales"},
        {"memory_type": "preference"},
        {"metadata": {"subject": "Anna"}},
        {"user_id": "bob"},
    ],
    ids=str,
)
def test_only_memories_of_one_agent_type_and_subject_fold(active: Api, other: dict[str, Any]) -> None:
    know(active, "Likes tea")
    know(active, "Likes green tea", **other)
    assert all(result["folded"] == 0 for result in embed(active))


@pytest.mark.feature("E12")
@pytest.mark.parametrize("source", ["user", "import", "reconciliation"])
def test_what_was_not_extracted_is_never_folded(active: Api, source: str) -> None:
    know(active, "Likes tea", "Likes green tea", source=source)
    know(active, "Likes good green tea")
    embed(active)
    assert current(active) == ["Likes tea", "Likes green tea"]


@pytest.mark.feature("E12")
def test_what_a_user_stores_later_stays_beside_what_was_extracted(active: Api) -> None:
    know(active, "Likes tea")
    know(active, "Likes green tea", source="user")
    embed(active)
    assert current(active) == ["Likes tea", "Likes green tea"]


@pytest.mark.feature("E12")
def test_folding_a_batch_into_many_memories_takes_reasonable_time(active: Api) -> None:
    active.connection.execute(
        "insert into memory.memories (user_id, content, source) "
        "select 'ana', 'memory ' || n, 'extraction' from generate_series(1, 600) as n"
    )
    active.connection.execute(
        "insert into memory.embeddings (user_id, source, id, model, embedding) "
        "select user_id, 'memory', memory_id::text, 'ada', array_fill(random(), array[1536])::real[]::vector::halfvec "
        "from memory.memories order by created_at limit 350"
    )
    active.connection.execute("set local statement_timeout = '20s'")
    job = claim(active, "embed")
    vectors = [[float((number * 7 + place) % 11 - 5) for place in range(1536)] for number in range(250)]
    assert complete(active, job, embeddings=vectors)["embedded"] == 250


# Many at once ---------------------------------------------------------------------------------------------------------


def _make_document(api: Api) -> None:
    know(api, "Bought a boat", "Painted it", memory_type="episodic")
    age(api, 8)
    api.consolidate(user_id="ana")
    article = {"title": "The boat", "content": "Bought and painted.", "numbers": [1, 2]}
    complete(api, claim(api, "consolidate"), articles=[article])


def _make_summary(api: Api) -> None:
    api.set_policy(settings={"search": {"embed_messages": False}})
    api.talk(**ANA, rounds=1)
    api.summarize_thread(**ANA)
    complete(api, claim(api, "summarize_thread"), summary="They talked.")


@pytest.mark.feature("E14")
@pytest.mark.parametrize("table", ["messages", "memories", "summaries"])
def test_one_deletion_after_many_reads_the_embeddings_of_what_it_deletes(db: psycopg.Connection, table: str) -> None:
    """Sessions keep the plan that suits the first deletion."""
    api, ids = Api(db), "to_char(n, '\"00000000-0000-0000-0000-\"fm000000000000')::uuid"
    source, columns, values, key = {
        "messages": ("message", "role, content", "'user', 'Hello ' || n", "thread_id || '/' || seq"),
        "memories": ("memory", "memory_id, content", f"{ids}, 'fact ' || n", "memory_id::text"),
        "summaries": (
            "summary",
            "summary_id, kind, summary, start_seq, end_seq, status",
            f"{ids}, 'rolling', 'They talked.', n, n, 'completed'",
            "summary_id::text",
        ),
    }[table]
    activate(api, "ada", "embedding")
    api.set_policy(settings={"memories": {"max_per_agent": 10_000}})
    for statement in (
        f"insert into memory.{table} (user_id, thread_id, {columns}) "
        f"select 'ana', 't1', {values} from generate_series(0, 2999) as n",
        f"insert into memory.embeddings (user_id, source, id, model, embedding) "
        f"select user_id, '{source}', {key}, 'ada', memory._halfvec('[1, 0]') from memory.{table}",
        f"delete from memory.{table} where ctid in (select ctid from memory.{table} limit 2000)",
    ):
        db.execute(statement)
    one = f"delete from memory.{table} where ctid in (select ctid from memory.{table} limit 1)"
    read = "select pg_stat_get_xact_tuples_returned('memory.embeddings'::regclass)"
    with db.transaction():
        before = api.value(read)
        db.execute(one)
        assert api.value(read) - before < 100
    assert api.value("select count(*) from memory.embeddings") == 999


MAKE_AND_DROP: dict[str, tuple[Callable[[Api], Any], Callable[[Api], Any]]] = {
    "message": (
        lambda api: say(api, "Hello", expires_at="2090-01-01"),
        lambda api: api.connection.execute("delete from memory.messages"),
    ),
    "redacted message": (
        lambda api: say(api, "Hello", expires_at="2090-01-01"),
        lambda api: api.connection.execute("update memory.messages set content = 'redacted'"),
    ),
    "memory": (
        lambda api: know(api, "Likes tea"),
        lambda api: api.update_memory(
            user_id="ana", memory_id=api.value("select memory_id from memory.memories"), content="Likes coffee"
        ),
    ),
    "summary": (_make_summary, lambda api: api.clear_thread(**ANA)),
    "document": (
        _make_document,
        lambda api: api.delete_document(
            user_id="ana", document_id=api.value("select document_id from memory.documents")
        ),
    ),
}


@pytest.mark.feature("E6")
@pytest.mark.parametrize("source", MAKE_AND_DROP)
def test_what_goes_while_its_embedding_is_being_stored_takes_it_along(
    connect: Callable[..., psycopg.Connection], source: str
) -> None:
    worker, client = Api(connect()), Api(connect())
    make, drop = MAKE_AND_DROP[source]
    activate(worker, "ada", "embedding")
    make(worker)
    with ThreadPoolExecutor(1) as pool:
        with worker.connection.transaction():
            hand_in(worker, claim(worker, "embed"))
            assert worker.query("select source from memory.embeddings") == [(source.split()[-1],)]
            dropping = pool.submit(drop, client)
            with pytest.raises(FutureTimeoutError):
                dropping.result(0.2)
        dropping.result(10)
    assert embedded(worker) == {}


@pytest.mark.feature("E6")
@pytest.mark.parametrize("source", ["redacted message", "message", "document"])
def test_what_is_about_to_go_is_not_waited_for(connect: Callable[..., psycopg.Connection], source: str) -> None:
    """The client may wait for something of the job; the runners hand the result in again."""
    worker, client = Api(connect()), Api(connect())
    make, drop = MAKE_AND_DROP[source]
    activate(worker, "ada", "embedding")
    make(worker)
    job = claim(worker, "embed")
    with client.connection.transaction():
        drop(client)
        with pytest.raises(errors.LockNotAvailable):
            hand_in(worker, job)
    assert hand_in(worker, job)["embedded"] == 0
    assert embedded(worker) == {}


@pytest.mark.feature("E6", "E14")
def test_embedding_while_clients_change_memories_keeps_what_is_current(
    connect: Callable[..., psycopg.Connection],
) -> None:
    worker, *clients = [Api(connect(options="-c deadlock_timeout=50ms")) for _ in range(5)]
    activate(worker, "ada", "embedding")
    done = threading.Event()

    def write(number: int) -> None:
        for turn in range(1000):
            if done.is_set():
                break
            agent_id = ("sales", "support")[turn % 2]
            [memory_id] = know(clients[number], f"memory {turn} of {number}", agent_id=agent_id)
            clients[number].update_memory(user_id="ana", memory_id=memory_id, content=f"changed {turn} of {number}")
            if turn % 3 == 0:
                clients[number].delete_memory(user_id="ana", memory_id=memory_id)
            if turn % 10 == 0:
                clients[number].sweep()

    with ThreadPoolExecutor(len(clients)) as pool:
        writers = [pool.submit(write, number) for number in range(len(clients))]
        try:
            for turn in range(20):
                make_due(worker)
                for job in worker.claim_jobs(worker="test", kinds=["embed"]):
                    count = len(job.payload["texts"])
                    complete(worker, job, embeddings=[[1.0, float(turn), float(n % 7)] for n in range(count)])
        finally:
            done.set()
        for writer in writers:
            writer.result()
    embed(worker)
    missing = """
        select count(*) from memory.memories as m where m.superseded_at is null and m.deleted_at is null
        and not exists (select from memory.embeddings as e where e.id = m.memory_id::text)
    """
    orphans = "select count(*) from memory.embeddings where id not in (select memory_id::text from memory.memories)"
    assert (worker.value(missing), worker.value(orphans)) == (0, 0)
