"""Detail memory: long texts are kept whole, a placeholder stands for each, and they are found and read in slices."""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

import psycopg
import pytest
from protocol import activate, claim, complete, lease, nothing_to_do, open_jobs
from psycopg.types.json import Jsonb
from sqlapi import Api, refused, rolled_back, wide_text

LOG = "added 512 packages in 9s\n" + "npm warn deprecated inflight@1.0.6\n" * 400
"""About 3,500 tokens."""


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    with rolled_back(shared_api) as api:
        api.connection.execute("set local statement_timeout = '30s'")
        yield api


def store(api: Api, content: str = LOG, **arguments: Any) -> Any:
    return api.store_artifact(**{"user_id": "ana", "content": content, **arguments})


def read(api: Api, key: str, *bounds: int, user_id: str = "ana") -> str:
    arguments = dict(zip(("from_token", "max_tokens"), bounds, strict=False))
    content: str = api.retrieve_artifact(user_id=user_id, key=key, **arguments)
    return content


def listed(api: Api, **arguments: Any) -> list[str]:
    return [row.key for row in api.list_artifacts(**{"user_id": "ana", **arguments})]


def search(api: Api, query: str | None = None, vector: Any = None, **arguments: Any) -> list[Any]:
    """By keyword unless a vector is given, then by both."""
    how = {"mode": "keyword"} if vector is None else {"query_embedding": str(vector)}
    results: list[Any] = api.search(**{"user_id": "ana", "query": query, "sources": ["artifact"], **how, **arguments})
    return results


def found(api: Api, query: str | None = None, vector: Any = None, **arguments: Any) -> list[str]:
    return [result.id for result in search(api, query, vector, **arguments)]


def embed(api: Api, vectors: dict[str, list[float]] | None = None) -> list[str]:
    """Embed all there is; the texts. Those that contain a key of ``vectors`` get its vector."""
    texts = []
    while jobs := api.claim_jobs(worker="test", kinds=["embed", "backfill"]):
        given = [row["text"] for row in jobs[0].payload["texts"]]
        embeddings = [next((v for key, v in (vectors or {}).items() if key in text), [1.0, 0.0, 0.0]) for text in given]
        complete(api, jobs[0], embeddings=embeddings)
        texts += given
    return texts


def embedded(api: Api) -> list[str]:
    return [row.id for row in api.query("select id from memory.embeddings where source = 'artifact' order by id")]


# Storing --------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("C1", "C3")
def test_an_artifact_is_kept_whole_and_a_placeholder_stands_for_it(api: Api) -> None:
    stored = store(api, description="NPM Install Output", key="cmd_log_123")
    tokens = (len(LOG) + 3) // 4
    assert stored == ("cmd_log_123", f"[MemoryRef: cmd_log_123 - NPM Install Output - {tokens} tokens]", tokens)
    assert read(api, "cmd_log_123") == LOG
    assert read(api, f" {stored.memory_ref}\n") == LOG


@pytest.mark.feature("C3")
def test_an_artifact_has_what_it_was_given(api: Api) -> None:
    given = {
        "key": "src/app.py@v1", "artifact_type": "file", "agent_id": "coder", "thread_id": "t1",
        "metadata": {"command": "cat src/app.py", "exit": 0}, "description": "The app",
    }  # fmt: skip
    stored = store(api, "import os", expires_at="2999-01-01T00:00:00Z", **given)
    [row] = api.list_artifacts(user_id="ana")
    assert {name: getattr(row, name) for name in given} == given
    assert (row.memory_ref, row.token_count, row.total_count) == (stored.memory_ref, 3, 1)
    assert (row.expires_at.year, abs((api.value("select now()") - row.created_at).total_seconds()) < 60) == (2999, True)
    store(api, "import os", metadata=None)
    plain = api.list_artifacts(user_id="ana")[0]
    assert (plain.artifact_type, plain.agent_id, plain.thread_id) == ("command_output", "default", None)
    assert (plain.metadata, plain.expires_at) == ({}, None)


@pytest.mark.feature("C3")
@pytest.mark.parametrize(
    ("arguments", "slug"),
    [
        ({"description": "NPM Install: Output!"}, "npm-install-output"),
        ({"content": "Traceback (most recent call last):"}, "traceback-most-recent-call-last"),
        ({"description": "安装输出", "artifact_type": "file"}, "file"),
        ({"description": "安装输出", "artifact_type": "文件"}, "artifact"),
        ({"description": "x" * 300}, "x" * 40),
        ({"description": f"{'x' * 39} y"}, "x" * 39),
    ],
)
def test_a_key_is_made_of_the_description(api: Api, arguments: dict[str, Any], slug: str) -> None:
    stored = [store(api, **arguments) for _ in range(20)]
    assert all(re.fullmatch(rf"{slug}-[0-9a-f]{{6}}", row.key) for row in stored)
    assert len({row.key for row in stored}) == 20


