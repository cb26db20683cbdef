"""Documents cut into chunks: where, how large, how they overlap, and that nothing else waits meanwhile."""

from __future__ import annotations

import asyncio
import itertools
import random
import sys
import time
from typing import Any

import pytest
from agent_memory_models import ModelError, Models
from agent_memory_models.text import chunking

from tests.support.model_payloads import ENCODINGS, Json, run
from tests.support.model_payloads import chunking as chunk_job
from tests.support.runners import is_quick

tiktoken: Any = pytest.importorskip("tiktoken")


@pytest.fixture(autouse=True)
def _encodings(monkeypatch: pytest.MonkeyPatch) -> None:
    if not ENCODINGS.exists():
        pytest.skip(f"tiktoken's encodings are not in {ENCODINGS}")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(ENCODINGS))


def chunks_of(text: str, **arguments: Any) -> list[Json]:
    [document] = run("chunk_documents", chunk_job(text, **arguments))["documents"]
    assert document["number"] == 1
    chunks: list[Json] = document["chunks"]
    return chunks


def texts_of(text: str, **arguments: Any) -> list[str]:
    return [text[chunk["start"] : chunk["start"] + chunk["length"]] for chunk in chunks_of(text, **arguments)]


def check(text: str, size: int, overlap: int, encoding: str = "o200k_base", tokenizer: str = "gpt-4o") -> list[Json]:
    """What must hold of the chunks of any text."""
    tokens = tiktoken.get_encoding(encoding)

    def count(part: str) -> int:
        return len(tokens.encode(part, disallowed_special=()))

    chunks = chunks_of(text, size=size, overlap=overlap, tokenizer=tokenizer)
    last_start, covered = -1, 0
    for chunk in chunks:
        start, end = chunk["start"], chunk["start"] + chunk["length"]
        assert last_start < start
        assert covered < end <= len(text)
        assert chunk["token_count"] == count(text[start:end]) <= size
        assert count(text[start:covered]) <= overlap
        assert not text[covered:start].strip()
        last_start, covered = start, end
    assert not text[covered:].strip()
    return chunks


PARAGRAPH = "The harbour festival needs a stage. The stage needs power, and power comes from the office.\n\n"


@pytest.mark.parametrize(
    "text",
    [
        PARAGRAPH * 60,
        PARAGRAPH.replace("\n", "\r\n") * 60,
        "line one\r\nline two\r\n" * 200,
        "我们去北京看长城，天气很好。明天再说！" * 120,
        "👨‍👩‍👧‍👦🇩🇪👍🏽 e\u0301\u200b" * 150,
        "# Title\n\nText of it.\n\n```sql\nselect 1;\n```\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n" * 60,
        "x" + " " * 40_000 + "y",
        "-" * 40_000,
        "".join(random.Random(1).choices("abcdefghij", k=40_000)),
        "<|endoftext|> is text like any other. " * 80,
        "\x1c\x85\u2028 a \x1c\n" * 400,
        "One." + "\n\r\n\t \u3000" * 5000 + "Two." + " \n" * 240 + "Three.",
    ],
    ids=["prose", "crlf", "lines", "cjk", "emoji", "markdown", "gap", "rule", "letters", "special", "blanks", "gaps"],
)
@pytest.mark.parametrize(("size", "overlap"), [(64, 16), (800, 100)])
def test_chunks_cover_a_text_within_the_limits(text: str, size: int, overlap: int) -> None:
    assert check(text, size, overlap)


