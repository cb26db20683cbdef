"""Changing the embedding model while all goes on: register, backfill, activate, drop; two models are never compared."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

import psycopg
import pytest

from tests.support.protocol import ANA, activate, age, claim, complete, lease, make_due, open_jobs, say
from tests.support.runners import wait_until
from tests.support.sqlapi import Api, refused, rolled_back

Connect = Callable[..., psycopg.Connection]

DIMENSIONS = {"old": 2, "new": 3, "third": 4}
FILLED = "select model, count(*) as n from memory.embeddings group by 1 order by 1"


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    """With the model "old" active and no other model work."""
    with rolled_back(shared_api) as api:
        api.connection.execute("set local statement_timeout = '30s'")
        prepare(api)
        yield api


@pytest.fixture
def live(connect: Connect) -> Api:
    """The same in a database of its own, where others can see it."""
    api = Api(connect(options="-c deadlock_timeout=50ms"))
    prepare(api)
    return api


def prepare(api: Api) -> None:
    activate(api, "old", "embedding")
    api.set_policy(settings={"cadence": {"fact_extraction_every_n": 0}, "summary": {"enabled": False}})


def register(api: Api, name: str = "new", **settings: Any) -> None:
    api.register_model(name=name, kind="embedding", provider="openai", model=f"{name}-1", settings=settings)


def vector(model: str, topic: int) -> list[float]:
    """Of a topic, unlike that of any other topic; each model has its own length and turns its own way."""
    angle = topic if model == "old" else -2 * topic
    return [math.cos(angle), math.sin(angle), *[0.0] * (DIMENSIONS[model] - 2)]


def hand_in(api: Api, job: Any) -> Any:
    """Embed the texts of a job, which end in the number of their topic."""
    model = job.payload["model"]["name"]
    return complete(api, job, embeddings=[vector(model, int(row["text"].split()[-1])) for row in job.payload["texts"]])


def know(api: Api, *topics: int, **arguments: Any) -> list[Any]:
    return [api.add_memory(**{"user_id": "ana", "content": f"topic {n}", **arguments}).memory_id for n in topics]


def embed(api: Api, *kinds: str) -> list[Any]:
    """Do all the embedding there is to do; the jobs' results."""
    results = []
    while jobs := api.claim_jobs(worker="test", kinds=list(kinds) or ["embed", "backfill"]):
        results.append(hand_in(api, jobs[0]))
    return results


def claim_backfill(api: Api, *topics: int) -> Any:
    """The job that has "new" embed what "old" has embedded before: memories of these topics."""
    know(api, *topics)
    embed(api)
    register(api)
    return claim(api, "backfill")


def keep_query(api: Api, model: str, topic: int, user_id: str = "ana") -> None:
    """As if the model had embedded the query before."""
    api.query(
        "insert into memory.query_embeddings (user_id, model, query_hash, embedding) values (%(user_id)s, %(model)s, "
        "encode(sha256(convert_to(%(query)s, 'UTF8')), 'hex'), memory._halfvec(%(vector)s::jsonb)) "
        "on conflict do nothing returning 1",
        user_id=user_id, model=model, query=f"topic {topic}", vector=str(vector(model, topic)),
    )  # fmt: skip


def found(api: Api, topic: int = 1, user_id: str = "ana", **arguments: Any) -> tuple[set[str], list[str]]:
    """The models that a search by a kept query compares with, and what it finds."""
    query = {"query": f"topic {topic}", "mode": "vector", "sources": ["memory", "message", "document"]}
    results = api.search(**{"user_id": user_id, **query, "explain": True, **arguments})
    return {row.details["vector"]["model"] for row in results}, [row.content for row in results]


def status(api: Api) -> dict[str, tuple[int, int]]:
    return {row.model: (row.done, row.total) for row in api.backfill_status()}