@pytest.mark.feature("C3")
def test_another_key_is_made_when_one_is_taken(api: Api) -> None:
    api.connection.execute("create sequence pg_temp.draws")
    # As if chance had drawn the same digits twice.
    api.connection.execute("""
        create function pg_temp.drawn() returns uuid language sql as
        $$ select rpad((nextval('pg_temp.draws') / 2)::text, 32, '7')::uuid $$
    """)
    body = api.value("select prosrc from pg_proc where proname = '_artifact_key'")
    api.connection.execute(
        "create or replace function memory._artifact_key(p_description text, p_artifact_type text)"
        f" returns text language plpgsql as $body${body.replace('gen_random_uuid()', 'pg_temp.drawn()')}$body$"
    )
    keys = [store(api, "x", user_id=user_id).key for user_id in ("ana", "ana", "ana", "bob")]
    assert keys == ["x-077777", "x-177777", "x-277777", "x-277777"]
    assert read(api, "x-177777") == "x"


@pytest.mark.feature("C3")
def test_the_same_again_under_its_key_changes_nothing(api: Api) -> None:
    first = store(api, key="log", description="First")
    before = api.state()
    assert store(api, key="log", description="Second", thread_id="t9") == first
    assert api.state() == before


LATER = ["2998-01-01", "2999-01-01", "infinity", None]


@pytest.mark.feature("C3")
@pytest.mark.parametrize(("first", "second"), [*itertools.product(LATER, repeat=2)])
def test_the_same_again_under_its_key_lives_as_long_as_the_longer_life(
    api: Api, first: str | None, second: str | None
) -> None:
    activate(api, "ada", "embedding")
    stored = store(api, key="log", description="First", expires_at=first)
    embed(api)
    rest = "select to_jsonb(a) - 'expires_at' from memory.artifacts as a"
    before, others = api.value(rest), api.state()
    assert store(api, key="log", description="Second", agent_id="cook", expires_at=second) == stored
    longer = max(first, second, key=LATER.index)
    longer = None if longer == "infinity" else longer  # both mean never
    assert api.value("select expires_at is not distinct from %(longer)s from memory.artifacts", longer=longer)
    assert api.value(rest) == before
    assert {**api.state(), "artifacts": others["artifacts"]} == others
    assert (embedded(api), open_jobs(api), found(api, "deprecated")) == (["log"], [], ["log"])


@pytest.mark.feature("C3")
def test_other_content_and_other_users_do_not_lengthen_a_life(api: Api) -> None:
    store(api, key="log", expires_at="2999-01-01")
    before = api.state()["artifacts"]
    with refused("key", "23505"):
        store(api, "two", key="log")
    assert api.state()["artifacts"] == before
    store(api, key="log", user_id="bob")
    assert api.list_artifacts(user_id="ana")[0].expires_at.year == 2999


@pytest.mark.feature("C3")
def test_what_has_expired_is_stored_anew(api: Api) -> None:
    store(api, key="log", description="First", expires_at="2020-01-01")
    store(api, key="log", description="Second")
    [row] = api.list_artifacts(user_id="ana")
    assert (row.description, row.expires_at) == ("Second", None)


@pytest.mark.feature("C3")
def test_a_key_goes_on_meaning_what_it_meant(api: Api) -> None:
    store(api, "one", key="log")
    before = api.state()
    with refused("key", "23505"):
        store(api, "two", key="log")
    assert api.state() == before
    store(api, "two", key="log", user_id="bob")
    assert (read(api, "log"), read(api, "log", user_id="bob")) == ("one", "two")


@pytest.mark.feature("C3")
def test_an_expired_artifact_leaves_its_key_free(api: Api) -> None:
    activate(api, "ada", "embedding")
    store(api, "one", key="log")
    embed(api)
    api.connection.execute("update memory.artifacts set expires_at = now() - interval '1 second'")
    store(api, "two", key="log")
    assert (read(api, "log"), embedded(api)) == ("two", [])
    assert embed(api) == ["two\ntwo"]


@pytest.mark.feature("C1")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("two\nlines", "two lines"),
        ("  many\t \r\n blanks\u00a0\u2028 ", "many blanks"),
        ("array[0] [x] - y - 3 tokens]", "array(0) (x) - y - 3 tokens)"),
        ("\x1b[31mred\x1b[0m \x07bell", "red bell"),
        ("ÅÄÖ ☕ 记忆", "ÅÄÖ ☕ 记忆"),
        ("é" * 500, "é" * 500),
    ],
)
def test_a_description_is_one_line_that_cannot_end_the_placeholder(api: Api, given: str, kept: str) -> None:
    stored = store(api, "x", description=given, key="k")
    assert stored.memory_ref == f"[MemoryRef: k - {kept} - 1 tokens]"
    assert api.list_artifacts(user_id="ana")[0].description == kept
    assert api.value("select memory._without_recalled(%(text)s)", text=f"See {stored.memory_ref}!") == "See !"


