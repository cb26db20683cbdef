"""The LangGraph checkpointer."""

from __future__ import annotations

import asyncio
import contextlib
import operator
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, TypedDict

import psycopg
import pytest
from agent_memory import AsyncMemory, ConflictError, Memory
from agent_memory.adapters.langgraph import AgentMemorySaver, AsyncAgentMemorySaver
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import ALL_CAPABILITIES
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F21")


class State(TypedDict):
    """What has been added to the list so far, and how often."""

    items: Annotated[list[Any], operator.add]
    turns: int


def config(thread_id: str = "thread", **named: Any) -> Any:
    return {"configurable": {"thread_id": thread_id, **named}}


def counting(saver: BaseCheckpointSaver[Any], *, asks: bool = False) -> Any:
    """A graph that adds its turn to the list, and may ask before."""

    def add(state: State) -> dict[str, Any]:
        answer = interrupt("go on?") if asks else None
        turn = state.get("turns", 0) + 1
        return {"items": [{"turn": turn, "answer": answer}], "turns": turn}

    return StateGraph(State).add_node(add).add_edge(START, "add").add_edge("add", END).compile(checkpointer=saver)


@pytest.fixture
def saver(memory: Memory) -> AgentMemorySaver:
    return AgentMemorySaver(memory, "ana")


def rows(api: Api, **where: Any) -> dict[str, int]:
    condition = " and ".join(["true", *(f"{name} = %({name})s" for name in where)])
    tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
    return {name: api.value(f"select count(*) from memory.{name} where {condition}", **where) for name in tables}


class TestConformance:
    """LangGraph's own suite of checkpointers, with all that is optional."""

    def check(self, made: Callable[[], AsyncGenerator[BaseCheckpointSaver[Any], None]]) -> None:
        report = asyncio.run(validate(checkpointer_test(name="agent_memory")(made)))
        assert {name: result.failures for name, result in report.results.items() if not result.passed} == {}
        assert set(report.results) == {capability.value for capability in ALL_CAPABILITIES}

    def test_with_a_blocking_client(self, dsn: str) -> None:
        async def made() -> AsyncGenerator[BaseCheckpointSaver[Any], None]:
            with Memory(dsn) as memory:
                yield AgentMemorySaver(memory, lambda named: named.get("metadata", {}).get("user", "ana"))

        self.check(made)

    def test_with_an_asynchronous_client(self, dsn: str) -> None:
        async def made() -> AsyncGenerator[BaseCheckpointSaver[Any], None]:
            async with AsyncMemory(dsn) as memory:
                yield AsyncAgentMemorySaver(memory, "ana")

        self.check(made)


