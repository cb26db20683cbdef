"""Progress of long work on the console."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn


@contextmanager
def progress(console: Console, label: str) -> Iterator[Callable[[int, int | None], None]]:
    """Yield a function that takes how much is done, and how much there is in all (None when that is unknown).

    A terminal shows a bar; anything else gets a plain line for each tenth, or none without a total. Work that is done
    may turn out to need more work, so all that there is may be done several times, and the last line says how much.
    """
    if console.is_terminal:
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task(label, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
        return

    tenths = said = 0

    def report(done: int, total: int | None) -> None:
        nonlocal tenths, said
        if total and (done * 10 // total > tenths or said < done == total):
            tenths, said = done * 10 // total, done
            console.print(f"{label}: {done} of {total}")

    yield report
