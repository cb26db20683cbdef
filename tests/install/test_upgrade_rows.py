"""An upgrade from the first release brings the rows that it finds under rules that came later."""

from __future__ import annotations

import pytest
from psycopg import errors

from tests.support.installer import execute, install, open_as
from tests.support.releases import install_script
from tests.support.sqlapi import Api


@pytest.mark.feature("E12", "F13")
def test_memories_with_other_blanks_are_recognised_and_none_is_lost(empty_dsn: str) -> None:
    execute(empty_dsn, "create extension vector")
    install(empty_dsn, install_script("0.1.0"))
    alone = ["Likes\u00a0tea", "\ufeffLikes milk", "Mag\u2007grünen\u202fTee", "日本\u200b語"]
    alike = ["Has a\u00a0cat", "Has\u00a0a cat", "Has\u00a0a\u00a0cat"]  # one text by now, the first is the oldest
    plain_too = ["Has\u00a0a dog", "Has a dog"]
    hidden = ["Has\u00a0a fish", "Has a\u00a0fish"]
    with open_as(empty_dsn) as connection:
        api = Api(connection)
        stored = {}
        for content in [*alone, *alike, *plain_too, *hidden, "Grüße  ☕", "Has birds"]:
            added = api.add_memory(user_id="ana", content=content)
            assert added.inserted
            stored[content] = added.memory_id
        for content in hidden:
            replaced = {"old_memory_id": stored[content], "new_memory_id": stored["Has birds"]}
            api.supersede_memory(user_id="ana", **replaced, reason="newer")
        other = api.add_memory(user_id="bob", content=alike[0]).memory_id
        before = api.query("select memory_id, version, updated_at, content from memory.memories order by 1")
        hashes = dict(api.query("select memory_id, content_hash from memory.memories"))
    install(empty_dsn)
    with open_as(empty_dsn) as connection:
        api = Api(connection)
        assert api.query("select memory_id, version, updated_at, content from memory.memories order by 1") == before
        assert api.query("select from memory.memory_history") == [()] * len(hidden)
        for content in alone:
            spelled = content.replace("\ufeff", "").replace("\u200b", "").upper()
            again = api.add_memory(user_id="ana", content=" ".join(spelled.split()))
            assert (again.memory_id, again.inserted) == (stored[content], False)
        assert api.add_memory(user_id="ana", content="Has a cat") == (stored[alike[0]], False)
        assert api.add_memory(user_id="bob", content="Has a cat") == (other, False)
        assert api.add_memory(user_id="ana", content=plain_too[0]) == (stored["Has a dog"], False)
        kept = dict(api.query("select memory_id, content_hash from memory.memories"))
        for content in (*alike[1:], *plain_too, "Grüße  ☕", "Has birds"):
            assert kept[stored[content]] == hashes[stored[content]]
        assert len(api.list_memories(user_id="ana")) == len(stored) - len(hidden)

        # Those that share a text can still be changed, but not into that text again.
        update = {"user_id": "ana", "memory_id": stored[alike[1]]}
        api.update_memory(**update, importance=0.9)
        with pytest.raises(errors.UniqueViolation):
            api.update_memory(**update, content="has a cat")
        api.update_memory(**update, content="Has two cats")
        api.restore_memory(user_id="ana", memory_id=stored[hidden[1]])
        assert api.add_memory(user_id="ana", content="Has a fish") == (stored[hidden[1]], False)
        with pytest.raises(errors.UniqueViolation):
            api.restore_memory(user_id="ana", memory_id=stored[hidden[0]])


