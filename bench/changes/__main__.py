"""Measures whether what is remembered follows what changes: ``python -m bench.changes --help``.

Each item of the set is said by a user of its own, in a database where jobs run as in production. The built-in model
extracts memories, or a perfect one, which answers by the set: what the perfect one misses is the database's fault.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import time
from collections.abc import Sequence
from pathlib import Path

from agent_memory import Memory

from bench.changes import report
from bench.changes.items import LANGUAGES, PARTS, Item, items
from bench.changes.judge import Verdict, judge
from bench.changes.talks import MODELS, prepare
from bench.quality import stored
from bench.quality.embedding_server import Embeddings, running_embedding_servers
from bench.quality.stored import Database, EmbeddingModel
from bench.support.environment import RESULTS, announce, postgresql, say
from tests.support.servers import running_server

EMBEDDING = "all-MiniLM-L6-v2"


def main() -> None:
    """Runs the benchmark, prints its figures, and writes those of the whole set to bench/results."""
    options = _options()
    started = time.monotonic()
    chosen = items(options.languages, options.parts)
    results: report.Results = {"date": datetime.date.today().isoformat(), "embedding": None, "models": {}}
    with contextlib.ExitStack() as stack:
        embedding, url = None, options.embeddings_url
        if options.embedding_python:
            url = stack.enter_context(running_embedding_servers(options.embedding_python))[0]
        if url:
            embedding = EmbeddingModel(url, EMBEDDING, len(Embeddings([url], EMBEDDING).of(["a"])[0]))
            results["embedding"] = EMBEDDING
        server = stack.enter_context(running_server(options.server))
        for model in options.model:
            with stored.database(server, f"changes by {model}") as database:
                results["postgresql"] = postgresql(database.connection)
                verdicts = measure(database, chosen, model, embedding)
            results["models"][model] = report.count(verdicts)
            if options.show_failures:
                say("\n\n".join(_failure(each) for each in verdicts if each.failed and each.item.part == "open"))
            say(f"\nExtraction by the {model} model, {time.monotonic() - started:.0f} s\n")
            say(report.tables(results["models"][model]))
    if len(chosen) == len(items()):
        announce(report.write(results, options.results))


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
    parser.add_argument("--languages", nargs="+", choices=LANGUAGES, default=LANGUAGES, help="only these")
    parser.add_argument("--part", choices=(*PARTS, "all"), default="all", help="only this part (default %(default)s)")
    parser.add_argument(
        "--show-failures", action="store_true", help="print the open items that fail, and what is shown"
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--embeddings-url", help="as for bench.quality (default: no embeddings, words are compared)")
    source.add_argument("--embedding-python", type=Path, help="as for bench.quality")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results (%(default)s)")
    parser.add_argument("--server", choices=("system", "embedded"), default="system", help="as for the tests")
    options = parser.parse_args()
    options.parts = PARTS if options.part == "all" else (options.part,)
    return options


if __name__ == "__main__":
    main()
