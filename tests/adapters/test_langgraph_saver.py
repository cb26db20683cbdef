"""The LangGraph checkpointer."""

from __future__ import annotations

import asyncio
import operator
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, TypedDict

import pytest
from agent_memory import AsyncMemory, Memory
from agent_memory.adapters.langgraph import AgentMemorySaver, AsyncAgentMemorySaver
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import ALL_CAPABILITIES
from langgraph.graph import START, StateGraph
from langgraph.types import Command

from tests.adapters.graphs import State, config, counting
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F21")


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
    VALUES = (
        None, True, -(2**60), 1.5, -0.0, 1e16, 5e-324, float("inf"), "", "two\nlines", "\0", "\ud800", "long " * 1000,
        "\N{GRINNING FACE}", b"bytes", [1, [2]], {"a": {"b": None}}, {1, 2}, (1, 2),
    )  # fmt: skip

    def test_a_value_comes_back_as_it_was(self, saver: AgentMemorySaver) -> None:
        values = {
            f"{place}": saver.serde.loads_typed(saver.serde.dumps_typed(value))  # which makes a list of a tuple
            for place, value in enumerate(self.VALUES)
        }
        versions: Any = dict.fromkeys(values, "1")
        checkpoint: Any = {"v": 4, "id": "1", "ts": "", "channel_values": values, "channel_versions": versions}
        saver.put(config(), checkpoint, {}, versions)
        saver.put_writes(config(checkpoint_ns="", checkpoint_id="1"), [*values.items()], "task")
        stored = saver.get_tuple(config())
        assert stored is not None
        found = stored.checkpoint["channel_values"]
        assert found == values
        assert [repr(found[name]) for name in values] == [repr(value) for value in values.values()]  # also types, signs
        assert stored.pending_writes == [("task", name, value) for name, value in values.items()]

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


def test_users_do_not_see_each_others_threads(memory: Memory) -> None:
    saver = AgentMemorySaver(memory, lambda named: named["configurable"].get("user", "nobody"))
    for user in ("ana", "bo"):
        counting(saver).invoke({"items": [user]}, config(user=user))
    assert counting(saver).get_state(config(user="bo")).values["items"][0] == "bo"
    assert saver.get_tuple(config()) is None


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
