"""The job that embeds a memory counts its tokens, and a context reckons with the exact number."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.embeddings.steps import EAST, embed, know
from tests.support.protocol import ANA, claim, complete
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F12")


def counted(active: Api, *contents: str, counts: list[Any]) -> None:
    know(active, *contents)
    complete(active, claim(active, "embed"), embeddings=[EAST] * len(contents), token_counts=counts)


def block_tokens(active: Api) -> int:
    [block] = active.get_context(**ANA)
    assert block.source == "memories"
    tokens: int = block.token_count
    return tokens


def test_a_block_has_the_tokens_that_were_counted(active: Api) -> None:
    know(active, "An unpronounceably long-winded reminiscence")
    estimated = block_tokens(active)
    complete(active, claim(active, "embed"), embeddings=[EAST], token_counts=[4])
    exact = block_tokens(active)
    assert exact < estimated
    active.connection.execute("update memory.texts set tokens = tokens + 1")
    assert block_tokens(active) == exact + 1


def test_the_count_of_a_text_that_changed_is_gone(active: Api) -> None:
    counted(active, "Likes tea", counts=[3])
    active.connection.execute("update memory.memories set content = 'Likes coffee'")
    assert active.query("select tokens from memory.texts") == [(None,)]
    embed(active)
    assert active.query("select tokens from memory.texts") == [(None,)]


def test_a_text_that_is_masked_on_its_way_to_the_model_is_not_counted(active: Api) -> None:
    """A context shows the credential, which has more tokens than the mark in its place."""
    active.set_policy(settings=Jsonb({"trust": {"rules": False}}))
    know(active, f"Deploys with the key {'AKIA' + 'IOSFODNN7EXAMPLE'}", "Likes tea")
    payload = claim(active, "embed").payload
    assert {row["text"]: row.get("count") for row in payload["texts"]}["Likes tea"] is True
    assert [row.get("count") for row in payload["texts"] if "(credential" in row["text"]] == [None]