DESCRIBED: dict[str, tuple[str, dict[str, Any], str]] = {
    "a line": ("added 512 packages\n\nfound 0 vulnerabilities", {}, "added 512 packages"),
    "a title and colours of a terminal": ("\x1b]0;me\x07\x1b[1mTotal:\x1b[0m 3", {}, "Total: 3"),
    "what turns the direction": ("\u200b\n\u202etxt.exe\U000e0041", {}, "txt.exe"),
    "joined letters": ("👩\u200d🚀", {}, "👩\u200d🚀"),
    "after lines that say nothing": ("\n---===---\n┌─────┐\r\n  \x1b[1mTotal:\x1b[0m  3 ", {}, "Total: 3"),
    "in another script": ("\n记忆：内容", {}, "记忆：内容"),
    "a bar of progress": ("\r[####  ]\r[######] done\n", {}, "(######) done"),
    "a long line": ("word " * 100, {}, "word " * 19 + "wo..."),
    "no words": ("---\n===\n", {}, "command_output, 2 lines"),
    "a command": ("a\nb\nc\n", {"command": "npm  install\n[x]"}, "npm install (x), 3 lines"),
    "a command of one line": ("a", {"command": "ls"}, "ls, 1 line"),
    "a long command": ("a", {"command": "ls " * 999}, "ls " * 32 + "l..., 1 line"),
    "a blank command": ("Tea", {"command": " "}, "Tea"),
    "a list as command": ("Tea", {"command": ["ls"]}, "Tea"),
    "JSON": ('{"name": 1, "id": {"a": [2]}, "z": null}', {}, "JSON object: name, id, z"),
    "JSON with many keys": (json.dumps(dict.fromkeys("abcdefghijkl")), {}, "JSON object: a, b, c, d, e, f, g, h, i, j"),
    "JSON with long keys": (json.dumps({"k" * 200: 1}), {}, "JSON object: " + "k" * 84 + "..."),
    "JSON with odd keys": ('{"a]\\n[b": 1}', {}, "JSON object: a) (b"),
    "an empty object": (" {}", {}, "JSON object"),
    "an array": ('[{"id": 1, "b": 2}, {"c": 3}]', {}, "JSON array of 2: id, b"),
    "an array of numbers": ("[1, 2, 3]", {}, "JSON array of 3"),
    "an empty array": ("[]", {}, "JSON array of 0"),
    "almost JSON": ('{"name": 1,', {}, '{"name": 1,'),
    "JSON with what jsonb refuses": ('{"a": "\\u0000"}', {}, '{"a": "\\u0000"}'),
    "JSON with half a character": ('{"\\ud800": 1}', {}, '{"\\ud800": 1}'),
    "deep JSON": ("[" * 100_000 + "1", {}, "command_output, 1 line"),
    "lines of JSON": ('{"a": 1}\n{"b": 2}', {}, '{"a": 1}'),
}  # fmt: skip


@pytest.mark.feature("C4")
@pytest.mark.parametrize(
    ("case", "description"), [*((case, None) for case in DESCRIBED), ("JSON", ""), ("JSON", " \n ")]
)
def test_without_a_description_one_is_made_at_once(api: Api, case: str, description: str | None) -> None:
    content, metadata, expected = DESCRIBED[case]
    stored = store(api, content, description=description, metadata=metadata, key="k")
    assert stored.memory_ref == f"[MemoryRef: k - {expected} - {stored.token_count} tokens]"


@pytest.mark.feature("C3")
@pytest.mark.parametrize(
    "key", ["a", "x" * 255, "cmd_log_123", "src/app.py", "call_9:2", "a=b+c#d@e.f-g", "-", "https://a.org/b"]
)
def test_keys_may_be_names_paths_and_addresses(api: Api, key: str) -> None:
    reference = store(api, "Tea", key=key).memory_ref
    assert reference == f"[MemoryRef: {key} - Tea - 1 tokens]"
    assert (read(api, key), read(api, reference), found(api, "tea")) == ("Tea", "Tea", [key])


DIRECT = """
    insert into memory.artifacts (user_id, key, content, description, artifact_type, agent_id, thread_id, metadata)
    values (%(user_id)s, %(key)s, %(content)s, %(description)s, %(artifact_type)s, %(agent_id)s, %(thread_id)s,
            %(metadata)s)
    returning key
"""
ROW = {
    "user_id": "ana", "key": "k", "content": "Tea grows.", "description": "Tea", "artifact_type": "file",
    "agent_id": "cook", "thread_id": "t1", "metadata": Jsonb({}),
}  # fmt: skip
BAD = [
    ("user_id", ""), ("key", "a b"), ("key", ""), ("content", " \n"), ("content", None), ("description", "x" * 501),
    ("artifact_type", None), ("agent_id", "x" * 256), ("thread_id", ""), ("metadata", Jsonb([1])),
]  # fmt: skip


@pytest.mark.feature("C3")
@pytest.mark.parametrize(("column", "bad"), BAD, ids=lambda value: str(value)[:20])
def test_direct_writes_obey_the_same_rules(api: Api, column: str, bad: Any) -> None:
    """An import with COPY, or an edit in psql."""
    code = "54000" if column == "description" else "22023"
    with refused(column, code):
        api.query(DIRECT, **{**ROW, column: bad})
    api.query(DIRECT, **ROW)
    with refused(column, code):
        api.query(f"update memory.artifacts set {column} = %(bad)s returning 1", bad=bad)