# Backfill -------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("F4")
def test_a_second_model_is_filled_in_the_background_while_the_first_serves(api: Api) -> None:
    know(api, 1, 2)
    know(api, 3, user_id="bob")
    say(api, "message 4")
    api.add_document(user_id="ana", content="document 5")
    embed(api)
    register(api)
    assert open_jobs(api) == ["backfill", "backfill"]
    assert status(api) == {"new": (0, 5), "old": (5, 5)}
    assert [row.is_active for row in api.backfill_status()] == [False, True]
    for topic in (1, 3):
        keep_query(api, "old", topic)
        keep_query(api, "new", topic)
    assert found(api)[0] == {"old"}
    assert [result["model"] for result in embed(api)] == ["new", "new"]
    assert status(api) == {"new": (5, 5), "old": (5, 5)}
    assert found(api)[0] == {"old"}
    api.activate_model(name="new")
    assert found(api)[0] == {"new"}
    assert found(api)[1][0] == "topic 1"
    assert embed(api) == []


@pytest.mark.feature("F4")
def test_backfill_is_counted_by_what_can_be_found(api: Api) -> None:
    assert status(api) == {"old": (0, 0)}
    deleted, old, new = know(api, 1, 2, 3)
    embed(api)
    register(api)
    api.delete_memory(user_id="ana", memory_id=deleted)
    api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="newer")
    assert status(api) == {"new": (0, 1), "old": (1, 1)}
    embed(api)
    assert status(api) == {"new": (1, 1), "old": (1, 1)}


@pytest.mark.feature("F4")
def test_what_comes_during_the_backfill_is_embedded_by_both(api: Api) -> None:
    know(api, 1)
    embed(api)
    register(api)
    know(api, 2)
    say(api, "message 3")
    say(api, "message 4", thread_id="t2", user_id="bob")
    job = claim(api, "backfill")
    know(api, 5)
    hand_in(api, job)
    embed(api)
    assert status(api) == {"new": (5, 5), "old": (5, 5)}
    know(api, 6)
    embed(api)
    assert status(api) == {"new": (6, 6), "old": (6, 6)}


@pytest.mark.feature("F4")
def test_several_models_are_filled_one_after_the_other_the_active_one_first(api: Api) -> None:
    know(api, 1)
    register(api, "third")
    register(api)
    api.connection.execute("update memory.models set created_at = now() - interval '1 day' where name = 'third'")
    api.connection.execute("delete from memory.jobs where kind = 'embed'")
    assert [result["model"] for result in embed(api, "backfill")] == ["old", "third", "new"]


@pytest.mark.feature("F4", "A14")
def test_a_broken_second_model_delays_nothing_of_the_first(api: Api) -> None:
    know(api, 1)
    embed(api)
    register(api)
    for topic in range(2, 10):
        know(api, topic)
        assert [result["model"] for result in embed(api, "embed")] == ["old"]
        for job in api.claim_jobs(worker="test", kinds=["backfill"]):
            assert job.payload["model"]["name"] == "new"
            api.fail_job(**lease(job), error="no such model")
        assert status(api) == {"new": (0, topic), "old": (topic, topic)}
        make_due(api)
    keep_query(api, "old", 1)
    assert found(api)[0] == {"old"}
    assert found(api)[1][0] == "topic 1"


# Switching ------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("F4")
def test_a_user_whose_new_embeddings_are_incomplete_is_served_by_the_model_before(api: Api) -> None:
    for user_id in ("ana", "bob"):
        know(api, 1, 2, 3, user_id=user_id)
    embed(api)
    register(api)
    api.activate_model(name="new")
    hand_in(api, api.claim_jobs(worker="test", kinds=["backfill"])[0])
    complete_user = api.value("select distinct user_id from memory.embeddings where model = 'new'")
    for user_id in ("ana", "bob"):
        for model in ("old", "new"):
            keep_query(api, model, 1, user_id)
        models, contents = found(api, user_id=user_id)
        assert models == {"new" if user_id == complete_user else "old"}
        assert (contents[0], len(contents)) == ("topic 1", 3)
    embed(api)
    assert {model for user_id in ("ana", "bob") for model in found(api, user_id=user_id)[0]} == {"new"}