class TestGraphs:
    def test_a_graph_goes_on_where_it_was(self, saver: AgentMemorySaver) -> None:
        for _ in range(3):
            state = counting(saver).invoke({"items": ["new"]}, config())
        assert state == {
            "items": [item for turn in (1, 2, 3) for item in ("new", {"turn": turn, "answer": None})],
            "turns": 3,
        }

    def test_an_interrupted_graph_waits_for_the_answer(self, saver: AgentMemorySaver) -> None:
        assert counting(saver, asks=True).invoke({"items": []}, config())["__interrupt__"][0].value == "go on?"
        state = counting(saver, asks=True).invoke(Command(resume="yes"), config())
        assert state["items"] == [{"turn": 1, "answer": "yes"}]

    def test_a_graph_is_resumed_from_an_earlier_state(self, saver: AgentMemorySaver) -> None:
        graph = counting(saver)
        for number in range(3):
            graph.invoke({"items": [number]}, config())
        [after_first] = [s for s in graph.get_state_history(config()) if s.values.get("turns") == 1 and not s.next]
        forked = graph.update_state(after_first.config, {"items": ["forked"]})
        assert graph.invoke({"items": []}, forked)["items"] == [0, {"turn": 1, "answer": None}, "forked",
                                                               {"turn": 2, "answer": None}]  # fmt: skip
        [kept] = [s for s in graph.get_state_history(config()) if s.values.get("turns") == 3]
        assert kept.values["items"][-1] == {"turn": 3, "answer": None}

    def test_a_subgraph_has_states_of_its_own(self, saver: AgentMemorySaver) -> None:
        inner = counting(saver, asks=True)
        outer: Any = StateGraph(State).add_node("inner", inner).add_edge(START, "inner").compile(checkpointer=saver)
        outer.invoke({"items": []}, config())
        state = outer.get_state(config(), subgraphs=True)
        assert state.tasks[0].state.values["items"] == []
        assert outer.invoke(Command(resume="yes"), config())["items"] == [{"turn": 1, "answer": "yes"}]

    def test_an_asynchronous_graph(self, dsn: str) -> None:
        async def run() -> Any:
            async with AsyncMemory(dsn) as memory:
                saver = AsyncAgentMemorySaver(memory, "ana")
                await counting(saver).ainvoke({"items": []}, config())
                with pytest.raises(asyncio.InvalidStateError):
                    saver.get_tuple(config())
                in_a_thread = await asyncio.to_thread(saver.get_tuple, config())
                assert in_a_thread is not None
                assert [found.config async for found in saver.alist(config(), limit=1)] == [in_a_thread.config]
                listed = await asyncio.to_thread(lambda: [*saver.list(config())])
                assert len(listed) == 3
                return in_a_thread.checkpoint["channel_values"]["items"]

        assert asyncio.run(run()) == [{"turn": 1, "answer": None}]

    def test_two_runs_from_one_state_do_not_mix(self, saver: AgentMemorySaver) -> None:
        graph = counting(saver)
        graph.invoke({"items": ["first"]}, config())
        start = graph.get_state(config()).config
        states = [graph.invoke({"items": [name]}, start)["items"][2] for name in ("left", "right")]
        assert states == ["left", "right"]
        history = [s.values["items"] for s in graph.get_state_history(config()) if s.values.get("turns") == 2]
        assert sorted(items[2] for items in history) == ["left", "right"]


class TestValues:
    @pytest.mark.parametrize(
        "value",
        [None, True, 0, -(2**60), 1.5, float("inf"), "", "text", "two\nlines", "\0", "\ud800", "long " * 1000,
         "\N{GRINNING FACE}", b"bytes", [1, [2]], {"a": {"b": None}}, {1, 2}, (1, 2)],
        ids=repr,
    )  # fmt: skip
    def test_a_value_comes_back_as_it_was(self, saver: AgentMemorySaver, value: Any) -> None:
        value = saver.serde.loads_typed(saver.serde.dumps_typed(value))  # which makes a list of a tuple
        checkpoint: Any = {"v": 4, "id": "1", "ts": "", "channel_values": {"x": value}, "channel_versions": {"x": "1"}}
        saver.put(config(), checkpoint, {}, {"x": "1"})
        saver.put_writes(config(checkpoint_ns="", checkpoint_id="1"), [("x", value)], "task")
        stored = saver.get_tuple(config())
        assert stored is not None
        assert stored.checkpoint["channel_values"] == {"x": value}
        assert type(stored.checkpoint["channel_values"]["x"]) is type(value)
        assert stored.pending_writes == [("task", "x", value)]

    def test_an_unchanged_value_is_stored_once(self, saver: AgentMemorySaver, api: Api) -> None:
        class Two(TypedDict):
            big: list[str]
            count: Annotated[int, operator.add]

        graph: Any = (
            StateGraph(Two).add_node("add", lambda _: {"count": 1}).add_edge(START, "add").compile(checkpointer=saver)
        )
        graph.invoke({"big": ["x" * 1000], "count": 0}, config())
        for _ in range(5):
            graph.invoke({"count": 0}, config())
        assert api.value("select count(*) from memory.checkpoint_blobs where channel = 'big'") == 1


