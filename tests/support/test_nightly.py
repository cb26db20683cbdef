"""The page shows the last nightly run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.nightly import HEADERS, PAGE, assistants, with_rows


@pytest.mark.parametrize("name", HEADERS)
def test_a_run_replaces_a_table_of_the_page_and_nothing_else(name: str) -> None:
    page, header = PAGE.read_text(), HEADERS[name]
    begin, end = f"<!-- {name}: make nightly -->\n", f"<!-- end of {name} -->\n"
    assert page.count(begin) == page.count(end) == 1
    filled = with_rows(page, name, [[f"first of {each}" for each in header]])
    assert f"{begin}\n| {' | '.join(header)} |\n" in filled
    assert f"| {' | '.join(f'first of {each}' for each in header)} |\n\n{end}" in filled
    assert (filled.partition(begin)[0], filled.partition(end)[2]) == (page.partition(begin)[0], page.partition(end)[2])
    assert "first of" not in with_rows(filled, name, [["second"] * len(header)])


def test_the_real_assistants_of_a_report_have_a_row_each(tmp_path: Path) -> None:
    def case(outcome: str, **recorded: str) -> str:
        properties = "".join(f'<property name="{name}" value="{value}"/>' for name, value in recorded.items())
        return f'<testcase name="t"><properties>{properties}</properties>{outcome}</testcase>'

    report = tmp_path / "report.xml"
    report.write_text(
        "<testsuites><testsuite>"
        + case("<skipped/>", assistant="Gemini CLI")
        + case("", assistant="Claude Code", version="2.1")
        + case("<failure/>", assistant="Codex", version="0.171.0")
        + case("")
        + "</testsuite></testsuites>"
    )
    rows = [(name, version, outcome) for name, version, _, outcome in assistants(report)]
    assert rows == [
        ("Claude Code", "2.1", "works"), ("Codex", "0.171.0", "failure"), ("Gemini CLI", "none", "skipped")
    ]  # fmt: skip