@pytest.mark.feature("F4")
@pytest.mark.parametrize("gone", ["superseded", "expired memory", "expired message", "put away"])
def test_what_only_the_old_model_has_and_nobody_can_find_does_not_keep_it_in_use(api: Api, gone: str) -> None:
    first, second = know(api, 1, 2)
    say(api, "message 3", "message 4")
    embed(api)
    if gone == "superseded":
        api.supersede_memory(user_id="ana", old_memory_id=second, new_memory_id=first, reason="newer")
    elif gone == "expired memory":
        api.update_memory(user_id="ana", memory_id=second, expires_at="2020-01-01")
    elif gone == "expired message":
        api.connection.execute("update memory.messages set expires_at = '2020-01-01' where seq = 0")
    else:
        api.set_policy(settings={"search": {"embed_messages": False}})
    register(api)
    embed(api)
    api.activate_model(name="new")
    embed(api)
    keep_query(api, "new", 1)
    keep_query(api, "old", 1)
    assert found(api)[0] == {"new"}


@pytest.mark.feature("F4")
def test_activating_takes_effect_with_its_transaction(live: Api, connect: Connect) -> None:
    other = Api(connect())
    know(live, 1)
    embed(live)
    register(live)
    embed(live)
    for model in ("old", "new"):
        keep_query(live, model, 1)
    with live.connection.transaction():
        live.activate_model(name="new")
        assert (found(live)[0], found(other)[0]) == ({"new"}, {"old"})
    assert found(other)[0] == {"new"}
    with live.connection.transaction(force_rollback=True):
        live.activate_model(name="old")
    assert found(other)[0] == {"new"}
    assert live.value("select count(*) from memory.models where kind = 'embedding' and is_active") == 1


@pytest.mark.feature("F4")
def test_a_query_is_compared_with_the_model_of_its_length(api: Api) -> None:
    know(api, 1, 2)
    register(api)
    embed(api)
    for model in ("old", "new"):
        models, contents = found(api, query_embedding=str(vector(model, 1)))
        assert (models, contents[0]) == ({model}, "topic 1")
    with refused("query_embedding"):
        found(api, query_embedding="[1,0,0,0,0]")


# Changes of a model ---------------------------------------------------------------------------------------------------


@pytest.mark.feature("F4")
def test_a_model_is_dropped_with_everything_it_embedded(api: Api) -> None:
    know(api, 1)
    register(api)
    embed(api)
    keep_query(api, "old", 1)
    keep_query(api, "new", 1)
    with refused("name", "23505"):
        api.drop_model(name="old")
    with refused("name", "P0002"):
        api.drop_model(name="none")
    api.drop_model(name="new")
    assert api.query(FILLED) == [("old", 1)]
    assert api.query("select distinct model from memory.query_embeddings") == [("old",)]
    assert list(status(api)) == ["old"]
    assert found(api)[0] == {"old"}
    register(api)
    assert status(api)["new"] == (0, 1)


@pytest.mark.feature("F4", "F6")
def test_a_dimension_that_is_not_the_models_is_refused(api: Api) -> None:
    know(api, 1)
    embed(api)
    register(api, dimensions=3)
    job = claim(api, "backfill")
    before = api.state()
    for bad in ([1.0, 0.0], [1.0, 0.0, 0.0, 0.0]):
        with refused("result"):
            api.complete_job(**lease(job), result={"embeddings": [bad]})
    assert api.state() == before
    assert hand_in(api, job) == {"model": "new", "embedded": 1, "folded": 0}


@pytest.mark.feature("F4")
@pytest.mark.parametrize("source", ["memory", "message", "document"])
def test_what_goes_goes_from_all_models(api: Api, source: str) -> None:
    [memory_id] = know(api, 1)
    say(api, "message 2")
    document_id = api.add_document(user_id="ana", content="document 3")
    register(api)
    embed(api)
    assert api.query(FILLED) == [("new", 3), ("old", 3)]
    if source == "memory":
        api.update_memory(user_id="ana", memory_id=memory_id, content="topic 4")
    elif source == "message":
        api.delete_thread(**ANA)
    else:
        api.delete_document(user_id="ana", document_id=document_id)
    assert api.query(FILLED) == [("new", 2), ("old", 2)]
    assert api.query(f"select from memory.embeddings where source = '{source}'") == []