@pytest.mark.feature("C3", "C6")
def test_direct_writes_are_found_and_embedded(api: Api) -> None:
    activate(api, "ada", "embedding")
    made = api.value(DIRECT, **{**ROW, "key": None, "description": None, "metadata": None})
    assert re.fullmatch("tea-grows-[0-9a-f]{6}", made)
    api.query(DIRECT, **ROW)
    assert {*embed(api)} == {"Tea grows.\nTea grows.", "Tea\nTea grows."}
    counted = "update memory.artifacts set token_count = 99, search_vector = '', metadata = '{\"a\": 1}' returning 1"
    api.query(counted)
    assert {row.token_count for row in api.list_artifacts(user_id="ana")} == {3}
    assert (sorted(found(api, "tea")), open_jobs(api), len(embedded(api))) == (["k", made], [], 2)
    api.query("update memory.artifacts set content = 'Coffee, hot.', description = null where key = 'k' returning 1")
    assert (found(api, "tea"), found(api, "coffee"), embedded(api)) == ([made], ["k"], [made])
    [row] = search(api, "coffee")
    assert row.content == "[MemoryRef: k - Coffee, hot. - 3 tokens]"
    assert embed(api) == ["Coffee, hot.\nCoffee, hot."]
    for column in ("key", "user_id"):
        with refused("key"):
            api.query(f"update memory.artifacts set {column} = 'other' where key = 'k' returning 1")
    api.query("delete from memory.artifacts returning 1")
    assert (found(api, "coffee"), embedded(api)) == ([], [])


@pytest.mark.feature("C3")
def test_a_role_that_may_insert_artifacts_needs_no_other_right(api: Api) -> None:
    activate(api, "ada", "embedding")
    api.connection.execute("create role writer")
    api.connection.execute("grant usage on schema memory to writer")
    api.connection.execute("grant insert (user_id, content) on memory.artifacts to writer")
    api.connection.execute("set local role writer")
    api.connection.execute(
        "insert into memory.artifacts (user_id, content) select 'ana', 'Tea ' || n from generate_series(1, 3) as n"
    )
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        api.query("insert into memory.artifacts (user_id, content, token_count) values ('ana', 'Tea', 0) returning 1")
    api.connection.execute("reset role")
    assert (len(found(api, "tea")), open_jobs(api)) == (3, ["embed"])


# Reading --------------------------------------------------------------------------------------------------------------


TEXTS = {
    "ASCII": LOG[:999],
    "one token": "x",
    "two bytes each": "é" * 101,
    "three bytes each": "☕" * 101,
    "four bytes each": wide_text(101),
    "bytes of all lengths": "".join(random.Random(7).choices("aé☕𝒳", k=301)),
    "combining marks": "e\u0301\u200d👩🏽‍🚀" * 30,
    "blanks": " \n" * 50 + "x" + "\t" * 50,
}


