"""What a search costs: users with many rows, and the steps that the planner takes through them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.support.embeddings import embed_texts
from tests.support.search_world import register
from tests.support.sqlapi import Api

Step = dict[str, Any]


def with_model(api: Api) -> Api:
    """The same database with the embedding model "three" active and room for 100,000 memories per agent."""
    register(api, "three", 3)
    api.activate_model(name="three")
    api.set_policy(settings={"memories": {"max_per_agent": 100_000}})
    return api


def fill(api: Api, user_id: str, rows: int) -> None:
    """That many memories, as many messages, and an embedding by the model "three" for each."""
    api.query(
        """
        insert into memory.memories (user_id, content)
        select %(user_id)s, 'likes tea number ' || n || case when n %% 7 = 0 then ' green' else '' end
        from generate_series(1, %(rows)s::int) as n returning 1
        """,
        user_id=user_id, rows=rows,
    )  # fmt: skip
    for start in range(0, rows, 1000):
        numbers = range(start, min(start + 1000, rows))
        messages = [{"role": "user", "content": f"green tea, said {number}"} for number in numbers]
        api.add_messages(user_id=user_id, thread_id="t1", messages=messages)
    embed_texts(
        api,
        """
        select t.source, t.id, format('[%%s,%%s,1]', (n * 7919) %% 101, (n * 104729) %% 103)::vector
        from (select row_number() over (order by source, number, id) as n, source, id
              from memory.texts where user_id = %(user_id)s) as t
        """,
        "three",
        user_id=user_id,
    )


def plans_of_search(api: Api, **arguments: Any) -> list[list[Step]]:
    """The statements of a search, as ``plans_of`` gives them."""
    given = {"user_id": "ana", "query": "green tea", "query_embedding": "[1,0,0]", **arguments}
    return plans_of(api, lambda: api.search(**given))


def plans_of(api: Api, call: Callable[[], object]) -> list[list[Step]]:
    """The statements of a call, each as its steps with the rows that a step has seen in all."""
    api.connection.execute("load 'auto_explain'")
    for name, value in (
        ("log_min_duration", "0"), ("log_nested_statements", "on"), ("log_analyze", "on"), ("log_timing", "off"),
        ("log_format", "json"), ("log_level", "notice"),
    ):  # fmt: skip
        api.connection.execute(f"set auto_explain.{name} = {value}")
    api.notices.clear()
    call()
    api.connection.execute("set auto_explain.log_min_duration = -1")
    plans = [json.loads(notice.partition("plan:")[2]) for notice in api.notices if notice.startswith("duration:")]
    return [list(_steps(plan["Plan"])) for plan in plans]


def plan_of_ranking(api: Api, **arguments: Any) -> list[Step]:
    """The steps of the statements of a search that read texts: one of them ranks."""
    return [step for plan in plans_of_search(api, **arguments) if reads(plan, "texts") for step in plan]


def reads(steps: list[Step], table: str) -> list[Step]:
    """Those of the steps that read a table."""
    return [step for step in steps if step.get("Relation Name") == table]


def _steps(node: Step) -> Iterator[Step]:
    seen = [value for name, value in node.items() if name == "Actual Rows" or name.startswith("Rows Removed by")]
    yield {**node, "seen": sum(seen) * node["Actual Loops"]}
    for inner in node.get("Plans", []):
        yield from _steps(inner)
