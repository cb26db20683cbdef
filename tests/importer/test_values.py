"""What is read of a file, whatever its format: lines, values and archives."""

import zipfile
from pathlib import Path

import pytest
from agent_memory.importer import ImportFileError
from agent_memory.importer.values import values_of


class TestLines:
    def test_signs_that_end_a_line_elsewhere_do_not_cut_a_text(self, tmp_path: Path) -> None:
        path = tmp_path / "c.jsonl"
        said = "a\u2028b\u2029c\x85d"
        path.write_text(f'{{"content": "{said}"}}\r\n\n{{"content": "{said}"}}\n')
        assert list(values_of(path)) == [("line 1", {"content": said}), ("line 3", {"content": said})]

    def test_an_integer_of_many_digits_is_a_bad_line(self, tmp_path: Path) -> None:
        path = tmp_path / "c.jsonl"
        path.write_text("1" * 5000 + "\n" + '{"a": ' + "1" * 5000 + '}\n{"a": 1}\n')
        first, second, (_, good) = values_of(path)
        for number, (place, value) in enumerate((first, second), start=1):
            assert place == f"line {number}"
            assert "an integer has more digits than Python reads" in value.message
        assert good == {"a": 1}

    def test_an_integer_of_many_digits_in_a_file_of_one_value(self, tmp_path: Path) -> None:
        path = tmp_path / "c.json"
        path.write_text('{"a":\n' + "1" * 5000 + "}")
        [(_, value)] = values_of(path)
        assert "an integer has more digits than Python reads" in value.message


def test_an_archive_that_unpacks_to_far_more_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("conversations.json", "[" + "[]," * 3_000_000 + "[]]")
    with pytest.raises(ImportFileError, match="unpacks to 1 files of 9000004 bytes"):
        next(values_of(path))
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(1001):
            archive.writestr(f"conversations-{number}.json", "[]")
    with pytest.raises(ImportFileError, match="unpacks to 1001 files"):
        next(values_of(path))
    with pytest.raises(ImportFileError, match=r"UTF-8|not JSON"):  # as chat messages it is no archive at all
        raise next(values_of(path, may_be_archive=False))[1]