@pytest.mark.feature("C5")
@pytest.mark.parametrize("step", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_slices_joined_are_the_whole(api: Api, text: str, step: int) -> None:
    stored = store(api, text, key="k")
    slices = [read(api, "k", start, step) for start in range(0, stored.token_count, step)]
    assert "".join(slices) == text
    assert all(len(piece.encode()) < 4 * step + 4 for piece in slices)
    assert read(api, "k", step) == text.removeprefix(slices[0])
    assert read(api, "k", 0, step) == slices[0]
    assert read(api, "k", stored.token_count) == read(api, "k", 2**31 - 1, 2**31 - 1) == ""
    assert read(api, "k", 0, 2**31 - 1) == read(api, "k", 0) == read(api, "k") == text


@pytest.mark.feature("C5", "C6")
@pytest.mark.parametrize(
    "text", ["word " * 2_097_152, "☕ é" * 1_747_626, wide_text(2_621_440)], ids=["words", "cups", "wide"]
)
def test_the_largest_artifact_is_stored_found_and_read_in_slices(api: Api, text: str) -> None:
    activate(api, "ada", "embedding")
    text = f"Tea.\n{text}".encode()[: 10 * 2**20].decode(errors="ignore")
    api.connection.execute("set local statement_timeout = '10s'")
    stored = store(api, text)
    [result] = search(api, "tea")
    assert (result.id, len(result.content)) == (stored.key, len(stored.memory_ref))
    assert len(claim(api, "embed").payload["texts"][0]["text"]) == 24_000
    api.connection.execute("set local statement_timeout = '1s'")
    starts = range(0, stored.token_count, 65_536)
    assert "".join(read(api, stored.key, start, 65_536) for start in starts) == text


@pytest.mark.feature("C3")
def test_large_json_is_described_in_reasonable_time(api: Api) -> None:
    api.connection.execute("set local statement_timeout = '5s'")
    text = json.dumps([{"name": f"name {number}", "id": number} for number in range(250_000)])
    assert "JSON array of 250000: name, id" in store(api, text).memory_ref


@pytest.mark.feature("C9")
@pytest.mark.parametrize("kind", ["another user's", "expired", "never stored"])
def test_what_the_user_does_not_have_is_unknown(api: Api, kind: str) -> None:
    if kind == "another user's":
        store(api, key="log", user_id="bob")
    elif kind == "expired":
        store(api, key="log", expires_at="2020-01-01")
    with refused("key", "P0002") as unknown:
        read(api, "log")
    with refused("key", "P0002") as never:
        read(api, "gol")
    said = [
        (e.value.diag.message_primary or "", e.value.diag.message_hint, e.value.diag.context) for e in (unknown, never)
    ]
    assert said[0] == (said[1][0].replace("gol", "log"), *said[1][1:])
    assert (listed(api), found(api, "deprecated")) == ([], [])
    store(api, "mine", key="log")
    assert read(api, "log") == "mine"


@pytest.mark.feature("C3")
def test_artifacts_are_listed_newest_first_by_page_type_and_thread(api: Api) -> None:
    for number in range(4):
        store(api, f"{number}", key=f"k{number}", artifact_type=f"type{number % 2}", thread_id=f"t{number // 2}")
    store(api, "Bob's", user_id="bob")
    store(api, "over", expires_at="2020-01-01")
    assert listed(api) == ["k3", "k2", "k1", "k0"]
    assert listed(api, artifact_type="type1") == ["k3", "k1"]
    assert listed(api, artifact_type="type1", thread_id="t0") == ["k1"]
    assert listed(api, thread_id="t2") == listed(api, artifact_type="") == []
    assert listed(api, row_limit=1, row_offset=2) == ["k1"]
    assert {row.total_count for row in api.list_artifacts(user_id="ana", row_limit=1)} == {4}


# Finding --------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("C6", "C1")
def test_a_placeholder_is_found_by_the_words_of_content_description_and_key(api: Api) -> None:
    given: dict[str, Any] = {"agent_id": "coder", "thread_id": "t1", "metadata": {"exit": 0}}
    stored = store(api, description="Installation of packages", key="cmd_log_123", **given)
    store(api, "Nothing of note")
    for query in ("deprecated inflight", "installing", "cmd_log_123"):
        [result] = search(api, query)
        assert result[:4] == ("artifact", "cmd_log_123", "t1", stored.memory_ref)
        assert result.metadata == {"exit": 0}
        assert result.details == {
            "key": "cmd_log_123", "description": "Installation of packages", "artifact_type": "command_output",
            "token_count": stored.token_count, "agent_id": "coder",
        }  # fmt: skip


@pytest.mark.feature("C6")
def test_artifacts_are_found_only_where_they_are_asked_for(api: Api) -> None:
    store(api, "Tea")
    assert [row.source for row in api.search(user_id="ana", query="tea", mode="keyword")] == []
    api.add_memory(user_id="ana", content="Likes tea")
    found = api.search(user_id="ana", query="tea", mode="keyword", sources=["artifact", "memory"])
    assert sorted(row.source for row in found) == ["artifact", "memory"]


VECTORS = {"boat": [1.0, 0.0, 0.0], "tea": [0.0, 1.0, 0.0]}


@pytest.mark.feature("C6")
def test_a_placeholder_is_found_by_its_meaning(api: Api) -> None:
    activate(api, "ada", "embedding")
    refs = {key: store(api, f"All about the {key}.", key=key).memory_ref for key in VECTORS}
    assert open_jobs(api) == ["embed"]
    assert sorted(embed(api, VECTORS)) == [f"All about the {key}.\nAll about the {key}." for key in VECTORS]
    [near, far] = search(api, "vessels", [0.9, 0.1, 0], mode="vector")
    assert (near.id, near.content, far.id) == ("boat", refs["boat"], "tea")
    assert near.score > 0.9 > 0.2 > far.score
    assert found(api, "vessels", [0.9, 0.1, 0])[0] == "boat"
    assert found(api, None, [0, 1, 0])[0] == "tea"


@pytest.mark.feature("C6")
def test_both_arms_find_placeholders(api: Api) -> None:
    activate(api, "ada", "embedding")
    for key in VECTORS:
        store(api, f"All about the {key}.", key=key)
    embed(api, VECTORS)
    store(api, "All about the kite.", key="kite")  # not embedded yet
    assert found(api, "kite", [1, 0, 0]) == ["kite", "boat", "tea"]
    assert found(api, "vessels", [1, 0, 0]) == ["boat", "tea"]
    [both, *_] = search(api, "tea", [0, 1, 0], explain=True)
    assert (both.id, both.score) == ("tea", 1)
    assert both.details["keyword"]["rank"] == both.details["vector"]["rank"] == 1


@pytest.mark.feature("C6")
def test_the_beginning_of_a_long_content_and_all_of_the_description_are_embedded(api: Api) -> None:
    activate(api, "ada", "embedding")
    store(api, LOG * 5, description="Installation")
    [text] = embed(api)
    assert text == f"Installation\n{LOG * 5}"[:24_000]


@pytest.mark.feature("C6", "F4")
def test_a_backfill_embeds_what_was_there_before_the_model(api: Api) -> None:
    """Of a user who has nothing else, too."""
    store(api, "All about the boat.", key="boat")
    activate(api, "ada", "embedding")
    assert open_jobs(api) == ["backfill"]
    assert api.backfill_status()[0][:3] == ("ada", 0, 1)
    embed(api, VECTORS)
    assert api.backfill_status()[0][:3] == ("ada", 1, 1)
    assert found(api, None, [1, 0, 0]) == ["boat"]
    store(api, "over", expires_at="2020-01-01")
    assert (api.backfill_status()[0][:3], embed(api)) == (("ada", 1, 1), [])
    assert api.sweep()["queued"] == 0


@pytest.mark.feature("C6")
def test_artifacts_are_embedded_apart_from_the_messages_of_their_thread(api: Api) -> None:
    activate(api, "ada", "embedding")
    store(api, "All about the boat.", thread_id="t1")
    api.add_message(user_id="ana", thread_id="t1", role="user", content="Hello")
    jobs = api.claim_jobs(worker="test", kinds=["embed"], max_jobs=2)
    assert sorted(len(job.payload["texts"]) for job in jobs) == [1, 1]


@pytest.mark.feature("C6")
def test_an_artifact_stored_while_the_last_job_ends_is_found_by_the_sweep(
    connect: Callable[..., psycopg.Connection],
) -> None:
    worker, client = Api(connect()), Api(connect())
    activate(worker, "ada", "embedding")
    store(worker, key="first")
    job = claim(worker, "embed")
    with client.connection.transaction():
        store(client, key="second")  # a job is running, so none is queued
        complete(worker, job, embeddings=[[1.0, 0.0, 0.0]])  # and that one cannot see the artifact yet
    worker.sweep()
    embed(worker)
    assert embedded(worker) == ["first", "second"]


MODES = [("tea", None), ("tea", [0, 1, 0]), (None, [0, 1, 0])]


@pytest.mark.feature("C6", "C9")
@pytest.mark.parametrize(("query", "vector"), MODES, ids=["keyword", "hybrid", "vector"])
def test_nobody_else_finds_an_artifact(api: Api, query: str | None, vector: Any) -> None:
    activate(api, "ada", "embedding")
    store(api, "All about the tea.", key="same", user_id="bob")
    store(api, "All about the tea.", key="theirs", user_id="bob")
    embed(api, VECTORS)
    assert found(api, query, vector) == []
    store(api, "A boat", key="same")
    embed(api, VECTORS)
    assert "theirs" not in found(api, query, vector)
    assert sorted(found(api, query, vector, user_id="bob")) == ["same", "theirs"]
    assert all("boat" in row.content for row in search(api, query, vector))


@pytest.mark.feature("C6")
@pytest.mark.parametrize(("query", "vector"), MODES, ids=["keyword", "hybrid", "vector"])
def test_every_filter_holds_for_artifacts(api: Api, query: str | None, vector: Any) -> None:
    activate(api, "ada", "embedding")
    kept = {"agent_id": "cook", "thread_id": "t1", "metadata": {"exit": 0, "tags": ["a"]}}
    store(api, "tea 1", key="kept", **kept)
    store(api, "tea 2", key="other", agent_id="tutor", thread_id="t2", metadata={"exit": 1})
    store(api, "tea 3", key="over", expires_at="2020-01-01", **kept)
    embed(api, VECTORS)
    api.query("update memory.artifacts set created_at = '2026-01-01' where key <> 'other' returning 1")
    everything = {"kept", "other"}
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({}, everything),
        ({"agent_id": "cook"}, {"kept"}),
        ({"thread_id": "t1"}, {"kept"}),
        ({"exclude_thread_id": "t1"}, {"other"}),
        ({"exclude_thread_id": "t9"}, everything),
        ({"filter": {"exit": 0}}, {"kept"}),
        ({"filter": {"tags": ["a"]}}, {"kept"}),
        ({"created_before": "2026-01-02"}, {"kept"}),
        ({"created_after": "2026-01-02"}, {"other"}),
        ({"as_of": "2026-01-02"}, {"kept"}),
        ({"as_of": "2025-01-02"}, set()),
        ({"include_superseded": True}, everything),
        ({"exclude_tags": ["a"]}, everything),
        ({"memory_types": ["fact"]}, set()),
        ({"tags_all": []}, set()),
        ({"tags_any": ["a"]}, set()),
        ({"min_confidence": 0.1}, set()),
        ({"doc_types": ["document"]}, set()),
        ({"namespaces": ["default"]}, set()),
        ({"sources": ["memory", "summary", "document", "message"]}, set()),
    ]
    assert [(arguments, {*found(api, query, vector, **arguments)}) for arguments, _ in cases] == cases


