"""Input that must be refused: every public function with every kind of wrong argument.

``VALID`` holds a call of each function that works; each row of the tables spoils one argument of such a call.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.sqlapi import Api, refusal, refused, rolled_back, wide_text

MEMORY_ID = uuid.UUID(int=1)
OTHER_MEMORY_ID = uuid.UUID(int=2)
LEASE_TOKEN = uuid.UUID(int=3)
DOCUMENT_ID = uuid.UUID(int=4)

ANA = {"user_id": "ana"}
THREAD = {**ANA, "thread_id": "t1"}
MEMORY: dict[str, Any] = {**ANA, "memory_id": MEMORY_ID}
JOB: dict[str, Any] = {**ANA, "job_id": 1, "lease_token": LEASE_TOKEN}

VALID: dict[str, dict[str, Any]] = {
    "activate_model": {"name": "local"},
    "add_document": {**ANA, "content": "Tea is a drink."},
    "add_memory": {**ANA, "content": "Likes tea"},
    "add_message": {**THREAD, "role": "user", "content": "Hello"},
    "add_messages": {**THREAD, "messages": [{"role": "user", "content": "Hello"}]},
    "backfill_status": {},
    "claim_jobs": {"worker": "w"},
    "clear_thread": THREAD,
    "complete_job": {**JOB, "result": {"memories": []}, "calls": [{"tokens_in": 1}]},
    "compress_thread": THREAD,
    "consolidate": ANA,
    "deactivate_model": {"name": "local"},
    "delete_artifact": {**ANA, "key": "log"},
    "delete_document": {**ANA, "document_id": DOCUMENT_ID},
    "delete_memory": MEMORY,
    "delete_thread": THREAD,
    "doctor": {},
    "drop_model": {"name": "spare"},
    "extend_job": {**JOB, "lease": "1 minute"},
    "extract_memories": THREAD,
    "fail_job": {**JOB, "error": "no answer", "calls": [{"tokens_in": 1}]},
    "get_context": THREAD,
    "get_job": {**ANA, "job_id": 2},
    "get_memory": MEMORY,
    "get_memory_history": MEMORY,
    "get_messages": THREAD,
    "get_policy": {},
    "get_thread_summary": THREAD,
    "get_user_summary": ANA,
    "list_artifacts": ANA,
    "list_documents": ANA,
    "count_memories": ANA,
    "list_memories": ANA,
    "list_threads": ANA,
    "reconcile_memories": ANA,
    "record_calls": {**ANA, "job_id": 1, "calls": [{"tokens_in": 1}]},
    "register_model": {"name": "m", "kind": "chat", "provider": "openai", "model": "gpt"},
    "release_job": JOB,
    "render_memories": ANA,
    "reset_prompt": {"name": "consolidate"},
    "restore_memory": MEMORY,
    "retrieve_artifact": {**ANA, "key": "log"},
    "retry_job": {**ANA, "job_id": 2},
    "search": {**ANA, "query": "tea"},
    "set_policy": {"settings": {"messages": {"expires_after": "1 day"}}},
    "set_prompt": {"name": "consolidate", "template": "Sort these:\n---\n{{memories}}"},
    "store_artifact": {**ANA, "content": "Tea is a drink."},
    "summarize_thread": THREAD,
    "summarize_user": ANA,
    "supersede_memory": {**ANA, "old_memory_id": MEMORY_ID, "new_memory_id": OTHER_MEMORY_ID, "reason": "newer"},
    "sweep": {},
    "update_memory": {**MEMORY, "content": "Likes green tea"},
    "vector_index": {"model": "vectors"},
    "version": {},
}


LONG = "é" * 256
UNKNOWN_ID = uuid.UUID(int=404)
MIB = 2**20

COUNTS = ("tokens_in", "tokens_out", "duration_ms", "prompt_version")
BAD_COUNTS: tuple[Any, ...] = (-1, 2**31, 10**400, "1", [1], {}, True)

# Everywhere: what names something has 1 to 255 characters, the rest is within its bounds.
NAMES = (
    "user_id",
    "thread_id",
    "agent_id",
    "exclude_thread_id",
    "idempotency_key",
    "key",
    "source",
    "worker",
    "model",
    "reason",
)
BAD_VALUES: dict[str, list[Any]] = {
    **{name: ["", LONG] for name in NAMES},
    "memory_id": [None],
    "memory_type": ["", "nonsense"],
    "metadata": [[1], Jsonb("text"), Jsonb(1), Jsonb([]), Jsonb(None)],
    "tags": ["{a,null}"],
    "confidence": [-0.1, 1.1, "NaN"],
    "importance": [-0.1, 1.1, "NaN"],
    "row_limit": [None, 0, -1, 10_001],
    "row_offset": [None, -1],
    "recent_k": [0, -1],
    "max_tokens": [0, -1],
    "lease": [None, "0", "-1 minute"],
    "calls": [
        Jsonb(None),
        {},
        Jsonb("text"),
        [1],
        [None],
        [[]],
        *([{count: value}] for count in COUNTS for value in BAD_COUNTS),
    ],
}
# One function each.
BAD_ARGUMENTS: list[tuple[str, str, list[Any]]] = [
    ("add_message", "role", [None, "", "robot", "USER"]),
    ("add_message", "content", [None, ""]),
    ("add_message", "created_at", ["infinity", "-infinity", "10000-01-01", "0001-01-01 BC"]),
    ("add_message", "idempotency_key", [wide_text(64)]),  # 255 bytes, so that it fits into an index with wide names
    ("add_document", "content", [None, "", " \n"]),
    ("add_memory", "content", [None, "", " \n"]),
    ("add_memory", "memory_type", [None]),
    ("add_memory", "confidence", [None]),
    ("add_memory", "importance", [None]),
    ("add_memory", "on_conflict", [None, "", "merge"]),
    ("add_messages", "messages", [None, Jsonb(None), {"role": "user"}, Jsonb("text"), [1], [[]], [None]]),
    ("claim_jobs", "max_jobs", [None, 0, 1001]),
    ("claim_jobs", "kinds", [["nonsense"], "{extract_memories,null}"]),
    ("complete_job", "result", [None, Jsonb(None), Jsonb([]), {}, {"memories": {}}, {"memories": [1]}]),
    ("get_thread_summary", "kind", ["", "user", "processing"]),
    ("reconcile_memories", "n", [None, 1, 0, -1, 1001]),
    ("record_calls", "calls", [None]),
    ("register_model", "name", ["", LONG]),
    ("register_model", "kind", [None, "", "vision"]),
    ("register_model", "provider", [None, "", "acme"]),
    ("register_model", "settings", [None, Jsonb([]), Jsonb("text"), {"api_key": "sk-secret"}]),
    ("render_memories", "max_memories", [None, 0, -1]),
    ("retrieve_artifact", "from_token", [None, -1]),
    ("search", "query", [None, "", " \n"]),
    ("search", "mode", [None, "", "fuzzy", "vector"]),
    ("search", "sources", [None, [], ["nonsense"], ["memory", "nonsense"], "{memory,null}"]),
    ("search", "memory_types", [["nonsense"], ["fact", "nonsense"]]),
    ("search", "filter", [Jsonb([]), Jsonb("text"), Jsonb(1), Jsonb(None)]),
    ("search", "min_score", [-1.1, 1.1, "NaN", "-Infinity"]),
    ("search", "min_confidence", [-0.1, 1.1, "NaN"]),
    ("search", "top_k", [None, 0, -1, 1001]),
    ("set_policy", "settings", [None, Jsonb(None), Jsonb([]), Jsonb("text")]),
    ("set_prompt", "template", [None, "", " \n", "Sort them!", "{{memories}} {{user_id}}", "{{memorie}}"]),
    ("store_artifact", "content", [None, "", " \n"]),
    ("store_artifact", "key", ["a b", "a\nb", "a\n", "a]", "[a", "é", "a\u200bb", "[MemoryRef: a - b - 3 tokens]"]),
    ("store_artifact", "artifact_type", [None, "", LONG]),
    ("supersede_memory", "old_memory_id", [None]),
    ("supersede_memory", "new_memory_id", [None, MEMORY_ID]),
    ("sweep", "batch_size", [None, 0, -1]),
    ("update_memory", "content", ["", " \n"]),
    ("vector_index", "model", [None]),
]  # fmt: skip

HELLO = {"role": "user", "content": "Hello"}
BAD_MESSAGES: list[tuple[str, dict[str, Any]]] = [
    ("role", {"content": "Hello"}),
    ("role", {**HELLO, "role": "robot"}),
    ("role", {**HELLO, "role": 1}),
    ("content", {"role": "user"}),
    ("content", {**HELLO, "content": None}),
    ("content", {**HELLO, "content": ""}),
    ("content", {**HELLO, "content": 1}),
    ("content", {**HELLO, "content": {"text": "Hello"}}),
    ("content", {**HELLO, "content": []}),
    ("content", {"role": "assistant", "content": None, "tool_calls": None}),
    ("metadata", {**HELLO, "metadata": []}),
    ("metadata", {**HELLO, "metadata": "text"}),
    ("metadata", {**HELLO, "metadata": 1, "name": "Ana"}),
    ("created_at", {**HELLO, "created_at": "yesterday-ish"}),
    ("created_at", {**HELLO, "created_at": "2026-02-30T10:00:00Z"}),
    ("created_at", {**HELLO, "created_at": "2026-02-03T10:00:00 Mars/Olympus"}),
    ("created_at", {**HELLO, "created_at": "2026-02-03T10:00:00+99:00"}),
    ("created_at", {**HELLO, "created_at": {"year": 2026}}),
    ("created_at", {**HELLO, "created_at": 1778000000}),
    ("created_at", {**HELLO, "created_at": "infinity"}),
    ("idempotency_key", {**HELLO, "idempotency_key": ""}),
    ("idempotency_key", {**HELLO, "idempotency_key": LONG}),
    ("messages", {**HELLO, "contnet": "Hello"}),
    ("messages", {**HELLO, "contnet": "Hello", "idempotency_key": "k"}),
]

# An argument, and what of it is too large.
INCOMPRESSIBLE = random.Random(1).randbytes(MIB).hex()
OVERSIZED: list[tuple[str, str, str, Any]] = [
    ("add_message", "content", "content", "x" * (10 * MIB + 1)),
    ("add_message", "metadata", "metadata", {"a": INCOMPRESSIBLE}),
    ("add_messages", "messages", "content", [{**HELLO, "content": "é" * (5 * MIB + 1)}]),
    ("add_messages", "messages", "metadata", [{**HELLO, "metadata": {"a": INCOMPRESSIBLE}}]),
    ("add_memory", "content", "content", "x" * (MIB // 4 + 1)),
    ("add_memory", "embedding_text", "embedding_text", "x" * (MIB // 4 + 1)),
    ("add_memory", "metadata", "metadata", {"a": INCOMPRESSIBLE}),
    ("set_prompt", "template", "template", "{{memories}}" + "x" * 2**16),
    ("store_artifact", "content", "content", "x" * (10 * MIB + 1)),
    ("store_artifact", "description", "description", "é" * 501),
    ("store_artifact", "metadata", "metadata", {"a": INCOMPRESSIBLE}),
    ("update_memory", "content", "content", "x" * (MIB // 4 + 1)),
]

WRONG_STATE: list[tuple[str, str, Any, str]] = [
    ("activate_model", "name", "m404", "P0002"),
    ("activate_model", "name", None, "P0002"),
    ("activate_model", "name", "", "P0002"),
    ("deactivate_model", "name", "m404", "P0002"),
    ("drop_model", "name", "m404", "P0002"),
    ("drop_model", "name", None, "P0002"),
    ("drop_model", "name", "local", "23505"),
    ("vector_index", "model", "m404", "P0002"),
    ("vector_index", "model", "spare", "P0002"),
    ("complete_job", "lease_token", UNKNOWN_ID, "AM001"),
    ("complete_job", "lease_token", None, "AM001"),
    ("compress_thread", "thread_id", "t404", "P0002"),
    ("extend_job", "lease_token", UNKNOWN_ID, "AM001"),
    ("extract_memories", "thread_id", "t404", "P0002"),
    ("fail_job", "lease_token", UNKNOWN_ID, "AM001"),
    ("get_job", "job_id", 404, "P0002"),
    ("get_job", "job_id", None, "P0002"),
    ("get_memory", "memory_id", UNKNOWN_ID, "P0002"),
    ("get_memory_history", "memory_id", UNKNOWN_ID, "P0002"),
    ("release_job", "lease_token", UNKNOWN_ID, "AM001"),
    ("reset_prompt", "name", "nonsense", "P0002"),
    ("reset_prompt", "name", None, "P0002"),
    ("restore_memory", "memory_id", UNKNOWN_ID, "P0002"),
    ("restore_memory", "version", 99, "P0002"),
    ("retrieve_artifact", "key", "k404", "P0002"),
    ("retry_job", "job_id", 404, "P0002"),
    ("retry_job", "job_id", None, "P0002"),
    ("set_prompt", "name", "nonsense", "P0002"),
    ("set_prompt", "name", None, "P0002"),
    ("store_artifact", "key", "log", "23505"),
    ("summarize_thread", "thread_id", "t404", "P0002"),
    ("supersede_memory", "old_memory_id", UNKNOWN_ID, "P0002"),
    ("supersede_memory", "new_memory_id", UNKNOWN_ID, "P0002"),
    ("update_memory", "memory_id", UNKNOWN_ID, "P0002"),
    ("update_memory", "expected_version", 99, "40001"),
]


@pytest.fixture(scope="module")
def shared_api(shared_api: Api) -> Api:
    """A database in which every call of VALID works."""
    shared_api.add_message(**THREAD, role="user", content="I like tea")
    shared_api.register_model(name="spare", kind="chat", provider="openai", model="gpt")
    for memory_id, content in ((MEMORY_ID, "Drinks tea"), (OTHER_MEMORY_ID, "Drinks black tea")):
        shared_api.connection.execute(
            "insert into memory.memories (user_id, memory_id, content) values ('ana', %s, %s)", [memory_id, content]
        )
    shared_api.connection.execute(
        "insert into memory.documents (user_id, document_id, content) values ('ana', %s, 'Tea')", [DOCUMENT_ID]
    )
    shared_api.store_artifact(**ANA, key="log", content="Tea")
    assert (shared_api.extract_memories(**THREAD), shared_api.summarize_thread(**THREAD)) == (1, 2)
    shared_api.claim_jobs(worker="w", kinds=["extract_memories"])
    shared_api.connection.execute("update memory.jobs set lease_token = %s where job_id = 1", [LEASE_TOKEN])
    shared_api.register_model(
        name="vectors", kind="embedding", provider="openai", model="v", settings={"dimensions": 3}
    )
    shared_api.connection.execute("delete from memory.jobs where kind = 'backfill'")
    return shared_api


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    with rolled_back(shared_api) as api:
        yield api


def call(api: Api, function: str, **spoiled: Any) -> Any:
    return getattr(api, function)(**{**VALID[function], **spoiled})


def outcome(api: Api, function: str, argument: str, value: Any) -> tuple[str, str] | str:
    """What a spoiled call leads to: SQLSTATE and argument of its refusal."""
    try:
        call(api, function, **{argument: value})
    except psycopg.Error as error:
        return refusal(error)
    return "accepted"


def check_refusals(api: Api, function: str, cases: Iterable[tuple[str, Any]], code: str = "22023") -> None:
    before = api.state()
    outcomes = {
        f"{argument} => {str(value)[:40]!r}": (outcome(api, function, argument, value), argument)
        for argument, value in cases
    }
    assert outcomes == {case: ((code, argument), argument) for case, (_, argument) in outcomes.items()}
    assert api.state() == before


def test_every_public_function_is_here(api: Api) -> None:
    public = (
        "select proname from pg_proc where pronamespace = 'memory'::regnamespace and prokind = 'f' and proname !~ '^_'"
    )
    needs_pg_cron = {"schedule_jobs"}
    assert {name for [name] in api.query(public)} - needs_pg_cron == VALID.keys()


@pytest.mark.parametrize("function", VALID)
def test_the_call_that_is_spoiled_below_works(api: Api, function: str) -> None:
    call(api, function)


@pytest.mark.parametrize("function", VALID)
def test_no_argument_is_taken_out_of_bounds(api: Api, function: str) -> None:
    [names] = api.query(
        "select proargnames, pronargs from pg_proc where oid = to_regproc(%(f)s)", f=f"memory.{function}"
    )
    arguments = names.proargnames[: names.pronargs] if names.pronargs else []
    check_refusals(
        api, function, [(argument, value) for argument in arguments for value in BAD_VALUES.get(argument, ())]
    )


@pytest.mark.parametrize(
    ("function", "argument"),
    [(function, argument) for function, valid in VALID.items() for argument in NAMES if argument in valid],
)
def test_a_name_that_is_needed_cannot_be_null(api: Api, function: str, argument: str) -> None:
    check_refusals(api, function, [(argument, None)])


@pytest.mark.parametrize(
    ("function", "argument", "values"), BAD_ARGUMENTS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_bad_argument_is_refused(api: Api, function: str, argument: str, values: list[Any]) -> None:
    check_refusals(api, function, [(argument, value) for value in values])


@pytest.mark.parametrize(("argument", "message"), BAD_MESSAGES, ids=lambda value: str(value)[-60:])
def test_a_bad_message_in_a_batch_is_refused(api: Api, argument: str, message: dict[str, Any]) -> None:
    before = api.state()
    with refused(argument):
        call(api, "add_messages", messages=[HELLO, message, HELLO])
    assert api.state() == before


@pytest.mark.parametrize(
    ("function", "argument", "part", "value"),
    OVERSIZED,
    ids=lambda value: value if isinstance(value, str) and len(value) < 99 else "",
)
def test_what_is_too_large_is_refused(api: Api, function: str, argument: str, part: str, value: Any) -> None:
    before = api.state()
    with refused(part, "54000"):
        call(api, function, **{argument: value})
    assert api.state() == before


@pytest.mark.parametrize(("function", "argument", "value", "code"), WRONG_STATE)
def test_what_is_not_there_is_said(api: Api, function: str, argument: str, value: Any, code: str) -> None:
    check_refusals(api, function, [(argument, value)], code)


@pytest.mark.parametrize(
    "function",
    [name for name, valid in VALID.items() if valid.keys() & {"memory_id", "document_id", "job_id", "key"}],
)
def test_what_belongs_to_another_user_is_not_there(api: Api, function: str) -> None:
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
        ("mode", None, "must not be null"),
        ("mode", "fuzzy", 'unknown mode "fuzzy"'),
        ("sources", None, "must not be null"),
        ("sources", [], "must not be empty"),
        ("sources", ["memory", "messages", "files"], 'unknown source "messages"'),
        ("sources", "{memory,null,files}", "unknown source null"),
    ],
)
def test_a_search_names_what_it_does_not_know(api: Api, argument: str, value: Any, said: str) -> None:
    with refused(argument) as refusal:
        call(api, "search", **{argument: value})
    assert refusal.value.diag.message_primary == f"{argument}: {said}"


def test_validity_cannot_end_before_it_begins(api: Api) -> None:
    before = api.state()
    with refused("valid_to"):
        call(api, "add_memory", valid_from="2026-05-02", valid_to="2026-05-01")
    assert api.state() == before


@pytest.mark.parametrize(
    "statement",
    [
        r"""select memory.add_message('ana', 't1', 'user', 'Hello', metadata => '{"a": "\u0000"}')""",
        r"""select memory.add_messages('ana', 't1', '[{"role": "user", "content": "a\u0000b"}]')""",
        r"""select memory.add_memory('ana', 'Likes tea', metadata => '{"\u0000": 1}')""",
    ],
)
def test_nul_in_json_is_refused_by_the_server(api: Api, statement: str) -> None:
    before = api.state()
    with pytest.raises(psycopg.errors.UntranslatableCharacter), api.connection.transaction():
        api.connection.execute(statement.encode())
    assert api.state() == before


@pytest.mark.parametrize(
    "statement",
    ["select memory.add_message('ana', 't1', 'user', 'a', '{}', '{}', 'soon')", "select memory.get_memory('ana', 'x')"],
)
def test_a_value_of_the_wrong_type_is_refused_by_the_server(api: Api, statement: str) -> None:
    with pytest.raises(psycopg.errors.DataError), api.connection.transaction():
        api.connection.execute(statement.encode())


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
class TestEveryCharacterIsKept:
    def test_in_messages(self, api: Api, text: str) -> None:
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

    def test_in_memories(self, api: Api, text: str) -> None:
        memory_id, _ = api.add_memory(user_id=text, content=text, agent_id=text, metadata={text: text}, tags=[text])
        memory = api.get_memory(user_id=text, memory_id=memory_id)
        assert (memory.content, memory.agent_id, memory.metadata, memory.tags) == (text, text, {text: text}, [text])
        assert [row.content for row in api.list_memories(user_id=text, search=text, tags_all=[text])] == [text]


def test_names_may_have_255_characters_of_any_length_in_bytes(api: Api) -> None:
    wide = [wide_text(255, seed) for seed in range(3)]
    ids = dict(zip(("user_id", "thread_id", "agent_id"), wide, strict=True))
    api.add_message(**ids, role="user", content="I like tea", idempotency_key=wide[0][:63])
    api.add_memory(**ids, content="Likes tea", source=wide[0])
    api.summarize_thread(user_id=wide[0], thread_id=wide[1])
    assert api.finish_jobs(memory="Drinks tea") == 2
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


@pytest.mark.parametrize("moment", ["infinity", "-infinity", "10000-01-01", "0001-01-01 BC"])
@pytest.mark.parametrize("table", DIRECT_INSERTS)
def test_nothing_is_stored_at_a_time_that_clients_cannot_read(api: Api, table: str, moment: str) -> None:
    with refused("created_at"), api.connection.transaction():
        api.connection.execute(DIRECT_INSERTS[table], [moment])
