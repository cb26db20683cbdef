"""A document that is not cut yet is found by words anywhere in its first MiB, and shows the passage that matches."""

from __future__ import annotations

import pytest

from tests.documents.steps import FILLER, chunks, find, store
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("A12", "A14")

CODE = "The code of the garage is 4711."
CHINESE = "这是一段没有空格的文字。今天天气很好。" * 400


def test_of_a_document_that_an_earlier_version_left_as_one_piece_the_beginning_is_read(api: Api) -> None:
    store(api, FILLER + CODE)
    more = " It rains." * 300_000
    api.connection.execute("update memory.document_chunks set token_count = null, content = content || %s", [more])
    with api.at_most(cpu_seconds=3):
        [result] = find(api, "garage code")
    assert CODE in result.content


@pytest.mark.parametrize(
    ("before", "after"),
    [(0, 3), (100, 0), (60, 60)],
    ids=["at the beginning", "at the end", "far"],
)
def test_the_passage_that_matches_is_shown(api: Api, before: int, after: int) -> None:
    store(api, FILLER * before + CODE + " " + FILLER * after)
    [result] = find(api, "garage code")
    assert CODE in result.content
    assert 3000 <= len(result.content) <= 4000
    assert result.content.startswith(("Nothing", "The code"))
    assert result.content.endswith(".")


def test_text_without_blanks_is_cut_between_characters(api: Api) -> None:
    text = CHINESE * 10 + "狗在花园里睡觉。" + CHINESE * 10
    store(api, text)
    [result] = find(api, "花园")
    assert "狗在花园里睡觉。" in result.content
    assert result.content in text
    assert 700 <= len(result.content) <= 1400
    assert result.content.endswith("。")
    assert "".join(content for _, content, _ in chunks(api)) == text


@pytest.mark.parametrize("text", ["x" * 100_000, "\n" * 40_000 + "tea", "é𝒳 " * 20_000])
def test_rough_pieces_join_to_the_text(api: Api, text: str) -> None:
    store(api, text)
    assert "".join(content for _, content, _ in chunks(api)) == text
    assert [number for number, _, _ in chunks(api)] == [*range(len(chunks(api)))]
    assert all(tokens is None for _, _, tokens in chunks(api))
    assert max(len(content.encode()) for _, content, _ in chunks(api)) <= 32768


@pytest.mark.parametrize("query", ["the", "Handbook"])
def test_a_query_that_no_passage_says_shows_the_beginning(api: Api, query: str) -> None:
    store(api, f"Begin here. {FILLER * 4}", title="Handbook")
    for result in find(api, query):
        assert result.content.startswith("Begin here.")