@pytest.mark.feature("C6")
@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("ошибка в строке 12", "ошибка"),
        ("部署失败：磁盘已满", "磁盘"),
        ("naïve café", "café"),
        ("see src/app.py:12", "app.py"),
    ],
)
def test_words_of_any_script_are_found(api: Api, content: str, query: str) -> None:
    stored = store(api, content)
    assert found(api, query) == [stored.key]


# Removing -------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("C3")
@pytest.mark.parametrize("has_messages", [True, False])
def test_deleting_a_thread_deletes_its_artifacts(api: Api, has_messages: bool) -> None:
    activate(api, "ada", "embedding")
    if has_messages:
        api.talk("ana", "t1", 1)
    for key, thread_id in (("gone", "t1"), ("kept", "t2"), ("free", None)):
        store(api, f"tea {key}", key=key, thread_id=thread_id)
    store(api, "tea", key="theirs", thread_id="t1", user_id="bob")
    embed(api)
    api.clear_thread(user_id="ana", thread_id="t1")
    assert "gone" in listed(api)
    assert api.delete_thread(user_id="ana", thread_id="t1") == (2 if has_messages else 0)
    assert sorted(listed(api)) == sorted(found(api, "tea")) == ["free", "kept"]
    assert (listed(api, user_id="bob"), embedded(api)) == (["theirs"], ["free", "kept", "theirs"])


