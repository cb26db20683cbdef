"""Measures whether what is remembered follows what changes: ``python -m bench.changes --help``.

Each item of the set is said by a user of its own, in a database where jobs run as in production. The built-in model
extracts memories, or a perfect one, which answers by the set: what the perfect one misses is the database's fault.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Sequence
from typing import Any

from agent_memory import Memory

from bench.changes import report
from bench.changes.items import PARTS, Item, items
from bench.changes.judge import Verdict, judge
from bench.changes.talks import MODELS, prepare
from bench.quality import stored
from bench.quality.embedding_server import add_options, embeddings_of
from bench.quality.stored import Database, EmbeddingModel
from bench.support.environment import environment, say, write
from tests.support.servers import running_server


def main() -> None:
    """Runs the benchmark, prints its figures, and writes those of the whole set to bench/results."""
    options = _options()
    chosen = items(parts=PARTS if options.part == "all" else (options.part,))
    results: dict[str, Any] = {"embedding": None, "models": {}}
    with contextlib.ExitStack() as stack:
        embedding = None
        if options.embeddings_url or options.embedding_python:
            embeddings = stack.enter_context(embeddings_of(options))
            embedding = EmbeddingModel(embeddings.url, embeddings.model, embeddings.dimensions)
            results["embedding"] = embeddings.model
        server = stack.enter_context(running_server("system"))
        for model in options.model:
            with stored.database(server, f"changes by {model}") as database:
                verdicts = measure(database, chosen, model, embedding)
                results |= environment(database.connection)
            results["models"][model] = report.count(verdicts)
            if options.show_failures:
                say("\n\n".join(_failure(each) for each in verdicts if each.failed and each.item.part == "open"))
            say(f"\nExtraction by the {model} model\n\n{report.tables(results['models'][model])}")
    if len(chosen) == len(items()):
        write("changes", results, report.markdown(results))


def measure(
    database: Database, chosen: Sequence[Item], model: str, embedding: EmbeddingModel | None = None
) -> list[Verdict]:
    """Has all items said in a new database, with extraction by a model, and measures them."""
    prepare(database, model)
    if embedding:
        embedding.register(Memory(database.connection))
    return [judge(database, item, model) for item in chosen]


def _failure(verdict: Verdict) -> str:
    """What somebody who mends rules must see of an item."""
    said = [f"  {each.days_ago} days ago, {each.role}: {each.content}" for each in verdict.item.messages]
    shown = [f"  {name}: {line}" for name, lines in verdict.shown.items() for line in lines]
    return "\n".join([f"{verdict.item.id} ({verdict.item.kind}): {', '.join(verdict.failed)}", *said, *shown])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.changes", description=(__doc__ or "").split(":")[0])
    parser.add_argument("--model", nargs="+", choices=MODELS, default=MODELS, help="who extracts (default both)")
    parser.add_argument("--part", choices=(*PARTS, "all"), default="all", help="only this part (default %(default)s)")
    parser.add_argument(
        "--show-failures", action="store_true", help="print the open items that fail, and what is shown"
    )
    add_options(parser, required=False)
    return parser.parse_args()


if __name__ == "__main__":
    main()
