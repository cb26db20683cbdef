"""The checkpointers that are compared: each keeps the states of one graph, whose two nodes do nothing.

Imports stand inside of the functions: each checkpointer runs in an environment that has no other.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

TURNS = 10
"""Turns of a thread, after which a client begins the next one."""


class State(TypedDict):
    """What is kept after each step: a list that grows and a number."""

    messages: Annotated[list[str], operator.add]
    steps: int


def _graph(saver: Any) -> Any:
    from langgraph.graph import START, StateGraph

    def work(state: State) -> dict[str, Any]:
        return {"messages": ["I prefer trains over planes. " * 7], "steps": state.get("steps", 0) + 1}

    graph = StateGraph(State).add_node("first", work).add_node("second", work)
    return graph.add_edge(START, "first").add_edge("first", "second").compile(checkpointer=saver)


class AgentMemoryCheckpoints:
    """This project's checkpointer."""

    def __init__(self, dsn: str) -> None:
        from agent_memory import Memory
        from agent_memory.adapters.langgraph import AgentMemorySaver

        self.graph = _graph(AgentMemorySaver(Memory(dsn), "ana"))

    def prepare(self) -> None:
        """Everything is installed."""


class LangGraphCheckpoints:
    """LangGraph's own checkpointer for PostgreSQL."""

    def __init__(self, dsn: str) -> None:
        import psycopg
        from langgraph.checkpoint.postgres import PostgresSaver
        from psycopg.rows import dict_row

        # As PostgresSaver.from_conn_string() connects.
        connection = psycopg.connect(dsn, autocommit=True, prepare_threshold=0, row_factory=dict_row)
        self._saver = PostgresSaver(connection)
        self.graph = _graph(self._saver)

    def prepare(self) -> None:
        self._saver.setup()


Saver = AgentMemoryCheckpoints | LangGraphCheckpoints