@pytest.mark.feature("C3", "C9")
def test_an_artifact_is_deleted_with_its_embedding_by_its_user_alone(api: Api) -> None:
    activate(api, "ada", "embedding")
    store(api, "tea", key="log")
    store(api, "tea", key="kept")
    embed(api)
    before = api.state()
    assert api.delete_artifact(user_id="bob", key="log") is False
    assert api.delete_artifact(user_id="ana", key="gol") is False
    assert api.state() == before
    assert [api.delete_artifact(user_id="ana", key="log") for _ in range(2)] == [True, False]
    assert listed(api) == found(api, "tea") == embedded(api) == ["kept"]
    with refused("key", "P0002"):
        read(api, "log")
    store(api, "boat", key="log")
    assert read(api, "log") == "boat"


@pytest.mark.feature("C3")
def test_one_that_has_expired_is_left_to_the_sweep(api: Api) -> None:
    store(api, key="log", expires_at="2020-01-01")
    assert api.delete_artifact(user_id="ana", key="log") is False
    assert api.sweep()["artifacts"] == 1


@pytest.mark.feature("C3", "B6")
def test_expired_artifacts_are_swept_with_their_embeddings(api: Api) -> None:
    activate(api, "ada", "embedding")
    for number in range(5):
        store(api, f"tea {number}", key=f"k{number}")
    embed(api)
    api.query("update memory.artifacts set expires_at = now() - interval '1 second' where key < 'k3' returning 1")
    assert [api.sweep(batch_size=2)["artifacts"] for _ in range(3)] == [2, 1, 0]
    assert embedded(api) == [key for [key] in api.query("select key from memory.artifacts")] == ["k3", "k4"]


# Many at once ---------------------------------------------------------------------------------------------------------


@pytest.mark.feature("C3", "E14")
@pytest.mark.parametrize("case", ["the same", "another", "the first expired"])
def test_of_two_writers_of_a_key_the_second_waits_for_the_first(
    connect: Callable[..., psycopg.Connection], case: str
) -> None:
    first, second = Api(connect()), Api(connect())
    with ThreadPoolExecutor(1) as pool:
        with first.connection.transaction():
            stored = store(first, "tea", key="log", expires_at="2020-01-01" if case == "the first expired" else None)
            waiting = pool.submit(store, second, "tea" if case == "the same" else "boat", key="log")
            with pytest.raises(FutureTimeoutError):
                waiting.result(0.2)
        if case == "another":
            with refused("key", "23505"):
                waiting.result(10)
        else:
            assert (waiting.result(10) == stored) is (case == "the same")
    assert read(first, "log") == ("boat" if case == "the first expired" else "tea")


@pytest.mark.feature("C3", "E14")
@pytest.mark.parametrize(("first", "second"), [("2998-01-01", "2999-01-01"), ("2999-01-01", "2998-01-01")])
@pytest.mark.parametrize("is_there", [True, False])
def test_of_two_lives_that_are_given_at_once_the_longer_counts(
    connect: Callable[..., psycopg.Connection], first: str, second: str, is_there: bool
) -> None:
    one, two = Api(connect()), Api(connect())
    if is_there:
        store(one, key="log", expires_at="2997-01-01")
    with ThreadPoolExecutor(1) as pool:
        with one.connection.transaction():
            store(one, key="log", expires_at=first)
            waiting = pool.submit(store, two, key="log", expires_at=second)
            with pytest.raises(FutureTimeoutError):
                waiting.result(0.2)
        waiting.result(10)
    assert one.list_artifacts(user_id="ana")[0].expires_at.year == 2999


@pytest.mark.feature("C3", "E14")
@pytest.mark.parametrize("content", ["tea", "boat"])
def test_what_is_deleted_at_the_same_time_is_stored_anew(
    connect: Callable[..., psycopg.Connection], content: str
) -> None:
    one, two = Api(connect()), Api(connect())
    store(one, "tea", key="log", description="First")
    with ThreadPoolExecutor(1) as pool:
        with one.connection.transaction():
            assert one.delete_artifact(user_id="ana", key="log")
            waiting = pool.submit(store, two, content, key="log", description="Second")
            with pytest.raises(FutureTimeoutError):
                waiting.result(0.2)
        waiting.result(10)
    [row] = one.list_artifacts(user_id="ana")
    assert (row.description, read(one, "log")) == ("Second", content)


@pytest.mark.feature("C3", "E14")
def test_the_second_writer_stores_what_the_first_took_back(connect: Callable[..., psycopg.Connection]) -> None:
    first, second = Api(connect()), Api(connect())
    with ThreadPoolExecutor(1) as pool:
        with first.connection.transaction(force_rollback=True):
            store(first, "tea", key="log")
            waiting = pool.submit(store, second, "boat", key="log")
            with pytest.raises(FutureTimeoutError):
                waiting.result(0.2)
        waiting.result(10)
    assert read(first, "log") == "boat"