@pytest.mark.parametrize("seed", range(2))
def test_any_mixture_of_texts_is_covered(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunking, "WINDOW_CHARACTERS", 700)
    monkeypatch.setattr(chunking, "MIN_WINDOW_PER_TOKEN", 2)
    chance = random.Random(seed)
    parts = [
        "word",
        "the",
        "  ",
        "\n",
        "\r\n",
        "\n\n",
        "。",
        "你好世界",
        "😀",
        "👨‍👩‍👧‍👦",
        "e\u0301",
        "\n# Head\n",
        "\n```\n",
    ]
    parts += ["\n- item", "\n> ", "\t", ". ", "x" * 50, "-" * 70, " " * 200, "[", "*", "_", "[l](http://x.y/z)", "𠀀"]
    for _ in range(20):
        text = "".join(chance.choices(parts, k=chance.choice([1, 30, 300, 1500])))
        size = chance.choice([32, 64, 200])
        check(text, size, chance.choice([0, 1, size // 4, size - 1]))


def test_a_short_text_is_one_chunk_without_the_blanks_around_it() -> None:
    assert chunks_of("  Hello, world!\n") == [{"start": 2, "length": 13, "token_count": 4}]
    assert chunks_of("\n\r\n\t \u3000" * 20_000) == []


def test_markdown_is_cut_at_its_headings() -> None:
    parts = texts_of("# Tea\n\nGreen.\n\nBlack.\n\n# Coffee\n\nFiltered.\n\nCold.", size=12, overlap=0)
    assert [part.splitlines()[0] for part in parts] == ["# Tea", "# Coffee"]


def test_neighbours_overlap() -> None:
    chunks = check(PARAGRAPH * 20, 64, 30)
    assert any(before["start"] + before["length"] > after["start"] for before, after in itertools.pairwise(chunks))


@pytest.mark.parametrize("overlap", [-1, 33, 10_000])
def test_an_overlap_is_limited_to_half_a_chunk(overlap: int) -> None:
    text = PARAGRAPH * 20
    assert chunks_of(text, size=64, overlap=overlap) == chunks_of(text, size=64, overlap=min(max(overlap, 0), 32))


@pytest.mark.parametrize(
    ("tokenizer", "encoding"), [("gpt-4o", "o200k_base"), ("o200k_base", "o200k_base"), ("bge-m3", "cl100k_base")]
)
def test_tokens_are_those_of_the_tokenizer_or_of_cl100k(tokenizer: str, encoding: str) -> None:
    check("我们去北京看长城，天气很好。" * 40, 64, 8, encoding, tokenizer)


def test_several_documents_keep_their_numbers() -> None:
    job = chunk_job("One.", "", "Three.")
    job["documents"][2]["number"] = 7
    calls: list[Json] = []
    result = run("chunk_documents", job, calls=calls)
    assert [(row["number"], len(row["chunks"])) for row in result["documents"]] == [(1, 1), (2, 0), (7, 1)]
    [call] = calls
    assert (call["kind"], call["model"]) == ("chunk_documents", "local")
    assert (call["tokens_in"], call["tokens_out"], call["error"]) == (0, 0, None)


def test_ten_megabytes_hold_nobody_up() -> None:
    text = PARAGRAPH * (10_000_000 // len(PARAGRAPH))

    async def cut() -> float:
        """The longest turn of the event loop meanwhile, in seconds of CPU: the clock counts other processes, too."""
        turns: list[float] = []
        async with Models() as models:
            job = asyncio.create_task(models.run("chunk_documents", chunk_job(text), []))
            while not job.done():
                started = time.process_time()
                await asyncio.sleep(0)
                turns.append(time.process_time() - started)
            [document] = (await job)["documents"]
        last = document["chunks"][-1]
        assert last["start"] + last["length"] == len(text.rstrip())
        return max(turns)

    # On a busy machine the thread that cuts may run while the loop's thread waits for a processor.
    assert is_quick(lambda: asyncio.run(cut()), 0.5, attempts=3)


def test_without_encodings_counts_are_estimates_within_the_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    text = "我们去北京看长城，天气很好。" * 40
    counted = chunks_of(text, size=64, overlap=0)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    chunks = chunks_of(text, size=64, overlap=0)
    assert [(chunk["start"], chunk["length"]) for chunk in chunks] == [
        (chunk["start"], chunk["length"]) for chunk in counted
    ]
    assert all(0 < chunk["token_count"] <= 64 for chunk in chunks)


@pytest.mark.parametrize("package", ["semantic_text_splitter", "tiktoken.model"])
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModelError, match="semantic-text-splitter and tiktoken"):
        chunks_of("Hello")
