"""Models that change while others store, search, fill and drop."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.embeddings.model_switch.steps import (
    FILLED,
    Connect,
    embed,
    found,
    hand_in,
    keep_query,
    know,
    register,
    status,
)
from tests.support.protocol import claim, say
from tests.support.runners import PATIENCE, wait_until
from tests.support.sessions import Sessions
from tests.support.sqlapi import Api


def claim_backfill(api: Api, *topics: int) -> Any:
    """The job that has "new" embed what "old" has embedded before: memories of these topics."""
    know(api, *topics)
    embed(api)
    register(api)
    return claim(api, "backfill")


@pytest.mark.feature("F4", "E14")
def test_dropping_a_model_waits_for_embeddings_that_are_being_stored(live: Api, sessions: Sessions) -> None:
    job = claim_backfill(live, 1)
    with live.connection.transaction():
        hand_in(live, job)
        dropping = sessions.start("drop_model", name="new")
        assert not dropping.done()
    dropping.result(PATIENCE)
    assert live.query(FILLED) == [("old", 1)]


@pytest.mark.feature("F4", "E14")
def test_embeddings_stored_while_their_model_is_being_dropped_are_skipped(live: Api, sessions: Sessions) -> None:
    job = claim_backfill(live, 1)
    with sessions.api.connection.transaction():
        sessions.api.drop_model(name="new")
        completing = sessions.submit(lambda api: hand_in(api, job))
        assert not completing.done()
    assert "skipped" in completing.result(PATIENCE)
    assert live.query(FILLED) == [("old", 1)]


@pytest.mark.feature("F4", "A14", "E14")
def test_no_search_fails_or_finds_less_while_models_are_switched(live: Api, connect: Connect) -> None:
    """Searchers ask by kept queries, as if in the database; writers add; workers fill; an administrator switches."""
    users = ["ana", "bob"]
    for user_id in users:
        know(live, *range(40), user_id=user_id)
        for model in ("old", "new"):
            for topic in range(40):
                keep_query(live, model, topic, user_id)
    embed(live)
    done = threading.Event()
    apis = [Api(connect(options="-c deadlock_timeout=50ms")) for _ in range(5)]
    compared: set[str] = set()

    def worker(api: Api) -> None:
        while not done.is_set():
            for job in api.claim_jobs(worker="test", kinds=["embed", "backfill"]):
                hand_in(api, job)

    def writer(api: Api) -> None:
        topic = 100
        while not done.is_set():
            know(api, topic, user_id=users[topic % 2])
            topic += 1
            time.sleep(0.01)

    def searcher(api: Api) -> int:
        turn = 0
        while not done.is_set():
            topic, user_id = turn % 40, users[turn % 2]
            models, contents = found(api, topic, user_id, sources=["memory"])
            assert len(models) == 1, models
            assert contents[0] == f"topic {topic}", (models, contents)
            assert len(contents) == 10
            compared.update(models)
            turn += 1
        return turn

    def wait_until_filled(model: str) -> None:
        """Wait until the model has embedded every text that exists now; writers keep adding more."""
        _, total = status(live)[model]
        wait_until(lambda: status(live)[model][0] >= total)

    with ThreadPoolExecutor(5) as pool:
        running = [pool.submit(worker, apis[0]), pool.submit(worker, apis[1]), pool.submit(writer, apis[2])]
        searchers = [pool.submit(searcher, api) for api in apis[3:]]
        try:
            for before, after in (("old", "new"), ("new", "old"), ("old", "new")):
                register(live, after)
                for user_id in users:
                    for topic in range(40):
                        keep_query(live, after, topic, user_id)
                if before == "old":  # else it is activated before it is filled
                    wait_until_filled(after)
                live.activate_model(name=after)
                wait_until_filled(after)
                time.sleep(0.3)
                live.drop_model(name=before)
        finally:
            done.set()
        for task in running:
            task.result(PATIENCE)
        assert min(task.result(PATIENCE) for task in searchers) > 0
    assert compared == {"old", "new"}
    live.sweep()
    embed(live)
    [(name, (embedded, total))] = status(live).items()
    assert (name, embedded) == ("new", total)


@pytest.mark.feature("F4", "E6")
def test_texts_stored_in_a_transaction_that_was_open_while_a_model_was_activated_are_embedded(
    connect: Connect,
) -> None:
    admin, client = Api(connect()), Api(connect())
    with client.connection.transaction():
        say(client, "topic 1")
        know(client, 2)
        register(admin)
        admin.activate_model(name="new")
        for _ in range(3):
            admin.sweep()
    for _ in range(3):
        admin.sweep()
    embed(admin)
    assert status(admin) == {"new": (2, 2)}
    assert admin.query("select from memory.marks where user_id = '' and kind <> 'changes'") == []
