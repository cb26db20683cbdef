"""Embeddings that are stored or refused: number, dimensions, extreme values, and the model they belong to."""

from __future__ import annotations

import contextlib
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.embeddings.steps import EAST, embed, embedded, hand_in, know
from tests.support.protocol import activate, claim, complete, lease, say
from tests.support.runners import PATIENCE
from tests.support.sessions import Sessions
from tests.support.sqlapi import Api, refused


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
    "too few": {"embeddings": [EAST]},
    "no vector": {"embeddings": [EAST, None]},
    "empty vectors": {"embeddings": [[], []]},
    "a shorter one": {"embeddings": [EAST, [1.0, 0.0]]},
    "NaN as text": {"embeddings": [EAST, [1.0, 0.0, "NaN"]]},
    "endless": {"embeddings": [EAST, [1.0, 0.0, 10**400]]},
    "more than a half holds": {"embeddings": [EAST, [1.0, 0.0, -65_520.0]]},
    "too many dimensions": {"embeddings": [[1.0] * 4001] * 2},
    "zeros": {"embeddings": [EAST, [0.0, 0.0, 0.0]]},
    "too few texts": {"vectors": ["[1,0,0]"]},
    "words as text": {"vectors": ["[1,0,0]", "east"]},
    "a shorter text": {"vectors": ["[1,0,0]", "[1,0]"]},
    "a text with NaN": {"vectors": ["[1,0,0]", "[1,0,NaN]"]},
    "a text of zeros": {"vectors": ["[1,0,0]", "[0,0,0]"]},
}


@pytest.mark.feature("E6")
@pytest.mark.parametrize("first", [{"embeddings": [EAST]}, {"vectors": ["[1,0,0]"]}], ids=list)
def test_texts_of_vectors_are_stored_as_their_arrays_are(active: Api, first: dict[str, Any]) -> None:
    ids = []
    for content, result in {
        "Likes trains": first,
        "Likes tea": {"vectors": ["[0.5,-0.25,1e-05]"]},
        "Owns a boat": {"embeddings": [[0.5, -0.25, 1e-05]]},
    }.items():
        ids += know(active, content)
        complete(active, claim(active), **result)
    stored = embedded(active)
    assert [stored[str(memory_id)] for memory_id in ids] == ["[1,0,0]", *[stored[str(ids[1])]] * 2]


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
@pytest.mark.parametrize("table", ["embeddings", "query_embeddings"])
def test_an_embedding_without_direction_cannot_be_stored_in_any_way(active: Api, table: str) -> None:
    columns = {"embeddings": "source, id, hash", "query_embeddings": "query_hash"}[table]
    values = {"embeddings": "'summary', 'x', gen_random_uuid()", "query_embeddings": "'x'"}[table]
    insert = (
        f"insert into memory.{table} (user_id, model, {columns}, embedding) values ('ana', 'ada', {values}, %(vector)s)"
    )
    active.query(f"{insert} returning 1", vector="[1,0]")
    change = f"update memory.{table} set embedding = %(vector)s returning 1"
    for number in ("-0", "1e-9", "NaN", "1e9"):
        for statement in (f"{insert.replace('ana', 'bob')} returning 1", change):
            with pytest.raises((psycopg.errors.CheckViolation, psycopg.DataError)):
                active.query(statement, vector=f"[{number},{number}]")


@pytest.mark.feature("E6")
@pytest.mark.parametrize("numbers", [[1.0, -1e-320, 0.0], [1.0, 65_000, 0.0], [0.0, -1.001 * 2.0**-25, 0.0]])
def test_extreme_numbers_can_be_stored(active: Api, numbers: list[float]) -> None:
    know(active, "Likes tea")
    embed(active, {"Likes tea": numbers})
    assert len(embedded(active)) == 1


@pytest.mark.feature("E6")
@pytest.mark.parametrize("dimensions", [1, 4000])
def test_as_many_dimensions_as_a_page_holds_can_be_stored(active: Api, dimensions: int) -> None:
    know(active, "Likes tea")
    embed(active, {"Likes tea": [0.1234567] * dimensions})
    assert len(next(iter(embedded(active).values())).split(",")) == dimensions


@pytest.mark.feature("E6")
def test_the_first_embedding_decides_on_the_dimensions(active: Api) -> None:
    activate(active, "ada", "embedding", dimensions=None)
    know(active, "Likes tea")
    embed(active)
    know(active, "Owns a boat")
    job = claim(active)
    # Not all models can be asked for a number of dimensions.
    assert job.payload["model"]["settings"] == {"dimensions": None}
    with refused("result"):
        active.complete_job(**lease(job), result={"embeddings": [[1.0, 0.0]]})


@pytest.mark.feature("E6")
@pytest.mark.parametrize(
    ("first", "then", "is_the_same"),
    [
        ({"dimensions": 3}, {"dimensions": 3, "batch_size": 9}, True),
        ({"dimensions": 3}, {}, False),  # whatever the provider's default is
        ({}, {"dimensions": 3}, True),
        ({}, {"dimensions": 5}, False),
    ],
    ids=str,
)
def test_embeddings_stay_while_their_model_stays_the_same(
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


@pytest.mark.feature("E6", "E14")
def test_one_of_two_first_results_of_a_model_decides_on_the_dimensions(
    sessions: Sessions,
) -> None:
    first = sessions.api
    activate(first, "ada", "embedding")
    for user_id in ("ana", "bob"):
        know(first, "Likes tea", user_id=user_id)
    jobs = first.claim_jobs(worker="test", kinds=["embed"], max_jobs=2)
    with first.connection.transaction():
        complete(first, jobs[0], embeddings=[[1.0] * 3])
        late = sessions.submit(lambda api: complete(api, jobs[1], embeddings=[[1.0] * 5]))
        assert not late.done()
    with refused("result"):
        late.result(PATIENCE)
    assert complete(first, jobs[1], embeddings=[[1.0] * 3])["embedded"] == 1


@pytest.mark.feature("E6")
def test_an_embedding_has_the_registered_dimensions(active: Api) -> None:
    active.query("""select memory.register_model('ada', 'embedding', 'openai', 'a', '{"dimensions": 3e0}'::jsonb)""")
    know(active, "Likes tea")
    job = claim(active)
    with refused("result"):
        active.complete_job(**lease(job), result={"embeddings": [[1.0, 0.0]]})
    assert hand_in(active, job)["embedded"] == 1
