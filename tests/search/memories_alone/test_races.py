"""Search among memories alone while their embeddings are being stored."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from uuid import UUID

import psycopg
import pytest
from psycopg import errors

from tests.search.memories_alone.steps import HIDE, search
from tests.support.protocol import activate, claim, complete
from tests.support.runners import PATIENCE
from tests.support.search_plans import with_model
from tests.support.search_world import embed
from tests.support.sqlapi import Api


@pytest.mark.feature("E6", "A3")
def test_a_change_by_hand_is_not_missed_by_the_embedding_that_is_being_stored(
    connect: Callable[..., psycopg.Connection],
) -> None:
    worker, client = Api(connect()), Api(connect())
    activate(worker, "ada", "embedding")
    memory_id = worker.add_memory(user_id="ana", content="Likes tea").memory_id
    job = claim(worker, "embed")
    with client.connection.transaction():
        HIDE["expired by hand"](client, memory_id)
        with pytest.raises(errors.LockNotAvailable):  # the runners hand it in again
            complete(worker, job, embeddings=[[1, 0, 0]])
    complete(worker, job, embeddings=[[1, 0, 0]])
    assert search(worker, None, [1, 0, 0]) == []


@contextlib.contextmanager
def before_it_was_embedded(worker: Api, client: Api) -> Iterator[UUID]:
    """A transaction of the client that cannot see the embedding of the memory."""
    activate(worker, "ada", "embedding")
    memory_id: UUID = worker.add_memory(user_id="ana", content="Likes tea").memory_id
    job = claim(worker, "embed")
    with client.connection.transaction():
        client.connection.execute("set transaction isolation level repeatable read")
        client.value("select count(*) from memory.memories")  # takes the snapshot
        complete(worker, job, embeddings=[[1, 0, 0]])
        yield memory_id


@pytest.mark.feature("E6", "A3")
@pytest.mark.parametrize("how", ["deleted", "expired by hand", "removed"])
def test_a_change_that_could_not_see_the_embedding_has_to_be_called_again(
    connect: Callable[..., psycopg.Connection], how: str
) -> None:
    worker, client = Api(connect()), Api(connect())
    with pytest.raises(errors.SerializationFailure), before_it_was_embedded(worker, client) as memory_id:
        HIDE[how](client, memory_id)
    HIDE[how](client, memory_id)
    assert worker.query("select from memory.texts where model is not null and valid_until > now()") == []


def test_an_embedding_that_is_stored_by_hand_waits_for_who_changes_its_memory(
    connect: Callable[..., psycopg.Connection],
) -> None:
    administrator, client = with_model(Api(connect())), Api(connect())
    memory_id = client.add_memory(user_id="ana", content="Likes tea").memory_id
    with ThreadPoolExecutor(1) as pool:
        with client.connection.transaction():
            HIDE["deleted"](client, memory_id)
            storing = pool.submit(embed, administrator, memory_id, [1, 0, 0])
            with pytest.raises(FutureTimeoutError):
                storing.result(0.2)
        storing.result(PATIENCE)
    assert administrator.query("select from memory.texts where model is not null and valid_until > now()") == []


@pytest.mark.feature("E6", "A3")
def test_a_change_by_hand_waits_for_the_embedding_that_is_being_stored(
    connect: Callable[..., psycopg.Connection],
) -> None:
    worker, client = Api(connect()), Api(connect())
    activate(worker, "ada", "embedding")
    memory_id = worker.add_memory(user_id="ana", content="Likes tea").memory_id
    job = claim(worker, "embed")
    with ThreadPoolExecutor(1) as pool:
        with worker.connection.transaction():
            complete(worker, job, embeddings=[[1, 0, 0]])
            hiding = pool.submit(HIDE["expired by hand"], client, memory_id)
            with pytest.raises(FutureTimeoutError):
                hiding.result(0.2)
        hiding.result(PATIENCE)
    assert worker.value("select count(*) from memory.texts where model is not null") == 1
    assert search(worker, None, [1, 0, 0]) == []