class TestRetention:
    def run(self, saver: AgentMemorySaver, *threads: str, turns: int = 3) -> None:
        for thread in threads:
            for _ in range(turns):
                counting(saver).invoke({"items": ["said"]}, config(thread))

    def test_a_pruned_thread_keeps_its_state(self, saver: AgentMemorySaver, api: Api) -> None:
        self.run(saver, "pruned", "other")
        before = counting(saver).get_state(config("pruned")).values
        saver.prune(["pruned"])
        assert counting(saver).get_state(config("pruned")).values == before
        assert rows(api, thread_id="pruned") | {"checkpoint_writes": 0} == {
            "checkpoints": 1, "checkpoint_blobs": 1, "checkpoint_writes": 0}  # fmt: skip
        assert rows(api, thread_id="other")["checkpoints"] == 9
        assert counting(saver).invoke({"items": []}, config("pruned"))["turns"] == 4

    def test_the_finished_calls_of_subgraphs_are_pruned(self, saver: AgentMemorySaver, api: Api) -> None:
        inner = counting(saver)
        outer: Any = StateGraph(State).add_node("inner", inner).add_edge(START, "inner").compile(checkpointer=saver)
        for _ in range(3):
            outer.invoke({"items": []}, config())
        assert api.value("select count(distinct namespace) from memory.checkpoints") > 1
        saver.prune(["thread"])
        assert api.value("select array_agg(namespace) from memory.checkpoints") == [""]

    def test_a_delta_channel_is_not_pruned(self, saver: AgentMemorySaver, api: Api) -> None:
        self.run(saver, "plain")
        checkpoint: Any = {"v": 4, "id": "1", "ts": "", "channel_values": {}, "channel_versions": {}}
        saver.put(config("delta"), checkpoint, {"counters_since_delta_snapshot": {"x": (1, 1)}}, {})
        before = rows(api)
        with pytest.raises(NotImplementedError, match="delta"), api.connection.transaction():
            saver.prune(["plain", "delta"])
        assert rows(api) == before

    def test_deletion(self, saver: AgentMemorySaver, api: Api, memory: Memory) -> None:
        self.run(saver, "one", "two", "three")
        memory.add_message("ana", "one", "user", "I live in Oslo")
        memory.add_message("ana", "two", "user", "I live in Oslo")
        saver.delete_thread("one")
        assert not any(rows(api, thread_id="one").values())
        assert [m.content for m in memory.get_messages("ana", "one")] == ["I live in Oslo"]
        memory.delete_thread("ana", "two")  # with messages
        memory.delete_thread("ana", "three")  # without
        assert not any(rows(api).values())

    def test_runs_are_deleted(self, saver: AgentMemorySaver, api: Api) -> None:
        for run in ("a", "b"):
            counting(saver).invoke({"items": [run]}, {**config(), "metadata": {"run_id": run}})
        state = counting(saver).get_state(config()).values
        saver.delete_for_runs(["a"])
        assert api.value("select array_agg(distinct metadata ->> 'run_id') from memory.checkpoints") == ["b"]
        assert counting(saver).get_state(config()).values == state

    def test_a_copy_goes_its_own_way(self, saver: AgentMemorySaver) -> None:
        self.run(saver, "one")
        saver.copy_thread("one", "copy")
        assert counting(saver).invoke({"items": []}, config("copy"))["turns"] == 4
        assert counting(saver).get_state(config("one")).values["turns"] == 3
        with pytest.raises(ConflictError):
            saver.copy_thread("one", "copy")

    def test_a_thread_expires_as_a_whole(self, saver: AgentMemorySaver, api: Api) -> None:
        api.set_policy(settings={"checkpoints": {"expires_after": "1 day"}}, user_id="ana")
        self.run(saver, "old", "new", "again")
        later = "update memory.checkpoints set expires_at = now() - interval '1 s'"
        api.connection.execute(f"{later} where thread_id in ('old', 'again') and expires_at is not null")
        assert rows(api, thread_id="old")["checkpoints"] == 9
        assert saver.get_tuple(config("old")) is None
        assert [*saver.list(config("old"))] == []
        assert len([*saver.list(None)]) == 9
        self.run(saver, "again", turns=1)
        assert counting(saver).get_state(config("again")).values["turns"] == 1
        assert api.sweep()["checkpoints"] == 9
        assert rows(api, thread_id="old") == {"checkpoints": 0, "checkpoint_blobs": 0, "checkpoint_writes": 0}
        assert counting(saver).get_state(config("new")).values["turns"] == 3

    def test_a_graph_at_work_goes_on_though_its_thread_has_expired(self, saver: AgentMemorySaver, api: Api) -> None:
        """It loaded what it does not pass again."""
        api.set_policy(settings={"checkpoints": {"expires_after": "1 day"}}, user_id="ana")
        values: dict[str, Any] = {"profile": ["kept"], "messages": ["one"]}
        first: Any = {"v": 4, "id": "1", "ts": "", "channel_values": values,
                      "channel_versions": {"profile": "1", "messages": "1"}}  # fmt: skip
        loaded = saver.put(config(checkpoint_ns=""), first, {}, {"profile": "1", "messages": "1"})
        api.connection.execute("update memory.checkpoints set expires_at = now() - interval '1 s'")
        second: Any = {**first, "id": "2", "channel_values": {**values, "messages": ["one", "two"]},
                       "channel_versions": {"profile": "1", "messages": "2"}}  # fmt: skip
        saver.put(loaded, second, {}, {"messages": "2"})
        stored = saver.get_tuple(config())
        assert stored is not None
        assert stored.checkpoint["channel_values"] == {"profile": ["kept"], "messages": ["one", "two"]}

    def test_an_expired_thread_is_not_copied_and_may_be_copied_to(self, saver: AgentMemorySaver, api: Api) -> None:
        api.set_policy(settings={"checkpoints": {"expires_after": "1 day"}}, user_id="ana")
        self.run(saver, "old", "new")
        later = "update memory.checkpoints set expires_at = now() - interval '1 s'"
        api.connection.execute(f"{later} where thread_id = 'old' and expires_at is not null")
        assert api.copy_checkpoints(user_id="ana", thread_id="old", new_thread_id="copy") == 0
        saver.copy_thread("new", "old")
        assert counting(saver).get_state(config("old")).values["turns"] == 3

    def test_expiry_survives_pruning(self, saver: AgentMemorySaver, api: Api) -> None:
        api.set_policy(settings={"checkpoints": {"expires_after": "1 day"}}, user_id="ana")
        self.run(saver, "one")
        first = [*saver.list(config("one"))][-1]
        saver.put(config("one"), first.checkpoint, first.metadata, {})  # the last one stored is not the newest
        saver.prune(["one"])
        assert api.value("select count(*) from memory.checkpoints where expires_at > now()") == 1

    def test_a_user_is_forgotten_with_the_states_of_graphs(self, saver: AgentMemorySaver, api: Api) -> None:
        self.run(saver, "one")
        self.run(AgentMemorySaver(Memory(api.connection), "bo"), "one")
        before = rows(api, user_id="bo")
        exported = api.export_user(user_id="ana")
        receipt = api.forget_user(user_id="ana")
        assert receipt["tables"]["checkpoints"] == 9
        assert not any(rows(api, user_id="ana").values())
        assert rows(api, user_id="bo") == before
        api.import_user(user_id="cy", export={**exported, "user_id": "cy"})
        state = counting(AgentMemorySaver(Memory(api.connection), "cy")).get_state(config("one")).values
        assert state["turns"] == 3


