"""The page shows the last nightly run."""

from __future__ import annotations

from tests.nightly import BEGIN, END, HEADER, PAGE, with_rows


def test_a_run_replaces_the_table_of_the_page_and_nothing_else() -> None:
    page = PAGE.read_text()
    filled = with_rows(page, [["system", "2026-01-02", *"3456"]])
    assert f"{BEGIN}\n| {' | '.join(HEADER)} |\n" in filled
    assert f"| system | 2026-01-02 | 3 | 4 | 5 | 6 |\n\n{END}" in filled
    assert (filled.partition(BEGIN)[0], filled.partition(END)[2]) == (page.partition(BEGIN)[0], page.partition(END)[2])
    assert with_rows(filled, [["embedded", "2026-01-03", *"7890"]]).count("| 2026-01-0") == 1