@pytest.mark.feature("C3", "E14")
def test_many_writers_of_the_same_keys_agree(connect: Callable[..., psycopg.Connection]) -> None:
    apis = [Api(connect(options="-c deadlock_timeout=50ms")) for _ in range(4)]
    barrier = threading.Barrier(len(apis))

    def write(number: int) -> list[tuple[int, str]]:
        won = []
        for turn in range(50):
            barrier.wait(30)
            expires_at = "2020-01-01" if turn % 5 == 0 else None
            with contextlib.suppress(psycopg.errors.UniqueViolation):
                store(apis[number], f"text of {number}", key=f"k{turn}", expires_at=expires_at)
                won.append((turn, f"text of {number}"))
        return won

    with ThreadPoolExecutor(len(apis)) as pool:
        won = [*itertools.chain.from_iterable(pool.map(write, range(len(apis))))]
    kept = {turn: content for turn, content in won if turn % 5}
    assert len(kept) == len([turn for turn, _ in won if turn % 5]) == 40
    assert all(read(apis[0], f"k{turn}") == content for turn, content in kept.items())


@pytest.mark.feature("C6", "E14")
@pytest.mark.parametrize("change", ["update", "delete"])
def test_a_change_waits_for_the_embedding_that_is_being_stored(
    connect: Callable[..., psycopg.Connection], change: str
) -> None:
    worker, client = Api(connect()), Api(connect())
    activate(worker, "ada", "embedding")
    store(worker, "tea", key="log")
    job = claim(worker, "embed")
    statement = {
        "update": "update memory.artifacts set content = 'boat'",
        "delete": "delete from memory.artifacts",
    }[change]
    with ThreadPoolExecutor(1) as pool:
        with worker.connection.transaction():
            complete(worker, job, embeddings=[[0.0, 1.0, 0.0]])
            changing = pool.submit(client.connection.execute, statement)
            with pytest.raises(FutureTimeoutError):
                changing.result(0.2)
        changing.result(10)
    assert embedded(worker) == []
    assert embed(worker) == (["tea\nboat"] if change == "update" else [])


@pytest.mark.feature("C6", "E14")
def test_the_embedding_of_a_text_that_is_being_changed_is_dropped(connect: Callable[..., psycopg.Connection]) -> None:
    worker, client = Api(connect()), Api(connect())
    activate(worker, "ada", "embedding")
    store(worker, "tea", key="log")
    job = claim(worker, "embed")
    with client.connection.transaction():
        client.connection.execute("update memory.artifacts set content = 'boat'")
        with pytest.raises(psycopg.errors.LockNotAvailable):  # not waited for: the client may wait for the job
            complete(worker, job, embeddings=[[0.0, 1.0, 0.0]])
    assert complete(worker, job, embeddings=[[0.0, 1.0, 0.0]])["embedded"] == 0
    assert embed(worker) == ["tea\nboat"]


@pytest.mark.feature("C6", "E14")
def test_a_sweep_passes_over_what_is_in_use(connect: Callable[..., psycopg.Connection]) -> None:
    user, sweeper = Api(connect()), Api(connect(options="-c lock_timeout=5s"))
    store(user, key="used", expires_at="2020-01-01")
    store(user, key="free", expires_at="2020-01-01")
    with user.connection.transaction():
        user.query("select from memory.artifacts where key = 'used' for share")
        assert sweeper.sweep()["artifacts"] == 1
    assert sweeper.sweep()["artifacts"] == 1


@pytest.mark.feature("C6", "E14", "F4")
def test_embedding_while_clients_store_and_delete_ends_with_all_found(
    connect: Callable[..., psycopg.Connection],
) -> None:
    embedder, *clients = [Api(connect(options="-c deadlock_timeout=50ms")) for _ in range(4)]
    activate(embedder, "ada", "embedding")
    done = threading.Event()

    def write(number: int) -> None:
        for turn in range(40):
            with clients[number].connection.transaction():
                store(clients[number], f"text {turn}", key=f"k{number}-{turn}", thread_id=f"t{turn % 4}")
                clients[number].add_message(user_id="ana", thread_id=f"t{turn % 4}", role="user", content="Hello")
            clients[number].connection.execute(
                "update memory.artifacts set content = content || '!' where key = %s", [f"k{number}-0"]
            )
            if turn % 9 == 8:
                clients[number].delete_thread(user_id="ana", thread_id="t3")

    def work() -> None:
        while not done.is_set():
            for job in embedder.claim_jobs(worker="test", kinds=["embed", "backfill"]):
                result = {"embeddings": [[1.0, 0.5, 0.0]] * len(job.payload["texts"])}
                while True:  # as the runners do: a result is handed in until nobody holds what it changes
                    try:
                        embedder.complete_job(**lease(job), result=result)
                    except psycopg.errors.LockNotAvailable:
                        continue
                    except psycopg.Error as error:
                        if error.sqlstate != "AM001":  # the job went with its thread
                            raise
                    break

    with ThreadPoolExecutor(4) as pool:
        worker = pool.submit(work)
        try:
            for writer in [pool.submit(write, number) for number in range(len(clients))]:
                writer.result(60)
        finally:
            done.set()
        worker.result(30)
    store(embedder)  # what was stored at the very moment at which a job ended is found by the next one
    embed(embedder)
    assert embedded(embedder) == sorted(key for [key] in embedder.query("select key from memory.artifacts"))
    assert nothing_to_do(embedder, "embed")
