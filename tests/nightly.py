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
BEGIN, END = "<!-- nightly: make nightly -->\n", "<!-- end of nightly -->\n"
CLUSTER = [f"tests/{room}" for room in ROOMS]
RUNS = {
    "system": ["--nightly", "--server=system"],
    "embedded": ["--nightly", "--server=embedded", "--again"],
    "through a proxy": ["--through=proxy", *CLUSTER],
    "through nodes": ["--through=nodes", *CLUSTER],
    "one user in a call": ["--one-user", *CLUSTER],
}
HEADER = ["server", "date", "tests", "failed", "skipped", "minutes"]


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


def with_rows(page: str, rows: list[list[str]]) -> str:
    """Return the page with these rows in its table."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table(HEADER, rows)}\n\n{END}{after}"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        rows = [run(name, options, Path(folder, f"{name}.xml".replace(" ", "_"))) for name, options in RUNS.items()]
    PAGE.write_text(with_rows(PAGE.read_text(), rows))
    return 1 if any(row[HEADER.index("failed")] != "0" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
