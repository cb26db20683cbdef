"""Tortures servers and says what was lost: ``make torture``, or ``python -m tests.torture --only kills --rounds 100``.

Prints a line for each part, writes the figures into tests/torture/results.json and docs/reliability.md (each part
replaces its own figures), and exits with 1 if anything was lost, doubled, half done or miscounted.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import logging
import time
import warnings

from bench.support.environment import machine, say
from tests.torture import page
from tests.torture.parts import PARTS, Options, run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS), help="these parts")
    parser.add_argument("--dry", action="store_true", help="write no results")
    for option in dataclasses.fields(Options):
        kind = str if option.name == "server" else type(option.default)
        parser.add_argument(f"--{option.name.replace('_', '-')}", type=kind, default=option.default)
    arguments = parser.parse_args()
    options = Options(**{o.name: getattr(arguments, o.name) for o in dataclasses.fields(Options)})
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)  # the pools of psycopg say that connections were lost, which is the purpose

    lost = 0
    for name in arguments.only:
        started = time.monotonic()
        outcome = run(name, options)
        seconds = time.monotonic() - started
        lost += len(outcome.problems)
        if outcome.skipped:
            say(f"{name}: skipped: {outcome.skipped}")
            continue
        if outcome.broken:
            say(f"{name}: ended by an error, so its figures stay as they are ({seconds:.0f} s)\n{outcome.broken}")
            continue
        say(f"{name}: {outcome.tried}; {len(outcome.problems) or 'nothing'} lost or wrong ({seconds:.0f} s)")
        for problem in outcome.problems:
            say(f"  {problem}")
        if not arguments.dry:
            figures = {
                "date": datetime.date.today().isoformat(),
                "machine": machine(),
                "server": options.server,
                "seconds": round(seconds),
                "tried": outcome.tried,
                "acknowledged": outcome.acknowledged,
                "problems": len(outcome.problems),
                **outcome.measured,
            }
            page.keep(name, figures)
    return 1 if lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