@pytest.mark.feature("E12", "F13")
def test_memories_that_differ_in_type_only_become_one_and_none_is_lost(empty_dsn: str) -> None:
    execute(empty_dsn, "create extension vector")
    install(empty_dsn, install_script("0.1.0"))
    with open_as(empty_dsn) as connection:
        api = Api(connection)
        api.register_model(name="ada", kind="embedding", provider="openai", model="ada", settings={"dimensions": 8})
        api.activate_model(name="ada")
        fact = api.add_memory(user_id="ana", content="Likes green tea").memory_id
        preference = api.add_memory(user_id="ana", content="likes green  tea", memory_type="preference").memory_id
        context = api.add_memory(user_id="ana", content="Likes green tea", memory_type="context").memory_id
        extracted = api.add_memory(
            user_id="ana", content="Has a cat", memory_type="context", source="extraction"
        ).memory_id
        stated = api.add_memory(user_id="ana", content="Has a cat").memory_id
        api.add_memory(user_id="ana", content="Likes green tea", agent_id="other")
        api.add_memory(user_id="bob", content="Likes green tea")
        while api.finish_jobs():
            pass
    install(empty_dsn)
    with open_as(empty_dsn) as connection:
        api = Api(connection)
        rows = {row.memory_id: row for row in api.list_memories(user_id="ana", include_superseded=True)}
        assert len(rows) == 6
        assert {key: row.superseded_by for key, row in rows.items() if row.superseded_by} == {
            fact: preference,
            context: preference,
            extracted: stated,
        }
        assert {row.supersede_reason for row in rows.values()} == {None, "duplicate"}
        assert {row.memory_count for row in api.query("select memory_count from memory.memory_scopes")} == {2, 1}
        assert api.count_memories(user_id="ana", agent_id="default") == 2
        found = api.search(user_id="ana", query_embedding=str([1] * 8), mode="vector", agent_id="default")
        assert {row.id for row in found} == {str(preference), str(stated)}
        assert [row.operation for row in api.get_memory_history(user_id="ana", memory_id=fact)] == [
            "insert",
            "supersede",
        ]
        # The one that stays can go, and what it hid is current again.
        api.delete_memory(user_id="ana", memory_id=preference)
        assert len(api.list_memories(user_id="ana", agent_id="default")) == 2


@pytest.mark.feature("E12", "F13")
def test_an_expired_memory_does_not_hide_one_with_its_words(empty_dsn: str) -> None:
    execute(empty_dsn, "create extension vector")
    install(empty_dsn, install_script("0.1.0"))
    with open_as(empty_dsn) as connection:
        api = Api(connection)
        expired = {"user_id": "ana", "content": "Has a cat", "memory_type": "preference", "expires_at": "2026-01-01"}
        api.add_memory(**expired)
        lasting = api.add_memory(user_id="ana", content="Has a cat").memory_id
    install(empty_dsn)
    with open_as(empty_dsn) as connection:
        assert [row.memory_id for row in Api(connection).list_memories(user_id="ana")] == [lasting]


@pytest.mark.feature("C3", "C5", "F13")
def test_artifacts_are_moved_into_parts_with_their_words_and_embeddings(empty_dsn: str) -> None:
    execute(empty_dsn, "create extension vector")
    install(empty_dsn, install_script("0.1.0"))
    texts = {
        "short": "Grüße ☕\r\n",
        "log": "".join(f"line {number} of the log, é\n" for number in range(1, 30_001)),
        "one-line": "wörd" * 20_000,
        "wide": "𝒳" * 50_000,
    }
    with open_as(empty_dsn) as connection:
        api = Api(connection)
        api.register_model(name="ada", kind="embedding", provider="openai", model="ada", settings={"dimensions": 8})
        api.activate_model(name="ada")
        for key, text in texts.items():
            api.store_artifact(user_id="ana", key=key, content=text, description=f"About {key}")
        api.store_artifact(user_id="bob", key="log", content="Bob's")
        while api.finish_jobs():
            pass
        listed = api.list_artifacts(user_id="ana")
    install(empty_dsn)
    with open_as(empty_dsn) as connection:
        api = Api(connection)
        assert api.list_artifacts(user_id="ana") == listed
        assert {key: api.retrieve_artifact(user_id="ana", key=key) for key in texts} == texts
        assert api.retrieve_artifact(user_id="ana", key="log", from_line=29_999) == "".join(
            texts["log"].splitlines(keepends=True)[-2:]
        )
        parsed = (
            "select count(*) as parts, count(search_vector) as parsed from memory.artifact_parts"
            " where octet_length(content) < 100"
        )
        assert api.query(parsed) == [(2, 2)]
        ids = api.query("select id from memory.embeddings order by user_id, id")
        assert [row.id for row in ids] == ["short/0", "log/0"]
        assert api.value("select max(octet_length(content)) from memory.artifact_parts") <= 32_768
        while api.sweep()["checked"]:
            pass
        found = {"user_id": "ana", "query": "29990", "mode": "keyword", "sources": ["artifact"]}
        assert [row.id for row in api.search(**found)] == ["log"]
        for key, text in texts.items():
            api.store_artifact(user_id="ana", key=key, content=text)
        assert api.list_artifacts(user_id="ana") == listed
