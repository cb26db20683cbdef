"""Reading parts of an artifact: by lines, and the lines that hold given words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.artifacts.steps import LOG, read, store
from tests.support.sqlapi import Api, refused


def part(api: Api, **arguments: Any) -> str:
    text: str = api.retrieve_artifact(user_id="ana", key="log", **arguments)
    return text


NUMBERED = "".join(f"line {number}\n" for number in range(1, 20_001))
LINES: dict[str, str] = {
    "many lines": NUMBERED,
    "empty lines": "\n" * 70_000 + "x\n\n",
    "lines longer than a part": "".join(f"{'ä' * 30_000}\nshort\n{'b' * 100_000}\n" for _ in range(3)),
    "breaks of Windows": NUMBERED.replace("\n", "\r\n"),
}


@pytest.mark.feature("C5")
@pytest.mark.parametrize("text", LINES.values(), ids=LINES)
def test_lines_are_those_of_the_text(api: Api, text: str) -> None:
    store(api, text, key="log")
    lines = text.splitlines(keepends=True) if "\r" not in text else [f"{line}\n" for line in text.split("\n")[:-1]]
    last = len(lines)
    for first in {1, 2, 3, last // 2, last - 1, last} - {0}:
        for count in (1, 2, 1000):
            assert part(api, from_line=first, max_lines=count) == "".join(lines[first - 1 : first - 1 + count])
        assert part(api, from_line=first) == "".join(lines[first - 1 :])
    assert part(api, max_lines=2) == "".join(lines[:2])
    assert part(api, from_line=last + 1) == part(api, from_line=last + 2, max_lines=9) == ""
    assert part(api, from_line=2**31 - 1, max_lines=2**31 - 1) == ""
    assert part(api, from_line=1, max_lines=2**31 - 1) == text
    assert part(api, from_line=1, max_tokens=3) == text.encode()[:12].decode()


@pytest.mark.feature("C5")
def test_grep_numbers_lines_and_shows_the_lines_around(api: Api) -> None:
    text = "".join(f"{'ERROR disk full' if number in (5, 8, 20) else 'ok'} {number}\n" for number in range(1, 31))
    store(api, text, key="log")
    assert part(api, grep="Disk error") == "\n".join(
        ["3-ok 3", "4-ok 4", "5:ERROR disk full 5", "6-ok 6", "7-ok 7", "8:ERROR disk full 8", "9-ok 9", "10-ok 10",
         "--", "18-ok 18", "19-ok 19", "20:ERROR disk full 20", "21-ok 21", "22-ok 22"]
    )  # fmt: skip
    assert part(api, grep="error", context_lines=0) == "\n".join(
        ["5:ERROR disk full 5", "--", "8:ERROR disk full 8", "--", "20:ERROR disk full 20"]
    )
    assert part(api, grep="error", context_lines=1000).count("\n") == 29
    assert part(api, grep="error", from_line=6, max_lines=4, context_lines=0) == "8:ERROR disk full 8"
    assert part(api, grep="error missing") == part(api, grep="error", from_line=21) == ""
    assert part(api, grep="ok 30", context_lines=1) == "29-ok 29\n30:ok 30"
    api.delete_artifact(user_id="ana", key="log")
    store(api, "one\r\ntwo\r\n", key="log")
    assert part(api, grep="two") == "1-one\n2:two"


ODD = "100% done\na_b\naxb\nC:\\temp\n.* [x]\nÄrger in der Straße\n部署失败：磁盘已满\nit's --here--"
HITS = {
    "100%": ["1:100% done"],
    "1%0": [],
    "a_b": ["2:a_b"],
    "c:\\temp": ["4:C:\\temp"],
    ".*": ["5:.* [x]"],
    "straße ÄRGER": ["6:Ärger in der Straße"],
    "磁盘": ["7:部署失败：磁盘已满"],
    "--here--": ["8:it's --here--"],
    " \t100%   done\n": ["1:100% done"],
}


@pytest.mark.feature("C5")
def test_grep_takes_every_character_as_it_is(api: Api) -> None:
    store(api, ODD, key="log")
    for grep, hits in HITS.items():
        assert part(api, grep=grep, context_lines=0) == "\n--\n".join(hits), grep


@pytest.mark.feature("C5")
def test_grep_says_where_to_go_on_and_the_pages_hold_every_hit(api: Api) -> None:
    text = "".join(f"{'WARN' if number % 7 == 0 else 'ok'} {number}\n" for number in range(1, 5001))
    store(api, text, key="log")
    hits: list[str] = []
    from_line: int | None = 1
    pages = 0
    while from_line:
        page = part(api, grep="warn", from_line=from_line, max_tokens=200, context_lines=0)
        assert len(page) <= 800
        *lines, last = page.split("\n")
        hits += [line for line in (*lines, last) if ":WARN" in line]
        goes_on = last.startswith("[more lines have it; to go on, pass from_line => ")
        from_line = int(last.strip("]").rpartition(" ")[2]) if goes_on else None
        pages += 1
    assert hits == [f"{number}:WARN {number}" for number in range(7, 5001, 7)]
    assert pages > 5
    assert len(part(api, grep="WARN").encode()) <= 40_000  # without max_tokens
    for max_tokens in (1, 2, 25, 30):
        assert 0 < len(part(api, grep="WARN", max_tokens=max_tokens)) <= 4 * max_tokens


@pytest.mark.feature("C5")
def test_grep_finds_words_in_lines_longer_than_a_part(api: Api) -> None:
    line = "{" + ", ".join(f'"key{number}": "value"' for number in range(20_000)) + "}"
    store(api, f"first\n{line}\nlast key19999", key="log")
    page = part(api, grep="key19999", context_lines=1)
    middle, last = page.split("\n")[-2:]
    assert middle.startswith("2:...")
    assert '"key19999": "value"}' in middle
    assert len(middle) < 450
    assert last == "3:last key19999"
    page = part(api, grep="value", max_tokens=300)
    assert page.split("\n")[0] == "1-first"
    assert page.split("\n")[-1] == "[line 2 has more of it; a larger max_tokens shows that]"


@pytest.mark.feature("C5")
def test_what_cannot_be_combined_is_refused(api: Api) -> None:
    store(api, key="log")
    for named, value in (("from_line", 1), ("max_lines", 1), ("grep", "x")):
        with refused("from_token") as error:
            part(api, from_token=1, **{named: value})
        assert f"cannot be combined with {named}" in str(error.value)


@pytest.mark.feature("C1", "C5", "C9")
def test_every_form_of_a_placeholder_names_the_artifact_and_what_only_looks_like_one_nothing(api: Api) -> None:
    store(api, key="log")
    for form in ("log", " [MemoryRef: log]\n", "[MemoryRef: log - x - 9 tokens]"):
        assert read(api, form) == LOG
    for form in (
        "l\u043eg", "log\u200b", "LOG", "ｌｏｇ", "[memoryref: log]", "[MemoryRef: log", "[MemoryRef:\u00a0log]",
        "[MemoryRef: log] [MemoryRef: log]", "[[MemoryRef: log]]", "[MemoryRef: [MemoryRef: log]]",
    ):  # fmt: skip
        with refused("key", "P0002"):
            read(api, form)
        assert not api.delete_artifact(user_id="ana", key=form)
    assert api.delete_artifact(user_id="ana", key="[MemoryRef: log]")


@pytest.mark.feature("C5")
def test_a_page_of_a_long_log_is_read_without_the_rest(api: Api) -> None:
    lines = [f"2026-05-01 12:00:00 INFO request {number} took {number % 977} ms\n" for number in range(100_000)]
    text = "".join(lines)
    stored = store(api, text, key="log")
    calls: list[dict[str, Any]] = [
        {"from_token": stored.token_count - 1000, "max_tokens": 1000},
        {"from_line": 99_900, "max_lines": 50},
        {"from_line": 50_000, "max_lines": 50},
        {"grep": "request", "max_tokens": 200},
        {"grep": "request", "max_tokens": 200, "from_line": 90_000},
    ]
    for arguments in calls:
        assert api.entries_read(lambda arguments=arguments: part(api, **arguments)) < 100, arguments  # type: ignore[misc]
