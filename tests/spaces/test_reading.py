"""What search, get_context and list_memories show of spaces."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from tests.spaces.steps import refused
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F24")

ASKED: dict[str, Any] = {"user_id": "ana", "query": "When are releases?", "mode": "keyword"}
CALLS: dict[str, dict[str, Any]] = {
    "search": {"query": "releases", "mode": "keyword"},
    "get_context": {"thread_id": "t", "query": "releases"},
    "list_memories": {},
}


def shown(api: Api, **arguments: Any) -> list[tuple[str | None, str]]:
    return [(row.details.get("space"), row.content) for row in api.search(**{**ASKED, **arguments})]


def context(api: Api, **arguments: Any) -> Any:
    parts = api.get_context(user_id="ana", thread_id="new", query="When are releases?", **arguments)
    return next((part for part in parts if part.source == "memories"), None)


def test_a_search_ranks_the_space_beside_the_users_own(api: Api) -> None:
    results = api.search(**ASKED, spaces="{team}")
    assert {(row.source, row.details["space"]) for row in results} == {
        ("memory", None), ("memory", "team"), ("document", "team")
    }  # fmt: skip
    assert [row.score for row in results] == sorted((row.score for row in results), reverse=True)
    assert "Releases stop in July" not in {row.content for row in results}
    with_sources = api.search(**ASKED, spaces="{team}", sources="{document}")
    assert [(row.details["title"], row.details["space"]) for row in with_sources] == [("Handbook", "team")]


def test_scores_are_those_of_one_user_who_has_all_the_texts(api: Api) -> None:
    for content in ("Releases happen on Thursdays", "Ana plans releases in May"):
        api.add_memory(user_id="all", content=content)
    of_one = api.search(**{**ASKED, "user_id": "all"}, sources="{memory}")
    of_both = api.search(**ASKED, spaces="{team}", sources="{memory}")
    assert [(row.content, row.score) for row in of_both] == [(row.content, row.score) for row in of_one]
    assert len(of_both) == 2


@pytest.mark.parametrize(("fusion", "sources"), [("score", "{memory}"), ("rrf", "{memory,message,document,summary}")])
def test_meaning_is_compared_in_spaces_too(api: Api, fusion: str, sources: str) -> None:
    api.register_model(name="m", kind="embedding", provider="openai", model="m", settings={"dimensions": 2})
    api.activate_model(name="m")
    api.set_policy(settings={"search": {"fusion": fusion}})
    api.add_memory(user_id="space:team", content="Something else")
    api.add_message(user_id="ana", thread_id="t", role="user", content="Releases are fun")
    api.connection.execute(
        """
        update memory.texts as t set model = 'm', embedding = case
          when t.source = 'document' then '[0.9,0.1]' when t.user_id = 'ana' then '[0.6,0.8]'
          when exists (select from memory.memories as m where m.memory_id::text = t.id and m.content like 'Rel%')
            then '[1,0]'
          else '[0,1]' end::halfvec
        where t.source in ('memory', 'document')
        """
    )
    asked = {"user_id": "ana", "query_embedding": "[1,0]", "spaces": "{team}", "sources": sources}
    found = api.search(**asked, mode="vector")
    documents = [0.994] if "document" in sources else []
    assert [round(row.score, 3) for row in found] == [1.0, *documents, 0.6, 0.0]
    assert [row.details["space"] for row in found] == ["team", *(["team"] * len(documents)), None, "team"]
    assert [row.score for row in api.search(**asked, mode="vector", explain=True)] == [row.score for row in found]
    assert "July" not in str(found)
    hybrid = api.search(**asked, query="Thursdays")
    assert hybrid[0].content == "Releases happen on Thursdays"
    explained = api.search(**asked, query="Thursdays", explain=True)
    assert [(row.id, row.score) for row in explained] == [(row.id, row.score) for row in hybrid]
    assert "space" in explained[0].details
    assert explained[0].details["vector"]["rank"] == 1


def test_a_message_of_a_space_lets_no_message_of_the_user_pass_a_filter(api: Api) -> None:
    """Threads of a space may be named as the user's are, and messages are numbered from 0 in both."""
    for user_id, topic in (("space:team", "x"), ("ana", "y")):
        said = {"thread_id": "main", "role": "user", "content": "Releases are fun", "metadata": Jsonb({"topic": topic})}
        api.add_message(user_id=user_id, **said)
    while api.value("select memory._finish_unread_messages(100000)"):
        pass
    assert shown(api, spaces="{team}", sources="{message}", filter=Jsonb({"topic": "x"})) == []
    assert shown(api, spaces="{team}", sources="{message}", filter=Jsonb({"topic": "y"})) == [
        (None, "Releases are fun")
    ]