def test_what_one_thread_costs_does_not_follow_other_users(saver: AgentMemorySaver, api: Api) -> None:
    for run in "ab":
        counting(saver).invoke({"items": []}, {**config(), "metadata": {"run_id": run}})
    for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
        api.connection.execute(
            f"insert into memory.{table} select (jsonb_populate_record(t, jsonb_build_object('user_id', 'u' || n))).*"
            f" from memory.{table} as t, generate_series(1, 500) as n"
        )
    assert api.entries_read(lambda: saver.delete_for_runs(["a"])) < 500
    assert api.entries_read(lambda: saver.prune(["thread"])) < 500


def test_pages_of_all_threads_have_the_checkpoints_of_copies(saver: AgentMemorySaver, api: Api) -> None:
    counting(saver).invoke({"items": []}, config("one"))
    for number in range(3):
        saver.copy_thread("one", f"copy {number}")
    page, seen = [None], []
    while page:
        page = api.list_checkpoints(user_id="ana", row_limit=2, before=seen[-1][0] if seen else None)
        seen += [(row.checkpoint_id, row.thread_id) for row in page]
    assert len(seen) == len(set(seen)) == 12
    assert len([*saver.list(None, limit=5)]) == 5


def test_writes_to_one_place_and_ids_of_any_length(api: Api) -> None:
    given = {"user_id": "ana", "thread_id": "t", "checkpoint_id": "1", "task_id": "x", "channels": ["a", "b"]}
    api.put_checkpoint_writes(**given, places="{-1,-1}", types=["t", "t"], blobs='{"1","2"}')
    assert api.value("select array_agg(channel) from memory.checkpoint_writes") == ["b"]
    for size in (100, 255):
        ids = dict.fromkeys(("user_id", "thread_id", "checkpoint_id", "namespace"), "é" * size)
        with contextlib.nullcontext() if size == 100 else pytest.raises(psycopg.Error, match="2000 bytes"):
            api.put_checkpoint(**ids, checkpoint={"v": 4})


