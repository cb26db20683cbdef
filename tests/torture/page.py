"""The figures of the long form: tests/torture/results.json, and the table of docs/reliability.md made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.support.markdown import table
from tests.support.servers import ROOT

RESULTS = Path(__file__).with_name("results.json")
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- figures: python -m tests.torture -->\n", "<!-- end of figures -->\n"
ORDER = ("model", "kills", "drops", "clocks", "power", "promotion", "disks", "load", "memory")


def keep(part: str, figures: dict[str, Any]) -> None:
    """Replace the figures of one part, and the table."""
    results = read()
    results[part] = figures
    RESULTS.write_text(json.dumps({name: results[name] for name in ORDER if name in results}, indent=1) + "\n")
    PAGE.write_text(with_figures(PAGE.read_text(), results))


def read() -> dict[str, dict[str, Any]]:
    """The figures by part."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def with_figures(page: str, results: dict[str, dict[str, Any]]) -> str:
    """The page with the table of these figures in place of the one it has."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    rows = [
        [
            name,
            figures["tried"],
            f"{figures['acknowledged']:,}",
            str(figures["problems"] or "nothing"),
            f"{figures['date']}, {figures['server']}, {figures['machine']['cores']} cores, {figures['seconds']} s",
        ]
        for name in ORDER
        if (figures := results.get(name))
    ]
    figures_of_all = table(["part", "what was tried", "acknowledged", "lost or wrong", "run"], rows)
    return f"{before}{BEGIN}\n{figures_of_all}\n\n{END}{after}"