def test_results_of_a_space_pass_all_filters_but_that_of_a_thread(api: Api) -> None:
    memory_id = api.add_memory(
        user_id="space:team", content="Releases need two reviews", tags=["rule"], thread_id="t", metadata={"a": 1}
    ).memory_id
    for filters in ({"tags_all": "{rule}"}, {"filter": {"a": 1}}, {"tags_any": "{rule,b}", "exclude_thread_id": "t"}):
        assert [row.id for row in api.search(**ASKED, spaces="{team}", **filters)] == [str(memory_id)], filters
    assert api.search(**ASKED, spaces="{team}", thread_id="t") == []
    assert api.search(**ASKED, spaces="{team}", tags_all="{other}") == []
    assert {row.source for row in api.search(**ASKED, spaces="{team}", doc_types="{document}")} == {"document"}


def test_a_memory_of_a_user_and_one_of_a_space_may_have_the_same_id(api: Api) -> None:
    """An id that is known, or was imported, never leads to the text of somebody else."""
    memory_id = api.add_memory(user_id="space:team", content="Releases are tagged").memory_id
    api.add_memory(user_id="ana", content="Releases annoy Ana", memory_id=memory_id, thread_id="space:team")
    same = set(shown(api, spaces="{team}", sources="{memory}"))
    assert {(None, "Releases annoy Ana"), ("team", "Releases are tagged")} <= same
    secret = api.list_memories(user_id="space:secret")[0].memory_id
    api.add_memory(user_id="ana", content="Releases guess", memory_id=secret, thread_id="space:secret")
    calls: list[dict[str, Any]] = [{}, {"filter": {}}, {"thread_id": "space:secret"}, {"spaces": "{team}"}]
    for arguments in calls:
        assert not [text for _, text in shown(api, **arguments) if "July" in text]


def test_a_context_shows_the_memories_of_a_space_with_its_name(api: Api) -> None:
    part = context(api, spaces="{team}")
    assert "[team] Releases happen on Thursdays" in part.content
    assert "1. Ana plans releases in May" in part.content or "2. Ana plans releases in May" in part.content
    assert sorted(str(memory["space"]) for memory in part.metadata["memories"]) == ["None", "team"]
    assert "July" not in part.content
    alone = context(api)
    assert "Thursdays" not in alone.content
    assert "space" not in alone.metadata["memories"][0]


def test_an_agents_context_has_what_any_agent_wrote_in_the_space(api: Api) -> None:
    part = context(api, spaces="{team}", agent_id="planner")
    assert "Thursdays" in part.content
    assert "May" not in part.content
    assert shown(api, spaces="{team}", agent_id="planner", sources="{memory}") == []


def test_a_list_has_both_with_their_space(api: Api) -> None:
    rows = api.list_memories(user_id="ana", spaces="{team}")
    assert [(row.space, row.content, row.total_count) for row in rows] == [
        (None, "Ana plans releases in May", 2), ("team", "Releases happen on Thursdays", 2)
    ]  # fmt: skip
    assert [row.space for row in api.list_memories(user_id="ana", spaces="{team}", row_limit=1, row_offset=1)] == [
        "team"
    ]
    assert [row.space for row in api.list_memories(user_id="ana", spaces="{team}", search="thursdays")] == ["team"]
    assert [row.space for row in api.list_memories(user_id="ana")] == [None]
    assert [row.space for row in api.list_memories(user_id="ana", spaces="{}")] == [None]
    [of_space] = api.list_memories(user_id="space:team")
    assert (of_space.space, api.get_memory(user_id="space:team", memory_id=of_space.memory_id).space) == (
        "team",
        "team",
    )


def test_the_policy_names_spaces_but_grants_none(api: Api) -> None:
    api.set_policy(settings={"context": {"spaces": ["secret", "team", "nosuch"]}})
    assert {space for space, _ in shown(api)} == {None, "team"}
    assert "[team]" in context(api).content
    assert {space for space, _ in shown(api, spaces="{}")} == {None}
    assert "[team]" not in context(api, spaces="{}").content
    assert [row.space for row in api.list_memories(user_id="ana")] == [None]
    assert shown(api, user_id="eve") == []
    api.set_policy(settings={"context": {"spaces": []}}, user_id="ana")
    assert {space for space, _ in shown(api)} == {None}


