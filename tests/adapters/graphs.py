"""Graphs of LangGraph whose states are kept, and what the database has of them."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from tests.support.sqlapi import Api


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


def rows(api: Api, **where: Any) -> dict[str, int]:
    condition = " and ".join(["true", *(f"{name} = %({name})s" for name in where)])
    tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
    return {name: api.value(f"select count(*) from memory.{name} where {condition}", **where) for name in tables}
