"""What is read of a file, whatever its format: lines, arrays and archives."""

import json
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from agent_memory.importer import ImportFileError
from agent_memory.importer.values import values_of


def test_signs_that_end_a_line_elsewhere_do_not_cut_a_text(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    said = "a\u2028b\u2029c\x85d"
    path.write_text(f'{{"content": "{said}"}}\r\n\n{{"content": "{said}"}}\n')
    assert list(values_of(path)) == [("line 1", {"content": said}), ("line 3", {"content": said})]
    path.write_bytes(b'{"content": "caf\xe9"}\n')
    with pytest.raises(ImportFileError, match="is not UTF-8"):
        list(values_of(path))


@pytest.mark.parametrize(
    ("text", "values", "problem"),
    [
        ('[{"a": 1}, {"a": ', 1, "line 1: not JSON: Expecting value"),
        ('[{"a": 1}\n{"a": 2}]', 1, "line 2: not JSON: Expecting ',' delimiter"),
        ('[\n{"a": 1},\n  {"a" 2},\n{"a": 3}]', 1, "line 3: not JSON: Expecting ':' delimiter"),
        ("[5]\n\n[]", 1, "line 3: not JSON: Extra data"),
        ("[5, " + "1" * 5000 + "]", 1, "line 1: an integer has more digits than Python reads"),
        ('[{"messages": ' + "[" * 100_000, 0, "line 1: nested too deeply"),
        ('{"a":\n5,}', 0, "line 2: not JSON"),
        ("[]", 0, None),
        ("\n\n", 0, None),
        ('["\u2028\x85", 5, "\u2029"]\n', 3, None),
        ('[{"a": "' + "x" * 3_000_000 + '"}, 5, {"a": "' + "y" * 2_000_000 + '"}]', 3, None),
    ],
)
def test_arrays_are_read_item_by_item(tmp_path: Path, text: str, values: int, problem: str | None) -> None:
    path = tmp_path / "c.json"
    path.write_text(text)
    read = list(values_of(path))
    bad = [value for _, value in read if isinstance(value, ImportFileError)]
    assert len(read) - len(bad) == values
    assert [str(problem) in error.message for error in bad] == ([] if problem is None else [True])


def test_a_large_array_is_never_held(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    item = json.dumps({"role": "user", "content": "x" * 10_000})
    path.write_text("[" + ",".join(item for _ in range(4000)) + "]")
    assert path.stat().st_size > 40_000_000
    tracemalloc.start()
    assert sum(1 for _ in values_of(path)) == 4000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


def test_an_archive_that_unpacks_to_far_more_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("conversations.json", "[" + "[]," * 3_000_000 + "[]]")
    with pytest.raises(ImportFileError, match="unpacks to 1 files of 9000004 bytes"):
        next(values_of(path))
    with pytest.raises(ImportFileError, match=r"UTF-8|not JSON"):  # as chat messages it is no archive at all
        raise next(values_of(path, may_be_archive=False))[1]