@pytest.mark.parametrize("function", CALLS)
def test_a_space_that_is_not_granted_answers_like_one_that_does_not_exist(api: Api, function: str) -> None:
    def refusal(space: str) -> tuple[str, str | None]:
        error = refused(api, function, "P0002", user_id="ana", **CALLS[function], spaces=[space])
        return str(error.diag.message_primary).replace(space, "X"), error.diag.message_hint

    assert refusal("secret") == refusal("nosuch")
    for space in ("space:team", "", "TEAM", "team ", "'", '"', "ü", "a:b", "space:"):
        refused(api, function, "P0002", user_id="ana", **CALLS[function], spaces=[space])


@pytest.mark.parametrize("name", ["a:b", 'Grüße "東京"; --', "x" * 249, "{a,b}"])
def test_any_name_works(api: Api, name: str) -> None:
    api.create_space(space=name)
    api.grant_space(space=name, user_id="ana")
    api.add_memory(user_id=f"space:{name}", content="Releases are celebrated")
    api.add_document(user_id=f"space:{name}", content="Releases are documented")
    assert {space for space, _ in shown(api, spaces=[name])} == {None, name}
    assert {row.space for row in api.list_memories(user_id="ana", spaces=[name])} == {None, name}
    assert name in {row.space for row in api.list_spaces(user_id="ana")}
    assert context(api, spaces=[name]) is not None
    assert api.revoke_space(space=name, user_id="ana") is True
    assert api.delete_space(space=name)["tables"]["spaces"] == 1


def test_the_lists_of_spaces(api: Api) -> None:
    [of_ana] = api.list_spaces(user_id="ana")
    assert (of_ana.space, of_ana.title, of_ana.access) == ("team", "The team", "read")
    assert (of_ana.member_count, of_ana.memory_count, of_ana.total_count) == (2, 1, 1)
    assert of_ana.metadata == {"floor": 3}
    assert [(row.space, row.access, row.total_count) for row in api.list_spaces()] == [
        ("secret", None, 2), ("team", None, 2)
    ]  # fmt: skip
    assert [row.access for row in api.list_spaces(user_id="ben")] == ["write"]
    assert api.list_spaces(user_id="eve") == []


def test_ids_of_no_space_are_refused(api: Api) -> None:
    for user_id in ("space:nosuch", "space:", "space:team ", "space:TEAM"):
        refused(api, "add_memory", "22023", user_id=user_id, content="Hello")
        refused(api, "add_message", "22023", user_id=user_id, thread_id="t", role="user", content="Hello")
        refused(api, "get_messages", "22023", user_id=user_id, thread_id="t")
        refused(api, "list_memories", "22023", user_id=user_id)
        refused(api, "search", "22023", user_id=user_id, query="tea")
    with pytest.raises(errors.InvalidParameterValue), api.connection.transaction():
        api.connection.execute("insert into memory.memories (user_id, content) values ('space:nosuch', 'Hello')")
    with pytest.raises(errors.InvalidParameterValue), api.connection.transaction():
        api.connection.execute(
            "insert into memory.messages (user_id, thread_id, role, content) values ('space:no', 't', 'user', 'Hello')"
        )
    assert api.add_memory(user_id="Space:nosuch", content="Hello").inserted


def test_merged_users_keep_the_stronger_access(api: Api) -> None:
    api.create_space(space="third")
    for space, user_id, access in (
        ("secret", "former", "write"), ("team", "former", "write"), ("third", "former", "read"),
        ("third", "ana", "write"),
    ):  # fmt: skip
        api.grant_space(space=space, user_id=user_id, access=access)
    api.merge_users(from_user_id="former", into_user_id="ana")
    assert {row.space: row.access for row in api.list_spaces(user_id="ana")} == {
        "secret": "write", "team": "write", "third": "write"
    }  # fmt: skip
    assert api.list_spaces(user_id="former") == []
    refused(api, "merge_users", "22023", from_user_id="space:team", into_user_id="ana")
    refused(api, "merge_users", "22023", from_user_id="ana", into_user_id="space:team")
    refused(api, "merge_users", "P0002", from_user_id="former", into_user_id="ana")
