"""Searching artifacts: by the words and the meaning of content, description and key, with every filter."""

from __future__ import annotations

from typing import Any

import pytest

from tests.artifacts.steps import LOG, embed, found, parse, search, store
from tests.support.protocol import activate, open_jobs
from tests.support.sqlapi import Api


@pytest.mark.feature("C6", "C1")
def test_a_placeholder_is_found_by_the_words_of_content_description_and_key(api: Api) -> None:
    given: dict[str, Any] = {"agent_id": "coder", "thread_id": "t1", "metadata": {"exit": 0}}
    stored = store(api, description="Installation of packages", key="cmd_log_123", **given)
    store(api, "Nothing of note")
    for query in ("deprecated inflight", "installing", "cmd_log_123"):
        [result] = search(api, query)
        assert result[:3] == ("artifact", "cmd_log_123", "t1")
        shown, passage = result.content.split("\n", 1)
        assert (shown, passage in LOG, len(passage) < 4000) == (stored.memory_ref, True, True)
        assert result.metadata == {"exit": 0}
        assert result.details == {
            "key": "cmd_log_123", "description": "Installation of packages", "artifact_type": "command_output",
            "token_count": stored.token_count, "agent_id": "coder", "from_line": result.details["from_line"],
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
    assert open_jobs(api) == ["parse_artifacts"]
    parse(api)
    assert open_jobs(api) == ["embed"]
    assert sorted(embed(api, VECTORS)) == [f"All about the {key}.\nAll about the {key}." for key in VECTORS]
    [near, far] = search(api, "vessels", [0.9, 0.1, 0], mode="vector")
    assert (near.id, near.content, far.id) == ("boat", f"{refs['boat']}\nAll about the boat.", "tea")
    assert near.score > 0.9 > 0.2 > far.score
    assert found(api, "vessels", [0.9, 0.1, 0])[0] == "boat"
    assert found(api, None, [0, 1, 0])[0] == "tea"


@pytest.mark.feature("C6")
def test_the_end_of_a_long_content_is_found_by_its_meaning_and_shown(api: Api) -> None:
    activate(api, "ada", "embedding")
    store(api, LOG * 40 + "A tea spoon broke the build.\n", key="long")
    store(api, "All about the boat.", key="boat")
    embed(api, VECTORS)
    [first, *_] = search(api, None, [0, 1, 0])
    assert first.id == "long"
    assert first.content.endswith("A tea spoon broke the build.")
    shown = api.retrieve_artifact(user_id="ana", key="long", from_line=first.details["from_line"])
    assert len(first.content.split("\n", 1)[1]) < 3200
    assert "A tea spoon broke the build." in shown


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
