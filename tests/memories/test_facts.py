"""Facts that change: a memory with an attribute of one value ends the value before, and nothing is deleted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.memories.steps import APR, FEB, JAN, MAR, add, contents, home, states
from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.feature("F3", "F29")


def test_a_new_value_ends_the_value_before_and_deletes_nothing(api: Api) -> None:
    lyon = home(api, "Lives in Lyon", valid_from=JAN)
    porto = home(api, "Lives in Porto", valid_from=MAR)
    assert contents(api) == ["Lives in Porto"]
    assert states(api) == {"Lives in Lyon": "replaced", "Lives in Porto": "current"}
    old = api.get_memory(user_id="ana", memory_id=lyon)
    assert (old.superseded_by, old.supersede_reason, old.valid_to, old.state) == (porto, "replaced", MAR, "replaced")
    assert [contents(api, as_of=at) for at in (FEB, APR)] == [["Lives in Lyon"], ["Lives in Porto"]]
    history = api.get_memory_history(user_id="ana", memory_id=lyon)
    assert [version.operation for version in history] == ["insert", "supersede"]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_order_in_which_an_application_stores_the_past_does_not_matter(api: Api, order: tuple[int, ...]) -> None:
    lives = [("Lives in Lyon", JAN), ("Lives in Porto", FEB), ("Lives in Oslo", MAR)]
    for place in order:
        content, since = lives[place]
        home(api, content, valid_from=since)
    rows = {row.content: row for row in api.list_memories(user_id="ana", include_superseded=True)}
    assert [rows[content].valid_to for content, _ in lives] == [FEB, MAR, None]
    assert [contents(api, as_of=at + timedelta(days=3)) for at in (JAN, FEB, MAR)] == [[c] for c, _ in lives]
    assert contents(api) == ["Lives in Oslo"]


def test_subjects_agents_and_users_are_kept_apart_and_the_user_needs_no_name(api: Api) -> None:
    for content, subject in [("Lyon", None), ("Rome", "daughter Lou"), ("Oslo", "user"), ("Bari", "Daughter  LOU")]:
        home(api, content, subject=subject)
    home(api, "Porto", agent_id="other")
    home(api, "Bonn", user_id="bob")
    assert contents(api) == ["Porto", "Bari", "Oslo"]
    assert contents(api, subject="daughter lou", include_superseded=True) == ["Bari", "Rome"]
    assert contents(api, subject="user", include_superseded=True) == ["Porto", "Oslo", "Lyon"]


@pytest.mark.parametrize(("argument", "text"), [("subject", ""), ("attribute", "x" * 256)])
def test_a_subject_or_attribute_that_is_no_name_is_refused(api: Api, argument: str, text: str) -> None:
    with refused(argument):
        add(api, "Likes tea", **{argument: text})
    with refused(argument):
        api.list_memories(user_id="ana", **{argument: text})
    with pytest.raises(psycopg.Error, match=rf"{argument} of memories\[1\]: "):
        api.add_memories(user_id="ana", memories=[{"content": "Likes tea"}, {"content": "Likes milk", argument: text}])
    assert contents(api) == []


@pytest.mark.parametrize("stored", ["in one call", "in one statement"])
def test_two_wordings_of_one_value_leave_one_of_them(api: Api, stored: str) -> None:
    said: list[dict[str, Any]] = [
        {"content": content, "attribute": "home", "metadata": {"value": value}}
        for content, value in [
            ("Lives in Porto", "Porto"),
            ("Is at home in Pôrto", "  porto."),
            ("Resides there", "PORTO"),
        ]
    ]
    if stored == "one by one":
        for memory in said:
            add(api, **memory)
    elif stored == "in one call":
        api.add_memories(user_id="ana", memories=said)
    else:
        api.query(
            "insert into memory.memories (user_id, content, attribute, metadata)"
            " select 'ana', m ->> 'content', m ->> 'attribute', m -> 'metadata' from jsonb_array_elements(%(m)s) as m"
            " returning 1",
            m=Jsonb(said),
        )
    assert sorted(states(api).values()) == ["current", "duplicate", "duplicate"]
    assert api.count_memories(user_id="ana") == 1
    assert api.value("select memory_count from memory.memory_scopes") == 1


@pytest.mark.parametrize(
    ("value", "other", "is_same"),
    [
        ("1300", "1,300", True),
        ("Müller & Söhne", "muller & sohne", True),
        ("6.5", "65", False),
        ("Porto", "Porto Alegre", False),
        ("", "", False),
        ({"town": "Porto"}, {"town": "Porto"}, True),
        (None, None, False),
        ("x" * 100_000 + "1", "x" * 100_000 + "2", False),
    ],
)
def test_values_are_the_same_whatever_their_case_accents_and_marks(
    api: Api, value: Any, other: Any, is_same: bool
) -> None:
    home(api, "This one", metadata={"value": value})
    home(api, "That one", metadata={"value": other})
    assert states(api) == {"This one": "duplicate" if is_same else "replaced", "That one": "current"}


def test_a_value_that_is_said_again_counts_as_said_at_the_latest_of_its_times(api: Api) -> None:
    """Else a value of the time between would take its place."""
    insert = (
        "insert into memory.memories (user_id, content, attribute, metadata, said_at)"
        " values ('ana', %(content)s, 'home', %(metadata)s, %(at)s) returning 1"
    )
    for content, value, at in [
        ("Lives in Porto", "Porto", APR), ("Is at home in Porto", "Porto", JAN), ("Lives in Lyon", "Lyon", FEB),
    ]:  # fmt: skip
        api.query(insert, content=content, metadata=Jsonb({"value": value}), at=at)
    assert states(api) == {"Lives in Porto": "duplicate", "Is at home in Porto": "current", "Lives in Lyon": "replaced"}


def test_the_words_of_a_former_value_become_current_again(api: Api) -> None:
    home(api, "Lives in Lyon")
    home(api, "Lives in Porto")
    back = home(api, "Lives in Lyon")
    assert contents(api) == ["Lives in Lyon"]
    assert [row.memory_id for row in api.list_memories(user_id="ana")] == [back]


@pytest.mark.feature("F24")
def test_facts_of_a_space_replace_each_other_and_nothing_of_its_members(api: Api) -> None:
    api.create_space(space="team")
    api.grant_space(space="team", user_id="ana", access="write")
    home(api, "Lives in Lyon")
    for content in ("The office is in Bonn", "The office is in Kiel"):
        home(api, content, user_id="space:team")
    rows = api.list_memories(user_id="ana", spaces=["team"], include_superseded=True, attribute="home")
    assert [(row.content, row.state, row.space) for row in rows] == [
        ("The office is in Kiel", "current", "team"),
        ("The office is in Bonn", "replaced", "team"),
        ("Lives in Lyon", "current", None),
    ]


def test_the_policy_says_which_attributes_have_one_value(api: Api) -> None:
    attributes = {"Shoe Size": "one", "home": "many", "phone/fax": "many"}
    api.set_policy(settings={"memories": {"attributes": attributes}})
    for content, attribute in [
        ("40", "shoe size"), ("41", "Shoe size/left"), ("42", "SHOE SIZE"), ("Lyon", "home"), ("Porto", "home"),
        ("1", "phone/fax"), ("2", "phone/fax"), ("3", "phone"), ("4", "phone"), ("5", "phone/work"),
        ("6", "Phone/WORK"),
        ("Chess", "hobby"), ("Rowing", "hobby"), ("Strings", "shoe string theory"), ("Loops", "shoe string theory"),
    ]:  # fmt: skip
        add(api, content, attribute=attribute)
    unlisted = ["Loops", "Strings", "Rowing", "Chess"]
    assert contents(api) == [*unlisted, "6", "4", "2", "1", "Porto", "Lyon", "42", "41"]


def test_metadata_that_names_no_subject_is_stored_like_any_other(api: Api) -> None:
    for subject in (None, "", 7, {"name": "Lou"}, "x" * 256):
        memory = api.get_memory(user_id="ana", memory_id=add(api, f"Lives in {subject}", metadata={"subject": subject}))
        assert (memory.subject, memory.metadata) == (None, {"subject": subject})


def test_plain_inserts_obey_the_same_rules(api: Api) -> None:
    insert = "insert into memory.memories (user_id, content, attribute) values {} returning 1"
    api.query(insert.format("('ana', 'Lives in Lyon', 'home'), ('bob', 'Lives in Bonn', 'home')"))
    api.query(insert.format("('ana', 'Lives in Porto', 'home'), ('ana', 'Lives in Oslo', 'home')"))
    assert states(api) == {"Lives in Lyon": "replaced", "Lives in Porto": "replaced", "Lives in Oslo": "current"}
    assert contents(api, user_id="bob") == ["Lives in Bonn"]


@pytest.mark.feature("F25")
def test_two_users_who_become_one_live_in_one_place(api: Api) -> None:
    home(api, "Lives in Lyon")
    add(api, "Plays chess", attribute="hobby")
    home(api, "Lives in Porto", user_id="bob")
    add(api, "Climbs rocks", user_id="bob", attribute="hobby")
    api.merge_users(from_user_id="ana", into_user_id="bob")
    assert contents(api, user_id="bob", attribute="home") == ["Lives in Porto"]
    assert len(contents(api, user_id="bob", attribute="hobby")) == 2
    assert api.value("select memory_count from memory.memory_scopes where user_id = 'bob'") == 3


def test_forgetting_a_former_value_leaves_none_of_its_words_behind(api: Api) -> None:
    lyon = home(api, "Lives in Lyon")
    home(api, "Lives in Porto")
    api.forget_memory(user_id="ana", memory_id=lyon)
    assert contents(api, include_superseded=True) == ["Lives in Porto"]
    assert api.query("select from memory.memory_history where content like '%%Lyon%%'") == []


@pytest.mark.feature("A3")
def test_a_tenant_reaches_the_facts_of_its_user_alone(api: Api, connect: Callable[..., psycopg.Connection]) -> None:
    of_ana, of_bob = home(api, "Lives in Lyon"), home(api, "Lives in Bonn", user_id="bob")
    api.connection.execute("create role facts_of_ana login; grant memory_tenant to facts_of_ana")
    try:
        api.bind_role(role_name="facts_of_ana", user_id="ana")
        tenant = Api(connect(user="facts_of_ana"))
        home(tenant, "Lives in Porto")
        assert tenant.end_memory(user_id="ana", memory_id=of_ana) is False
        for refused_call in (
            lambda: tenant.end_memory(user_id="bob", memory_id=of_bob),
            lambda: home(tenant, "Lives in Kiel", user_id="bob"),
            lambda: add(tenant, "Took over", replaces=[of_bob]),
        ):
            with pytest.raises(psycopg.Error):
                refused_call()
    finally:
        api.unbind_role(role_name="facts_of_ana")
        api.connection.execute("drop role facts_of_ana")
    assert states(api) == {"Lives in Lyon": "replaced", "Lives in Porto": "current"}
    assert contents(api, user_id="bob") == ["Lives in Bonn"]
