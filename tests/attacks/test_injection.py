"""SQL and other code in every argument: it is stored, found or refused as the text that it is, and never runs."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.attacks.conftest import CONTRACT, Argument
from tests.support.sqlapi import Api
from tests.values.bad_arguments import NEED_PGCRYPTO, VALID
from tests.values.valid_calls import has_pgcrypto

HOSTILE = {
    "sql": "x'); drop table memory.messages; select set_config('search_path', 'public', false); --",
    "identifier": 'x"."y" cascade; drop table memory.messages; --',
    "dollars": "$$; drop table memory.messages; $_$ $function$ $migration$",
    "backslash": "\\'; drop table memory.messages; -- \\",
    "format": "%s %I %1$L %n %% {0} {user_id} {{messages}} ${jndi:x}",
    "tsquery": "tea & !((a | b)) <-> c:*ABCD '",
    "regex": "((((((a+)+)+)+)+)+)+$ [[:alpha:] (?i) \\y {1,99999}",
    "like": "%_%_%_%\\",
    "path": '$.** ? (@ like_regex ".*") {a,b} {"a": null} ../../etc/passwd',
    "number": "NaN",
    "wide": "\ufeff\u202e\u200b\U000e0041\U0001f469\u200d\U0001f467 ﷽ e\u0301\ud7ff\uffff",
    "control": "\x01\x07\x1b[2J\r\n\t\x7f\x85",
}
"""Each attacks one way of building code from text: SQL, format(), to_tsquery(), regular expressions and so on."""
LESS_LIKELY = {"identifier", "dollars", "like", "number", "path", "wide"}
NAMES = [pytest.param(name, marks=pytest.mark.nightly) if name in LESS_LIKELY else name for name in HOSTILE]


def of_type(kind: str, hostile: str) -> list[Any]:
    """The values of a type that carry a hostile text."""
    match kind:
        case "text":
            return [hostile]
        case "text[]":
            return [[hostile], [hostile] * 3]
        case "jsonb":
            values = [hostile, [hostile], {hostile: hostile}, {"a": {hostile: [hostile]}}, [{hostile: hostile}]]
            return [Jsonb(value) for value in values]
        case _:
            return []


@pytest.fixture
def canary(api: Api) -> Any:
    """What no call as ana may change: all that bob has, and the settings of the session."""
    bob = {"user_id": "bob"}
    api.add_message(**bob, thread_id="t1", role="user", content="I like coffee")
    api.add_memory(**bob, content="Drinks coffee")

    def state() -> Any:
        [row] = api.query("""
            select current_setting('search_path'), session_user, current_user, pg_my_temp_schema(),
              array(select m::text from memory.messages as m where m.user_id = 'bob') as messages,
              array(select m::text from memory.memories as m where m.user_id = 'bob') as memories,
              array(select relname from pg_class where relnamespace = 'memory'::regnamespace order by 1) as relations,
              array(select oid from pg_roles order by 1) as roles
        """)
        assert (len(row.messages), len(row.memories)) == (1, 1)
        return row

    return state


@pytest.mark.feature("F9")
@pytest.mark.parametrize("name", NAMES)
def test_hostile_text_in_any_argument_is_only_text(api: Api, arguments: list[Argument], canary: Any, name: str) -> None:
    before = canary()
    refusals: dict[str, str] = {}
    calls = 0
    for argument in arguments:
        if argument.function in NEED_PGCRYPTO and not has_pgcrypto(api):
            continue
        for value in of_type(argument.type, HOSTILE[name]):
            calls += 1
            try:
                with api.connection.transaction(force_rollback=True):
                    getattr(api, argument.function)(**{**VALID[argument.function], argument.name: value})
                    assert canary() == before, argument
            except psycopg.Error as error:
                if error.sqlstate not in CONTRACT or not error.diag.message_hint:
                    refusals[f"{argument.function}({argument.name} => {value!r})"] = f"{error.sqlstate} {error}"
    assert refusals == {}
    assert calls > 200
    assert canary() == before


@pytest.mark.feature("F9")
@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_are_stored_and_found_as_they_are(api: Api, name: str) -> None:
    """What was stored goes through jobs, search, contexts, views and sweeps, where a statement could be built of it."""
    hostile = HOSTILE[name]
    thread = {"user_id": hostile, "thread_id": hostile, "agent_id": hostile}
    # The rules of trust would put a message of invisible characters into quarantine.
    api.set_policy(settings={"trust": {"rules": False}}, user_id=hostile)
    api.set_policy(settings={"cadence": {"thread_summary_every_n": 2}}, user_id=hostile, agent_id=hostile)
    for role in ("user", "assistant") * 6:
        api.add_message(**thread, role=role, content=f"{hostile} tea", metadata={"name": hostile, hostile: hostile})
    memory_id = api.add_memory(
        **thread, content=f"{hostile} tea", tags=[hostile], metadata={hostile: hostile}
    ).memory_id
    api.add_document(user_id=hostile, content=f"{hostile} tea", title=hostile, namespace=hostile)
    key = api.store_artifact(user_id=hostile, content=f"{hostile} tea", description=f"{hostile} tea").key
    assert api.finish_jobs(summary=f"{hostile} tea", memory=f"{hostile} coffee") > 0
    assert [row.thread_id for row in api.list_threads(user_id=hostile)] == [hostile]
    assert {row.content for row in api.get_messages(user_id=hostile, thread_id=hostile)} == {f"{hostile} tea"}
    assert api.get_memory(user_id=hostile, memory_id=memory_id).tags == [hostile]
    assert api.search(user_id=hostile, query=f"{hostile} tea", agent_id=hostile, filter={hostile: hostile})
    assert api.get_context(user_id=hostile, thread_id="another", query=f"tea {hostile}")
    assert api.retrieve_artifact(user_id=hostile, key=key) == f"{hostile} tea"
    for [view] in api.query("select viewname from pg_views where schemaname = 'memory'"):
        api.query(psycopg.sql.SQL("select * from {}").format(psycopg.sql.Identifier("memory", view)))
    api.sweep()
    api.doctor()
    assert api.delete_thread(user_id=hostile, thread_id=hostile) == 12
