"""Input that must be refused: every public function with every kind of wrong argument.

``VALID`` holds a call of each function that works; each row of the tables spoils one argument of such a call.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import psycopg
import pytest

from tests.context.steps import without_recall
from tests.support.sqlapi import Api, refusal, refused, wide_text
from tests.support.summaries import each_round
from tests.values.bad_arguments import (
    ANA,
    BAD_ARGUMENTS,
    BAD_MESSAGES,
    BAD_VALUES,
    HELLO,
    MIB,
    NAMES,
    NEED_PGCRYPTO,
    OVERSIZED,
    THREAD,
    VALID,
    WRONG_STATE,
)
from tests.values.valid_calls import has_pgcrypto, make_calls_work


@pytest.fixture(scope="module")
def shared_api(shared_api: Api) -> Api:
    """A database in which every call of VALID works."""
    make_calls_work(shared_api)
    return shared_api


def call(api: Api, function: str, **spoiled: Any) -> Any:
    return getattr(api, function)(**{**VALID[function], **spoiled})


def outcome(api: Api, function: str, argument: str, value: Any) -> tuple[str, str] | str:
    """What a spoiled call leads to: SQLSTATE and argument of its refusal."""
    try:
        call(api, function, **{argument: value})
    except psycopg.Error as error:
        return refusal(error)
    return "accepted"


def check_refusals(api: Api, function: str, cases: Iterable[tuple[str, Any]]) -> None:
    before = api.state()
    wrong = [
        f"{argument} => {str(value)[:40]!r}: {answer}"
        for argument, value in cases
        if (answer := outcome(api, function, argument, value)) != ("22023", argument)
    ]
    assert wrong == []
    assert api.state() == before


def test_every_public_function_is_here(api: Api) -> None:
    public = (
        "select proname from pg_proc where pronamespace = 'memory'::regnamespace and prokind = 'f' and proname !~ '^_'"
    )
    needs_pg_cron = {"schedule_jobs"}
    assert {name for [name] in api.query(public)} - needs_pg_cron == VALID.keys()


@pytest.mark.parametrize("function", VALID)
def test_the_call_of_each_function_works_and_no_argument_is_taken_out_of_bounds(api: Api, function: str) -> None:
    [names] = api.query(
        "select proargnames, pronargs from pg_proc where oid = to_regproc(%(f)s)", f=f"memory.{function}"
    )
    arguments = names.proargnames[: names.pronargs] if names.pronargs else []
    bad = [(argument, value) for argument in arguments for value in BAD_VALUES.get(argument, ())]
    bad += [(argument, None) for argument in NAMES if argument in VALID[function]]
    bad += [(argument, value) for name, argument, values in BAD_ARGUMENTS if name == function for value in values]
    check_refusals(api, function, bad)
    if function not in NEED_PGCRYPTO or has_pgcrypto(api):
        call(api, function)


def test_a_bad_message_in_a_batch_is_refused(api: Api) -> None:
    before = api.state()
    for argument, message in BAD_MESSAGES:
        with refused(argument):
            call(api, "add_messages", messages=[HELLO, message, HELLO])
    assert api.state() == before


@pytest.mark.parametrize(
    ("function", "argument", "part", "value"),
    OVERSIZED,
    ids=lambda value: value if isinstance(value, str) and len(value) < 99 else "",
)
def test_an_argument_that_is_too_large_is_refused(
    api: Api, function: str, argument: str, part: str, value: Any
) -> None:
    before = api.state()
    with refused(part, "54000"):
        call(api, function, **{argument: value})
    assert api.state() == before


def test_a_call_about_an_unknown_row_says_so(api: Api) -> None:
    for function, argument, value, code in WRONG_STATE:
        assert outcome(api, function, argument, value) == (code, argument), function


@pytest.mark.parametrize(
    "function",
    [
        name
        for name, valid in VALID.items()
        if "user_id" in valid and valid.keys() & {"memory_id", "document_id", "job_id", "key"}
    ],
)
def test_a_row_of_another_user_is_unknown(api: Api, function: str) -> None:
    before = api.state()
    if function.startswith("delete_"):
        assert call(api, function, user_id="bob") is False
    else:
        named = {"retrieve_artifact": "key"}.get(function, "job_id" if "job_id" in VALID[function] else "memory_id")
        argument, code = ("lease_token", "AM001") if "lease_token" in VALID[function] else (named, "P0002")
        with refused(argument, code):
            call(api, function, user_id="bob")
    assert api.state() == before


@pytest.mark.parametrize(
    ("argument", "value", "said"),
    [
        ("mode", "fuzzy", 'unknown mode "fuzzy"'),
        ("sources", None, "must not be null"),
        ("sources", ["memory", "messages", "files"], 'unknown source "messages"'),
        ("sources", "{memory,null,files}", "unknown source null"),
    ],
)
def test_a_search_names_the_unknown_value(api: Api, argument: str, value: Any, said: str) -> None:
    with refused(argument) as refusal:
        call(api, "search", **{argument: value})
    assert refusal.value.diag.message_primary == f"{argument}: {said}"


def test_validity_cannot_end_before_it_begins(api: Api) -> None:
    before = api.state()
    with refused("valid_to"):
        call(api, "add_memory", valid_from="2026-05-02", valid_to="2026-05-01")
    assert api.state() == before


TEXTS = {
    "emoji": "👩🏽‍🚀 → 🌍",
    "Chinese and Japanese": "記憶は時間とともに薄れる。记忆",
    "combining marks": "e\u0301 is not \u00e9, n\u0303",
    "right to left": "\u202bשלום\u202c مرحبا\u200f",
    "four bytes each": "𠜎𠜱𝒳𐍈",
    "white space": " \ta\u00a0\u2003\r\nb ",
    "quotes": """'"`$$ \\' -- ; drop table""",
    "other control characters": "\x01\x1b[31m\x7f\ufffe",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_character_is_kept(api: Api, text: str) -> None:
    name = f"thread {text}"
    ids = {"user_id": text, "thread_id": name, "agent_id": text}
    stored = api.add_message(**ids, role="user", content=text, metadata={text: [text]}, idempotency_key=text)
    batch = [{"role": "user", "content": text, "name": text, "metadata": {text: text}}]
    assert [stored.content, api.add_messages(**ids, messages=batch)[0].content] == [text, text]
    first, second = api.get_messages(**ids)
    assert (first.content, first.agent_id, first.metadata) == (text, text, {text: [text]})
    assert (second.content, second.metadata) == (text, {text: text, "name": text})
    assert [thread.thread_id for thread in api.list_threads(user_id=text)] == [name]
    assert [part.content for part in api.get_context(**ids)] == [text, text]
    memory_id, _ = api.add_memory(user_id=text, content=text, agent_id=text, metadata={text: text}, tags=[text])
    memory = api.get_memory(user_id=text, memory_id=memory_id)
    assert (memory.content, memory.agent_id, memory.metadata, memory.tags) == (text, text, {text: text}, [text])
    assert [row.content for row in api.list_memories(user_id=text, search=text, tags_all=[text])] == [text]


def test_names_may_have_255_characters_of_any_length_in_bytes(api: Api) -> None:
    wide = [wide_text(255, seed) for seed in range(3)]
    ids = dict(zip(("user_id", "thread_id", "agent_id"), wide, strict=True))
    each_round(api)
    without_recall(api)
    api.add_message(**ids, role="user", content="I like tea", idempotency_key=wide[0][:63])
    api.add_memory(**ids, content="Likes tea", source=wide[0])
    api.summarize_thread(user_id=wide[0], thread_id=wide[1])
    assert api.finish_jobs(memory="Drinks tea") == 3  # a summary, an extraction and what reconciles its fact
    assert [part.source for part in api.get_context(**ids)] == ["memories", "thread_summary", "message"]


def test_the_largest_message_and_memory_are_kept(api: Api) -> None:
    message, memory = wide_text(10 * MIB // 4), wide_text(MIB // 16)
    call(api, "add_message", content=message)
    assert api.get_messages(**THREAD, recent_k=1)[0].content == message
    memory_id, _ = call(api, "add_memory", content=memory, embedding_text=memory)
    assert api.get_memory(**ANA, memory_id=memory_id).content == memory


DIRECT_INSERTS = {
    "messages": "insert into memory.messages (user_id, thread_id, role, content, created_at)"
    " values ('ana', 't1', 'user', 'Hello', %s)",
    "memories": "insert into memory.memories (user_id, content, created_at) values ('ana', 'Likes tea', %s)",
    "documents": "insert into memory.documents (user_id, content, created_at) values ('ana', 'Tea', %s)",
    "artifacts": "insert into memory.artifacts (user_id, key, content, description, created_at)"
    " values ('ana', 'log', 'Tea', 'Tea', %s)",
}


@pytest.mark.parametrize("table", DIRECT_INSERTS)
def test_nothing_is_stored_at_a_time_that_clients_cannot_read(api: Api, table: str) -> None:
    for moment in ("infinity", "-infinity", "10000-01-01", "0001-01-01 BC"):
        with refused("created_at"), api.connection.transaction():
            api.connection.execute(DIRECT_INSERTS[table], [moment])
