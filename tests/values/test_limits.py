"""Lists, filters and other JSON arguments: how much of them is taken, and what is older than a limit."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.support.sqlapi import Api, refused

ANA = {"user_id": "ana"}
MANY = [f"tag {number}" for number in range(101)]
LONG = ["x" * 256]
NAMES = ["tags_all", "tags_any", "exclude_tags", "memory_types", "doc_types", "namespaces"]


def nested(depth: int) -> Any:
    return {"a": nested(depth - 1)} if depth else 1


@pytest.mark.feature("F20")
class TestTags:
    @pytest.mark.parametrize("tags", [MANY, LONG], ids=["many", "long"])
    def test_that_are_too_many_or_too_long_are_refused_wherever_they_come_in(self, api: Api, tags: list[str]) -> None:
        memory_id = api.add_memory(**ANA, content="Likes tea").memory_id
        with refused("tags", "54000"):
            api.add_memory(**ANA, content="Likes coffee", tags=tags)
        with refused("tags", "54000"):
            api.update_memory(**ANA, memory_id=memory_id, tags=tags)
        with refused("tags", "54000"):
            api.add_memory(**ANA, content="Likes tea", tags=tags, on_conflict="replace")
        for statement in (
            "insert into memory.memories (user_id, content, tags) values ('ana', 'x', %(tags)s) returning 1",
            "update memory.memories set tags = %(tags)s where user_id = 'ana' returning 1",
        ):
            with refused("tags", "54000"):
                api.query(statement, tags=tags)

    def test_with_dimensions_are_refused(self, api: Api) -> None:
        with refused("tags"):
            api.add_memory(**ANA, content="Likes tea", tags="{{a},{b}}")

    @pytest.mark.feature("F20", "E10")
    def test_that_are_merged_are_as_many_as_may_be(self, api: Api) -> None:
        """A merged memory with more tags than allowed would make the job fail again and again."""
        first = api.add_memory(**ANA, content="Likes tea", tags=[f"a{number}" for number in range(90)]).memory_id
        second = api.add_memory(**ANA, content="Likes green tea", tags=[f"b{number}" for number in range(90)]).memory_id
        merge = "select memory._keep_the_best('ana', %(stays)s, array[%(gone)s]::uuid[])"
        api.query(merge, stays=second, gone=first)
        tags = api.get_memory(**ANA, memory_id=second).tags
        assert (len(tags), sum(tag.startswith("b") for tag in tags)) == (100, 90)


@pytest.mark.feature("F20")
class TestFilters:
    def test_of_a_search_are_short_lists(self, api: Api) -> None:
        for name in NAMES:
            for value in (MANY, LONG):
                with refused(name, "54000"):
                    api.search(**ANA, query="tea", **{name: value})
            for bad in ("{a,null}", "{{a},{b}}"):
                with refused(name):
                    api.search(**ANA, query="tea", **{name: bad})
        with refused("sources", "54000"):
            api.search(**ANA, query="tea", sources=["memory"] * 101)
        with refused("kinds", "54000"):
            api.claim_jobs(worker="w", kinds=["embed"] * 101)
        assert api.search(**ANA, query="tea", mode="keyword", sources=["memory"] * 6) == []

    def test_of_a_list_are_short(self, api: Api) -> None:
        with refused("tags_all", "54000"):
            api.list_memories(**ANA, tags_all=MANY)
        with refused("search", "54000"):
            api.list_memories(**ANA, search="x" * 1001)
        with refused("roles", "54000"):
            api.get_messages(**ANA, thread_id="t1", roles=["user"] * 101)
        assert api.list_memories(**ANA, search="x" * 1000) == []

    @pytest.mark.parametrize(
        "value",
        [
            {"a": list(range(101))},
            {"a": [[]] * 101},
            {str(number): 1 for number in range(101)},
            nested(101),
            {"a": "x" * 2**16},
        ],
        ids=["array", "arrays", "keys", "nested", "text"],
    )
    def test_on_metadata_are_small(self, api: Api, value: Any) -> None:
        with refused("filter", "54000"):
            api.search(**ANA, query="tea", filter=value)
        with refused("filter", "54000"):
            api.get_messages(**ANA, thread_id="t1", filter=value)
        for list_or_count in (api.list_memories, api.count_memories):
            with refused("filter", "54000"):
                list_or_count(**ANA, filter=value)

    def test_on_metadata_may_have_a_hundred_values(self, api: Api) -> None:
        for value in ({"a": list(range(99))}, {str(number): 1 for number in range(100)}, nested(100)):
            api.add_memory(**ANA, content=f"tea {len(str(value))}", metadata=value)
            assert len(api.search(**ANA, query="tea", mode="keyword", filter=value)) == 1
            assert len(api.list_memories(**ANA, filter=value)) == 1


@pytest.mark.feature("F20")
class TestOtherArguments:
    def test_of_messages_there_are_so_many(self, api: Api) -> None:
        with refused("messages", "54000"):
            api.add_messages(**ANA, thread_id="t1", messages=Jsonb([{}] * 100_001))

    def test_an_error_quotes_no_more_than_can_be_read(self, api: Api) -> None:
        with refused("settings") as refusal:
            api.set_policy(settings={"messages": {"expires_after": "x" * 60_000}})
        assert len(refusal.value.diag.message_primary or "") < 2_100

    def test_a_query_may_be_of_any_length(self, api: Api) -> None:
        api.add_memory(**ANA, content="Likes tea")
        assert len(api.search(**ANA, query="tea " * 1_000_000, mode="keyword")) == 1

    def test_a_key_of_any_length_is_looked_at_in_no_time(self, api: Api) -> None:
        with api.at_most(cpu_seconds=3), refused("key"):
            api.retrieve_artifact(**ANA, key="[MemoryRef: " + "a - " * 500_000)

    def test_calls_of_a_job_are_small(self, api: Api) -> None:
        api.add_message(**ANA, thread_id="t1", role="user", content="Hello")
        api.extract_memories(**ANA, thread_id="t1")
        [job] = api.claim_jobs(worker="w", kinds=["extract_memories"])
        for calls, code in (([{"error": "x" * 2**24}], "54000"), ([{}] * 10_001, "22023")):
            with refused("calls", code):
                api.record_calls(**ANA, job_id=job.job_id, calls=calls)

    def test_settings_are_small(self, api: Api) -> None:
        for settings in ({"summary": {"x" * 2**16: 1}}, {"knowledge_base": {"search_triggers": MANY}}):
            with refused("settings", "54000"):
                api.set_policy(settings=settings)
        with refused("settings", "54000"):
            api.register_model(
                name="m", kind="chat", provider="openai", model="gpt", settings={"base_url": "http://" + "x" * 2**16}
            )