def test_users_do_not_see_each_others_threads(memory: Memory) -> None:
    saver = AgentMemorySaver(memory, lambda named: named["configurable"].get("user", "nobody"))
    for user in ("ana", "bo"):
        counting(saver).invoke({"items": [user]}, config(user=user))
    assert counting(saver).get_state(config(user="bo")).values["items"][0] == "bo"
    assert saver.get_tuple(config()) is None


def test_ten_thousand_checkpoints_of_a_thread(saver: AgentMemorySaver, api: Api) -> None:
    """Reading the newest one, and going on from it, reads a few rows."""
    counting(saver).invoke({"items": []}, config())
    api.connection.execute(
        "insert into memory.checkpoints (user_id, thread_id, namespace, checkpoint_id, checkpoint, metadata)"
        " select user_id, thread_id, '', '0' || n, checkpoint, metadata"
        " from (select * from memory.checkpoints order by checkpoint_id desc limit 1) as c,"
        " generate_series(1, 10000) as n"
    )
    api.connection.execute(
        "insert into memory.checkpoint_blobs select user_id, thread_id, namespace, channel, '0' || n, type, blob"
        " from (select * from memory.checkpoint_blobs limit 1) as b, generate_series(1, 10000) as n"
    )
    saver.get_tuple(config())
    assert api.entries_read(lambda: saver.get_tuple(config())) < 100
    counting(saver).invoke({"items": []}, config())
    assert len([*saver.list(config(), limit=250)]) == 250


@pytest.mark.parametrize("strategy", ["keep_all", ""])
def test_an_unknown_strategy_is_refused(saver: AgentMemorySaver, strategy: str) -> None:
    with pytest.raises(ValueError, match="strategy"):
        saver.prune(["thread"], strategy=strategy)
    with pytest.raises(TypeError):
        saver.prune("thread")


def test_tasks_write_at_once(dsn: str) -> None:
    """Parallel nodes, a thread each, with their writes in one order whoever is first."""
    with Memory(dsn) as memory:
        saver = AgentMemorySaver(memory, "ana")
        graph: Any = StateGraph(State)
        barrier = threading.Barrier(5)

        def node(number: int) -> Callable[[State], dict[str, Any]]:
            def run(_: State) -> dict[str, Any]:
                barrier.wait()
                return {"items": [number]}

            return run

        for number in range(5):
            graph.add_node(str(number), node(number)).add_edge(START, str(number))
        assert graph.compile(checkpointer=saver).invoke({"items": []}, config())["items"] == [0, 1, 2, 3, 4]


def test_runs_and_prunes_at_once(dsn: str) -> None:
    """What a run stores while its thread is pruned stays."""
    stop = threading.Event()

    def prune() -> None:
        with Memory(dsn) as memory:
            while not stop.is_set():
                AgentMemorySaver(memory, "ana").prune(["thread"])

    with Memory(dsn) as memory, ThreadPoolExecutor() as pool:
        pruning = pool.submit(prune)
        try:
            for turn in range(1, 21):
                assert counting(AgentMemorySaver(memory, "ana")).invoke({"items": [turn]}, config())["turns"] == turn
        finally:
            stop.set()
        pruning.result()


def test_a_failing_database_is_told(failing_memory: Memory) -> None:
    with pytest.raises(psycopg.OperationalError):
        AgentMemorySaver(failing_memory, "ana").get_tuple(config())