@pytest.mark.feature("F4")
def test_registering_again_changes_nothing_that_is_embedded(api: Api) -> None:
    know(api, 1)
    register(api)
    embed(api)
    register(api, timeout_seconds=9)
    assert embed(api) == []
    assert api.query(FILLED) == [("new", 1), ("old", 1)]
    with refused("name", "23505"):
        api.register_model(name="new", kind="embedding", provider="openai", model="new-2")


@pytest.mark.feature("F4")
def test_a_name_that_becomes_another_model_takes_over_no_query_of_the_one_before(api: Api) -> None:
    keep_query(api, "old", 1)
    api.register_model(name="old", kind="embedding", provider="openai", model="old-1", settings={"timeout_seconds": 9})
    assert api.value("select count(*) from memory.query_embeddings") == 1
    api.register_model(name="old", kind="embedding", provider="openai", model="old-2")
    assert api.value("select count(*) from memory.query_embeddings") == 0


@pytest.mark.feature("F4")
def test_what_was_embedded_by_the_model_of_before_is_not_stored_under_its_name(api: Api) -> None:
    know(api, 1)
    job = claim(api, "embed")
    api.register_model(name="old", kind="embedding", provider="openai", model="old-2")
    assert "skipped" in hand_in(api, job)
    assert api.query(FILLED) == []
    assert claim(api, "embed").payload["model"]["model"] == "old-2"


# Many at once ---------------------------------------------------------------------------------------------------------


@pytest.mark.feature("F4", "E14")
def test_dropping_waits_for_what_is_being_stored(live: Api, connect: Connect) -> None:
    admin = Api(connect())
    job = claim_backfill(live, 1)
    with ThreadPoolExecutor(1) as pool:
        with live.connection.transaction():
            hand_in(live, job)
            dropping = pool.submit(admin.drop_model, name="new")
            with pytest.raises(FutureTimeoutError):
                dropping.result(0.2)
        dropping.result(10)
    assert live.query(FILLED) == [("old", 1)]


@pytest.mark.feature("F4", "E14")
def test_what_is_stored_while_its_model_is_being_dropped_is_skipped(live: Api, connect: Connect) -> None:
    admin = Api(connect())
    job = claim_backfill(live, 1)
    with ThreadPoolExecutor(1) as pool:
        with admin.connection.transaction():
            admin.drop_model(name="new")
            completing = pool.submit(hand_in, live, job)
            with pytest.raises(FutureTimeoutError):
                completing.result(0.2)
        assert "skipped" in completing.result(10)
    assert live.query(FILLED) == [("old", 1)]


def test_what_is_being_dropped_cannot_be_activated(live: Api, connect: Connect) -> None:
    admin = Api(connect())
    register(live)
    with ThreadPoolExecutor(1) as pool:
        with admin.connection.transaction():
            admin.drop_model(name="new")
            activating = pool.submit(live.activate_model, name="new")
            with pytest.raises(FutureTimeoutError):
                activating.result(0.2)
        with refused("name", "P0002"):
            activating.result(10)
    assert live.value("select name from memory.models where kind = 'embedding' and is_active") == "old"


@pytest.mark.feature("F4")
def test_a_model_registered_while_the_backfill_of_another_ends_is_filled_too(live: Api, connect: Connect) -> None:
    admin = Api(connect())
    job = claim_backfill(live, 1)
    with ThreadPoolExecutor(1) as pool:
        with admin.connection.transaction():
            register(admin, "third")
            completing = pool.submit(hand_in, live, job)
            with pytest.raises(FutureTimeoutError):
                completing.result(0.2)
        completing.result(10)
    assert live.value("select count(*) from memory.jobs where kind = 'backfill' and status = 'pending'") == 1


