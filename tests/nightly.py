"""Runs the long forms and writes what they found into docs/reliability.md: ``make nightly``.

The tests that are marked nightly run on the system's server, those of embedded stores after them. Then the tests of
rooms with users run through a proxy and through the client's routing over two nodes, and once more with an error
where a call meets another user. Exits with 1 if any of them failed.
"""

from __future__ import annotations

import datetime
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

from bench.support.markdown import table
from tests.support.servers import ROOT
from tests.support.through import ROOMS

PAGE = ROOT / "docs" / "reliability.md"
CLUSTER = [f"tests/{room}" for room in ROOMS]
RUNS = {
    "system": ["--nightly", "--server=system"],
    "embedded": ["--nightly", "--server=embedded", "--again"],
    "through a proxy": ["--through=proxy", *CLUSTER],
    "through nodes": ["--through=nodes", *CLUSTER],
    "one user in a call": ["--one-user", *CLUSTER],
}
HEADERS = {
    "nightly": ["server", "date", "tests", "failed", "skipped", "minutes"],
    "assistants": ["assistant", "version", "date", "with our hooks"],
}
"""The tables of the page, each between two comments of its name."""


def run(name: str, options: list[str], report: Path) -> list[str]:
    """Run the nightly tests on a server, and return the row of its figures."""
    started = time.monotonic()
    command = [sys.executable, "-m", "pytest", *options, f"--junitxml={report}", "-n", "auto"]
    subprocess.run([*command, "--dist", "worksteal", *sys.argv[1:]], cwd=ROOT, check=False)
    [suite] = ElementTree.parse(report).getroot()
    tests, failed, errors, skipped = (int(suite.attrib[key]) for key in ("tests", "failures", "errors", "skipped"))
    minutes = (time.monotonic() - started) / 60
    date = datetime.date.today().isoformat()
    return [name, date, str(tests), str(failed + errors), str(skipped), f"{minutes:.0f}"]


def assistants(report: Path) -> list[list[str]]:
    """Return the rows of the real assistants that tests of a report ran with: tests/hooks/test_real_assistants.py."""
    date, rows = datetime.date.today().isoformat(), []
    for case in ElementTree.parse(report).iter("testcase"):
        recorded = {each.attrib["name"]: each.attrib["value"] for each in case.iter("property")}
        if "assistant" in recorded:
            [outcome, *_] = [*(part.tag for part in case if part.tag in ("failure", "error", "skipped")), "works"]
            rows.append([recorded["assistant"], recorded.get("version", "none"), date, outcome])
    return sorted(rows)


def with_rows(page: str, name: str, rows: list[list[str]]) -> str:
    """Return the page with these rows in its table of a name."""
    begin, end = f"<!-- {name}: make nightly -->\n", f"<!-- end of {name} -->\n"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{table(HEADERS[name], rows)}\n\n{end}{after}"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        reports = {name: Path(folder, f"{name}.xml".replace(" ", "_")) for name in RUNS}
        rows = [run(name, options, reports[name]) for name, options in RUNS.items()]
        real = assistants(reports["system"])
    page = with_rows(PAGE.read_text(), "nightly", rows)
    PAGE.write_text(with_rows(page, "assistants", real) if real else page)
    return 1 if any(row[HEADERS["nightly"].index("failed")] != "0" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
