"""Reading artifacts: in slices, by their user alone, and in lists."""

from __future__ import annotations

import random

import pytest

from tests.artifacts.steps import LOG, listed, read, read_lines, search, store
from tests.support.protocol import activate, claim
from tests.support.sqlapi import Api, wide_text

TEXTS = {
    "ASCII": LOG[:999],
    "one token": "x",
    "two bytes each": "é" * 101,
    "three bytes each": "☕" * 101,
    "four bytes each": wide_text(101),
    "bytes of all lengths": "".join(random.Random(7).choices("aé☕𝒳", k=301)),
    "combining marks": "e\u0301\u200d👩🏽‍🚀" * 30,
    "blanks": " \n" * 1500 + "x" + "\t" * 1500,
}


@pytest.mark.feature("C5")
@pytest.mark.parametrize(
    ("name", "step"),
    [*((name, 7) for name in TEXTS), *(("bytes of all lengths", step) for step in (1, 3, 100))],
)
def test_joined_slices_equal_the_whole_text(api: Api, name: str, step: int) -> None:
    text = TEXTS[name]
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
    "text",
    [
        pytest.param("word " * 2_097_152, id="words"),
        pytest.param("☕ é" * 1_747_626, id="cups", marks=pytest.mark.nightly),
        pytest.param(wide_text(2_621_440), id="wide", marks=pytest.mark.nightly),
    ],
)
def test_the_largest_artifact_is_stored_found_and_read_in_slices(api: Api, text: str) -> None:
    activate(api, "ada", "embedding")
    text = f"Tea.\n{text}".encode()[: 10 * 2**20].decode(errors="ignore")
    middle = len(text) // 2
    text = f"{text[:middle]}\nA boat lies in the harbour.\n{text[middle:]}"
    with api.at_most(cpu_seconds=10):
        stored = store(api, text)
        [result] = search(api, "tea")
        assert result.id == stored.key
        while api.sweep()["checked"]:
            pass
        [result] = search(api, "boat")
        assert (result.id, "A boat lies in the harbour." in result.content) == (stored.key, True)
        assert len(result.content) < 6000
        assert "A boat lies" in read_lines(api, stored.key, result.details["from_line"])
        assert all(len(given["text"].encode()) <= 4000 for given in claim(api, "embed").payload["texts"][:16])
    slices = []
    for start in range(0, stored.token_count, 65_536):
        with api.at_most(cpu_seconds=1):
            slices.append(read(api, stored.key, start, 65_536))
    assert "".join(slices) == text


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