@pytest.mark.feature("F4", "E14")
def test_a_thread_that_goes_while_a_backfill_completes_takes_its_embeddings_along(live: Api, connect: Connect) -> None:
    client = Api(connect(options="-c deadlock_timeout=50ms"))
    register(live)
    for turn in range(30):
        say(live, *[f"message {number}" for number in range(5)])
        know(live, turn, thread_id="t1", source="extraction")
        embed(live, "embed")
        make_due(live)
        jobs = live.claim_jobs(worker="test", kinds=["backfill"])
        with ThreadPoolExecutor(2) as pool:
            deleting = pool.submit(client.delete_thread, **ANA)
            for job in jobs:
                hand_in(live, job)
            assert deleting.result(10) == 5
        assert live.query(FILLED) == []


@pytest.mark.feature("F4", "F6")
def test_a_backfill_whose_worker_dies_is_finished_by_another(live: Api, connect: Connect) -> None:
    worker = Api(connect())
    job = claim_backfill(worker, 1, 2)
    with contextlib.suppress(psycopg.OperationalError), worker.connection.transaction():
        hand_in(worker, job)
        live.query("select pg_terminate_backend(%(pid)s)", pid=worker.connection.info.backend_pid)
        worker.query("select 1")
    assert worker.connection.broken
    assert live.query(FILLED) == [("old", 2)]
    live.connection.execute("update memory.jobs set lease_expires_at = now() - interval '1 second'")
    embed(live)
    assert live.query(FILLED) == [("new", 2), ("old", 2)]


@pytest.mark.feature("F4", "F6")
def test_a_job_that_ran_out_and_its_successor_embed_once(live: Api, connect: Connect) -> None:
    other = Api(connect())
    first = claim_backfill(live, 1, 2)
    live.connection.execute("update memory.jobs set lease_expires_at = now() - interval '1 second'")
    second = claim(other, "backfill")
    with ThreadPoolExecutor(2) as pool:
        late, done = pool.submit(hand_in, live, first), pool.submit(hand_in, other, second)
        with refused("lease_token", "AM001"):
            late.result(10)
        assert done.result(10)["embedded"] == 2


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
        """With all there is by now: there is always more to come."""
        _, total = status(live)[model]
        wait_until(lambda: status(live)[model][0] >= total, 20)

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
            task.result(30)
        assert min(task.result(30) for task in searchers) > 0
    assert compared == {"old", "new"}
    live.sweep()
    embed(live)
    [(name, (embedded, total))] = status(live).items()
    assert (name, embedded) == ("new", total)


@pytest.mark.feature("F4")
def test_a_history_older_than_the_backfill_is_filled_in_parts(api: Api) -> None:
    api.set_policy(settings={"memories": {"max_per_agent": 10_000}})
    api.connection.execute(
        "insert into memory.memories (user_id, content) select 'ana', 'topic ' || n from generate_series(1, 600) as n"
    )
    age(api, 400)
    embed(api)
    register(api)
    assert [result["embedded"] for result in embed(api)] == [256, 256, 88]
    assert status(api)["new"] == (600, 600)


@pytest.mark.feature("F4", "E14")
def test_filling_and_searching_a_long_history_takes_reasonable_time(api: Api) -> None:
    """Without statistics the planner would compare each text with each embedding, which took half a minute."""
    api.set_policy(settings={"memories": {"max_per_agent": 20_000}})
    register(api, dimensions=3)
    for statement in (
        "insert into memory.memories (user_id, content) select 'ana', 'topic ' || n from generate_series(1, 12000) n",
        "insert into memory.embeddings (user_id, source, id, model, embedding) "
        "select user_id, 'memory', memory_id::text, 'old', memory._halfvec('[1, 0]') from memory.memories",
        "insert into memory.embeddings (user_id, source, id, model, embedding) "
        "select user_id, 'memory', memory_id::text, 'new', memory._halfvec('[1, 0, 0]') "
        "from memory.memories limit 11000",
    ):
        api.connection.execute(statement)
    api.connection.execute("set local statement_timeout = '3s'")
    register(api, dimensions=3)  # changes nothing, but what is missing is queued
    job = claim(api, "backfill")
    assert hand_in(api, job)["embedded"] == 256
    assert status(api) == {"new": (11_256, 12_000), "old": (12_000, 12_000)}
    api.activate_model(name="new")
    keep_query(api, "old", 1)
    assert found(api)[0] == {"old"}


# Off ------------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("F20")
def test_a_model_that_is_off_is_asked_for_nothing_and_keeps_its_embeddings(api: Api) -> None:
    know(api, 1)
    embed(api)
    keep_query(api, "old", 1)
    waiting = know(api, 2)
    api.deactivate_model(name="old")
    api.deactivate_model(name="old")
    # Nothing is queued, whatever happens, and what was queued has nothing to do.
    know(api, 3)
    say(api, "message 4")
    api.delete_memory(user_id="ana", memory_id=waiting[0])
    api.sweep()
    make_due(api)
    assert embed(api) == []
    assert open_jobs(api) == []
    assert api.query(FILLED) == [("old", 1)]
    # Searches go by keyword, also those with an embedding of their own.
    for arguments in ({}, {"query_embedding": str(vector("old", 1))}):
        api.notices.clear()
        rows = api.search(user_id="ana", query="topic 1", explain=True, **arguments)
        assert rows[0].content == "topic 1"
        assert not any("vector" in row.details for row in rows)
        assert api.notices == ["degraded: searching by keyword only, no embedding model is active"]
        with refused("mode"):
            api.search(user_id="ana", query="topic 1", mode="vector", **arguments)
    # On again, only what came since is missing.
    api.activate_model(name="old")
    assert [len(api.query("select 1 from memory.jobs where kind = 'backfill' and status = 'pending'"))] == [1]
    assert sum(result["embedded"] for result in embed(api)) == 2
    assert found(api)[0] == {"old"}


@pytest.mark.feature("F20")
def test_another_model_goes_on_while_one_is_off(api: Api) -> None:
    know(api, 1)
    embed(api)
    register(api)
    api.deactivate_model(name="new")  # before it was ever active
    assert embed(api) == []
    know(api, 2)
    embed(api)
    assert status(api) == {"new": (0, 2), "old": (2, 2)}
    api.activate_model(name="new")
    api.deactivate_model(name="old")
    # The one that is off does not serve while the other one is being filled.
    keep_query(api, "old", 1)
    assert api.search(user_id="ana", query="topic 1", explain=True)[0].details.keys() & {"vector"} == set()
    know(api, 3)
    embed(api)
    assert status(api) == {"new": (3, 3), "old": (2, 3)}
    api.drop_model(name="old")
    assert api.query(FILLED) == [("new", 3)]
    register(api)
    api.deactivate_model(name="new")
    api.drop_model(name="new")
    assert api.query(FILLED) == []


@pytest.mark.feature("F20")
def test_registering_a_model_again_switches_it_on_for_the_background(api: Api) -> None:
    know(api, 1)
    embed(api)
    register(api)
    api.deactivate_model(name="new")
    register(api)
    embed(api)
    assert status(api) == {"new": (1, 1), "old": (1, 1)}


@pytest.mark.feature("F20")
def test_without_a_chat_model_jobs_wait(api: Api) -> None:
    say(api, "I like tea")
    job_id = api.extract_memories(**ANA)
    api.deactivate_model(name="local")
    assert api.claim_jobs(worker="test", kinds=["extract_memories"]) == []
    job = api.get_job(user_id="ana", job_id=job_id)
    assert (job.status, job.attempts, job.error) == ("pending", 0, "no chat model is active")
    api.set_policy(settings={"summary": {"model": "local"}})
    summary = api.summarize_thread(**ANA)
    assert api.claim_jobs(worker="test", kinds=["summarize_thread", "compress_thread"]) == []
    assert api.get_job(user_id="ana", job_id=summary).status == "pending"
    api.activate_model(name="local")
    make_due(api)
    assert claim(api, "extract_memories").payload["model"]["name"] == "local"


@pytest.mark.feature("F20")
@pytest.mark.parametrize("name", [None, "", "nobody"])
def test_switching_off_what_is_not_there_is_refused(api: Api, name: str | None) -> None:
    with refused("name", "P0002"):
        api.deactivate_model(name=name)
